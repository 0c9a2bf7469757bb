"""Whatever a program gives a tool, it gets an answer or a refusal, and no lesson changes."""

from __future__ import annotations

import contextlib
import json
import os

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from rose import files, layout
from rose.errors import RoseError
from rose.mcp import desk, tools
from rose.selection import replay, trace
from rose.store import lessons
from tests.factories import a_lesson_file, a_rule_file, a_store

NAMES = sorted({name for tool in tools.TOOLS for name in tool.properties})
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
LIKELY = st.sampled_from(
    [
        "db",
        "odd",
        "testing/",
        "r_0000aa",
        "r_",
        "nodes/testing/db.md",
        "../x",
        "the",
        "database",
        "s-1",
    ]
)
COUNTS = st.integers(-1, 30)
KEY = "AKIA" + "IOSFODNN7" + "QWERTYU"
ODD_LESSON = (
    f"---\ndescription: The database's {KEY}\n---\n"
    f"# O\u202edd {KEY}\n\nThe da\u200btabase, the database\u200b and {KEY[:8]}\u200b{KEY[8:]}.\r\n"
)
GIVEN = st.dictionaries(
    st.sampled_from(NAMES), LIKELY | COUNTS | st.lists(LIKELY, max_size=3), max_size=6
)
ODD = st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=8), VALUES, max_size=6)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    made = a_store(tmp_path_factory.mktemp("home"))
    a_lesson_file(made, "nodes/testing/db.md", "# Database\n\nThe tests need port 5432.\n")
    a_lesson_file(made, "nodes/testing/slow.md", "# Slow\n\nRun the database tests last.\n")
    a_lesson_file(made, "nodes/testing/odd.md", ODD_LESSON)
    a_rule_file(made, id="r_0000aa", targets=["nodes/testing/"])
    return made


def on_disk(store):
    """Return the files of the project but those that rose keeps for this machine."""
    found = {}
    for folder, _, names in os.walk(store.base):
        paths = [os.path.join(folder, name) for name in names]
        found.update({path: files.read_bytes(path) for path in paths if "/local/" not in path})
    return found


@settings(max_examples=500, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.sampled_from([tool.name for tool in tools.TOOLS]), given=GIVEN | ODD)
@example(name="search", given={"query": f"database {KEY}"})
@example(name="open", given={"node": "odd", "query": "database"})
@example(name="open", given={"node": "odd", "first": 2})
def test_any_call_is_answered_or_refused_and_its_record_can_be_replayed(store, name, given):
    before, records = on_disk(store), trace.latest(store, 1)
    where = desk.Desk(lambda: layout.Stores(store, None, "test"), lambda: "now", "s-1")
    answer = None
    with contextlib.suppress(RoseError):
        answer = tools.call(where, name, given)
    if answer is not None:
        assert isinstance(answer.fields["said"], list)
        json.dumps(answer.fields, ensure_ascii=False).encode()
    assert on_disk(store) == before
    if (recorded := trace.latest(store, 1)) != records:
        again = replay.replay(recorded[0], [lessons.hold(store)])
        assert replay.difference(recorded[0], again) == ""
