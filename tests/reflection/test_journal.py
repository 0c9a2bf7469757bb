"""The log of what changed rules besides reflections."""

from __future__ import annotations

import os

import pytest

from rose import files
from rose.reflection import journal
from rose.reflection.delivery import Arrival
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


def test_what_was_noted_is_read_back_and_anything_else_in_a_line_is_empty(tmp_path):
    store = factories.a_store(tmp_path)
    arrived = [{"event": "SessionStart", "whole": 1}]
    journal.reflected(store, {"session": "s", "operations": [{"rule": "r"}], "arrivals": arrived})
    journal.undone(store, "s", 3, ["r_0000aa"], AT)
    journal.carried(store, {"r_0000aa": {"nodes/a.md": "nodes/b.md"}}, AT)
    files.append_line(store.trace, '{"session": 3, "n": "4", "operations": ["x"], "undone": 1}')
    files.append_line(store.trace, '{"torn')
    made, undone, carried, foreign = journal.read(store)
    assert (made.session, made.operations) == ("s", ({"rule": "r"},))
    assert made.arrivals == (Arrival("SessionStart", whole=1),)
    assert (undone.is_undone, undone.n, undone.left, undone.arrivals) == (
        True,
        3,
        ("r_0000aa",),
        None,
    )
    assert carried.carried == (("r_0000aa", "nodes/a.md", "nodes/b.md"),)
    assert foreign == journal.line_of({})


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_a_log_that_is_no_file_tells_nothing(tmp_path, make):
    store = factories.a_store(tmp_path)
    os.makedirs(os.path.dirname(store.trace))
    make(store.trace)
    assert list(journal.read(store)) == []
