"""The digests of three large real sessions, against lists made by hand from their raw rows.

kept.json holds, for each session, what the person typed, and each thing that failed and then
worked: the command, words of the error, and the command that worked.
"""

from __future__ import annotations

import json
import os
import tarfile

import pytest

from rose import config, layout, tokens
from rose.hosts import registry
from rose.reflection.digest import MAX_TOKENS, digest
from rose.store import lessons

with open(os.path.join(os.path.dirname(__file__), "kept.json"), encoding="utf-8") as stream:
    KEPT = json.load(stream)
FOLDER = "claude/spotter"


# A third of the budget shows what is kept when there is no room for everything.
BUDGETS = (MAX_TOKENS, 8_000)


@pytest.fixture(scope="module", params=BUDGETS)
def digests(request, shared, tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("sessions"))
    with tarfile.open(os.path.join(shared, "data", "transcripts", "transcripts.tar.gz")) as tar:
        named = [member for member in tar if member.name.lstrip("./").startswith(FOLDER)]
        tar.extractall(folder, members=named, filter="data")
    store = layout.project_store(os.path.join(folder, "repo"))
    held = [lessons.Holding(store, config.Settings(), lessons.Shelf((), ()))]
    return {
        name: digest(
            registry.open_transcript(f"{folder}/{FOLDER}/{name}.jsonl"),
            held,
            max_tokens=request.param,
        )
        for name in KEPT
    }


@pytest.mark.parametrize("name", KEPT)
def test_a_large_session_is_within_its_budget(digests, name):
    found = digests[name]
    assert found.tokens == tokens.count(found.text) <= MAX_TOKENS


@pytest.mark.parametrize(("name", "said"), [(n, s) for n in KEPT for s in KEPT[n]["typed"]])
def test_what_the_person_typed_is_kept(digests, name, said):
    assert f"\n| {said}" in digests[name].text


@pytest.mark.parametrize(("name", "fixed"), [(n, f) for n in KEPT for f in KEPT[n]["fixed"]])
def test_what_failed_is_kept_with_what_then_worked(digests, name, fixed):
    command, why, worked = fixed
    text = digests[name].text
    _, found, rest = text.partition(f"failed: {command}")
    assert found
    _, found, rest = rest.partition(why)
    assert found
    assert worked in rest


def test_the_lists_are_of_long_sessions(digests, shared):
    with open(os.path.join(shared, "data", "transcripts", "index.jsonl"), encoding="utf-8") as rows:
        lines = {row["file"]: row["lines"] for row in map(json.loads, rows)}
    assert all(lines[f"{FOLDER}/{name}.jsonl"] > 1_500 for name in KEPT)
