"""The one trace writer: its schema, and nothing secret in it."""

from __future__ import annotations

import pytest

from rose import files
from rose.errors import Unwritable
from rose.selection import trace
from rose.selection.windows import Window
from rose.store import lessons
from tests.factories import a_lesson_file, a_rule_file, a_store

KEY = "AKIA" + "IOSFODNN7" + "QWERTYU"
FIELDS = {
    *("schema", "id", "at", "session", "kind", "condition", "query", "scope", "budget", "store"),
    *("judge", "counter", "candidates", "selected", "admitted", "excluded", "text", "tokens"),
    *("failure", "approval", "output", "citations"),
}


def a_record(**fields):
    known = {"id": "t_1", "at": "now", "session": "s", "kind": "search", "query": "q", "store": {}}
    return trace.Record(**{**known, **fields})


def test_a_record_is_one_line_with_every_field_of_the_schema(tmp_path):
    store = a_store(tmp_path)
    shown = trace.Candidate("one", "v1", 1, 2.5, Window(3, 9, "shown"))
    trace.append(store, a_record(candidates=[shown], budget={"k": 5}))
    trace.append(store, a_record(id="t_2"))
    first, second = (line for _, line in files.read_jsonl(store.selections))
    assert set(first) == FIELDS
    assert (first["schema"], first["approval"]) == ("rose.trace.v1", "not_requested")
    assert (first["output"], first["citations"], first["failure"]) == (None, None, None)
    window = {"start": 3, "end": 9, "text": "shown"}
    assert first["candidates"] == [
        {"node": "one", "version": "v1", "rank": 1, "score": 2.5, "window": window}
    ]
    assert second["id"] == "t_2"


def test_nothing_secret_is_written(tmp_path):
    store = a_store(tmp_path)
    shown = trace.Candidate("one", "v1", 1, None, Window(0, 9, f"key {KEY}"))
    trace.append(store, a_record(query=f"use {KEY}", text=f"see {KEY}", candidates=[shown]))
    written = files.read_text(store.selections)
    assert KEY not in written
    assert written.count("[redacted:") == 3


def test_a_disk_that_refuses_is_said(tmp_path):
    store = a_store(tmp_path)
    with open(store.local, "w", encoding="utf-8") as stream:
        stream.write("a file in place of the folder")
    with pytest.raises(Unwritable):
        trace.append(store, a_record())


def test_the_stores_are_counted_and_their_digest_moves_with_a_lesson(tmp_path):
    store = a_store(tmp_path)
    a_lesson_file(store, "nodes/one.md")
    a_lesson_file(store, "nodes/two.md", "---\nstatus: archived\n---\nText.\n")
    a_rule_file(store)
    a_rule_file(store, status="retired")
    before = trace.state_of([lessons.hold(store)])
    assert (before["lessons"], before["rules"]) == (1, 1)
    assert trace.state_of([lessons.hold(store)]) == before
    a_lesson_file(store, "nodes/one.md", "# Changed\n\nText.\n")
    assert trace.state_of([lessons.hold(store)])["digest"] != before["digest"]


def test_ids_differ():
    assert len({trace.new_id() for _ in range(50)}) == 50
