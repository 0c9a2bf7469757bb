"""The log of what changed rules besides reflections."""

from __future__ import annotations

import os

from rose import files
from rose.reflection import journal
from tests import factories

AT = "2026-11-30T12:00:00Z"


def test_each_thing_is_one_line(tmp_path):
    store = factories.a_store(tmp_path)
    journal.undone(store, "s", 3, ["r_0000aa"], AT)
    journal.carried(store, {"r_0000aa": {"nodes/a.md": "nodes/b.md"}}, AT)
    journal.decided(store, "approve", ["r_0000aa"], AT)
    assert [line for _, line in files.read_jsonl(store.trace)] == [
        {"v": 1, "at": AT, "session": "s", "n": 3, "undone": True, "left": ["r_0000aa"]},
        {"v": 1, "at": AT, "carried": {"r_0000aa": {"nodes/a.md": "nodes/b.md"}}},
        {"v": 1, "at": AT, "decided": "approve", "rules": ["r_0000aa"]},
    ]


def test_a_disk_that_refuses_stops_nothing(tmp_path):
    store = factories.a_store(tmp_path)
    os.makedirs(store.trace)
    journal.decided(store, "approve", ["r_0000aa"], AT)
    assert os.listdir(store.trace) == []
