from __future__ import annotations

import os
import tempfile

from hypothesis import given
from hypothesis import strategies as st

from rose import layout, redact
from rose.config import Settings
from rose.store import importing

NAMES = st.text(st.sampled_from("aA b-.éß\u00a0"), min_size=1, max_size=6).filter(
    lambda name: name not in (".", "..") and not name.startswith(".")
)
PATHS = st.tuples(st.lists(NAMES, max_size=2), NAMES, st.sampled_from([".md", ".MD", ".mdc"]))
TEXTS = st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=80).filter(
    lambda text: not redact.holds_secret(text)
)


@given(st.lists(st.tuples(PATHS, TEXTS), max_size=6))
def test_what_comes_in_is_verbatim_and_comes_in_once(given_files):
    with tempfile.TemporaryDirectory() as folder:
        texts = _laid_out(os.path.join(folder, "lib"), given_files)
        store = layout.project_store(os.path.join(os.path.realpath(folder), "project"))
        os.makedirs(store.dot)
        first = importing.copy(store, Settings(), [os.path.join(folder, "lib")])
        assert first.findings == []
        assert len({entry.path.casefold() for entry in first.entries}) == len(texts)
        for entry in first.entries:
            with open(os.path.join(store.base, entry.path), "rb") as stream:
                assert stream.read() == texts[entry.source]
            assert entry.path.startswith("nodes/lib/")
            assert entry.path.split() == [entry.path]
        second = importing.copy(store, Settings(), [os.path.join(folder, "lib")])
        assert [(e.path, e.is_new) for e in second.entries] == [
            (e.path, False) for e in first.entries
        ]


def _laid_out(top, given_files):
    """Write the files whose place is free and return their bytes by real path."""
    os.makedirs(top)
    texts = {}
    for (folders, name, suffix), text in given_files:
        path = os.path.join(os.path.realpath(top), *folders, name + suffix)
        if any(path.startswith(other + "/") or other == path for other in texts):
            continue
        if os.path.lexists(path):
            continue
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as stream:
            stream.write(text.encode("utf-8"))
        texts[path] = text.encode("utf-8")
    return texts
