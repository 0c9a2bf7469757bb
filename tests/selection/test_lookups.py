"""Look-ups leave traces by which it is known how much of a lesson was seen."""

from __future__ import annotations

import os

import pytest

from rose.selection import lookups, replay, search, trace
from rose.selection.lookups import LookUp
from rose.store import lessons
from tests.factories import a_lesson_file, a_store

TEXT = "# Database\n\nThe tests need port 5432.\n\nThe database is small.\n"


@pytest.fixture
def store(tmp_path):
    made = a_store(tmp_path)
    a_lesson_file(made, "nodes/db.md", TEXT)
    return made


def kept(store, look):
    holdings = [lessons.hold(store)]
    assert lookups.write(holdings, "s-1", "2026-12-01T00:00:00Z", look) == ""
    return trace.latest(store, 1)[0]


def looked(store, kind):
    holdings = [lessons.hold(store)]
    if kind == "search":
        found = search.search(holdings, "database", k=1, chars=20)
        return LookUp("search", "database", lookups.of_search(found), {"k": 1, "chars": 20})
    if kind == "passages":
        said = search.evidence(holdings, "db", "database port", chars=12, count=2)
        budget = {"chars": 12, "windows": 2}
        return LookUp("evidence", "database port", lookups.of_passages(said), budget)
    opened = search.opening(holdings, "db", *((1,) if kind == "whole" else (3, 3)))
    budget = {"first": opened.first, "last": opened.last}
    return LookUp("evidence", "", lookups.of_opening(opened), budget)


@pytest.mark.parametrize(
    ("kind", "name", "spans"),
    [
        ("search", "search", [(0, 15)]),
        ("passages", "evidence", [(0, 10), (22, 31)]),
        ("whole", "evidence", [(0, len(TEXT))]),
        ("lines", "evidence", [(12, 38)]),
    ],
)
def test_a_trace_has_the_spans_that_were_seen_and_can_be_replayed(store, kind, name, spans):
    row = kept(store, looked(store, kind))
    assert (row["kind"], row["session"]) == (name, "s-1")
    seen = [(one["window"]["start"], one["window"]["end"]) for one in row["candidates"]]
    assert seen == spans
    again = replay.replay(row, [lessons.hold(store)])
    assert replay.difference(row, again) == ""


def test_an_opening_of_a_lesson_that_changed_differs_by_its_version(store):
    row = kept(store, looked(store, "whole"))
    a_lesson_file(store, "nodes/db.md", TEXT + "More.\n")
    found = replay.difference(row, replay.replay(row, [lessons.hold(store)]))
    assert found.startswith("candidates[0].version: ")


def test_an_opening_of_a_lesson_that_went_differs_and_is_no_error(store):
    row = kept(store, looked(store, "lines"))
    os.unlink(os.path.join(store.base, "nodes/db.md"))
    assert replay.difference(row, replay.replay(row, [lessons.hold(store)]))


def test_what_keeps_a_trace_from_being_written_is_said(store):
    os.makedirs(store.selections)
    reason = lookups.write([lessons.hold(store)], "s-1", "now", looked(store, "search"))
    assert "selection.jsonl" in reason
