"""The one trace writer: its schema, and nothing secret in it."""

from __future__ import annotations

import os

import pytest

from rose import files, tail
from rose.errors import RoseError, Unwritable
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


def test_no_text_of_a_record_is_written_with_a_secret(tmp_path):
    store = a_store(tmp_path)
    row = [{"node": "one", "detail": f"{KEY} fell", "why": {"word": [KEY]}}]
    lists = {"selected": row, "admitted": row, "excluded": row, "scope": [f"nodes/{KEY}"]}
    shown = trace.Candidate(KEY, "v1", 1, None, None)
    record = a_record(**lists, session=KEY, judge=KEY, budget={"x": KEY}, candidates=[shown])
    trace.append(store, record)
    trace.conclude(store, {"id": "t_1"}, "now", {"opened": [KEY]}, [KEY])
    assert KEY not in files.read_text(store.selections)
    assert [one["id"] for one in trace.latest(store, 5)] == ["t_1"]


def test_a_session_whose_name_was_redacted_is_found_again(tmp_path):
    store = a_store(tmp_path)
    trace.append(store, a_record(kind="recall", session=f"key {KEY}"))
    assert len(trace.of_session(store, f"key {KEY}")) == 1


def test_of_a_file_beyond_the_limit_the_end_is_read(tmp_path):
    store = a_store(tmp_path)
    trace.append(store, a_record())
    os.truncate(store.selections, files.MOST_BYTES + 1)
    trace.append(store, a_record(id="t_2", kind="recall"))
    assert trace.find([store], "t_2")["kind"] == "recall"
    assert len(trace.of_session(store, "s")) == 1


def test_a_record_waits_for_whoever_shortens_the_file_and_says_so(tmp_path):
    store = a_store(tmp_path)
    with files.lock(store.selections_lock), pytest.raises(Unwritable, match="Try again"):
        trace.append(store, a_record())


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


def test_what_became_of_a_record_is_a_second_record_with_its_id(tmp_path):
    store = a_store(tmp_path)
    trace.append(store, a_record(kind="recall"))
    before = files.read_bytes(store.selections)
    trace.conclude(store, {"id": "t_1"}, "later", {"opened": ["one"], "used": []}, ["one"])
    assert files.read_bytes(store.selections).startswith(before)
    row = trace.find([store], "t_1")
    assert row["output"] == {"opened": ["one"], "used": []}
    assert (row["citations"], row["at"], row["kind"]) == (["one"], "now", "recall")
    trace.conclude(store, {"id": "t_1"}, "last", {"opened": ["one"], "used": ["one"]}, [])
    row = trace.find([store], "t_1")
    assert (row["output"]["used"], row["citations"]) == (["one"], [])


def test_a_record_is_found_by_a_part_of_its_id_in_any_store(tmp_path):
    first, second = a_store(tmp_path, "one"), a_store(tmp_path, "two")
    trace.append(first, a_record(id="t_aaaa11", query="first"))
    trace.append(second, a_record(id="t_bbbb22", query="second"))
    assert trace.find([first, second], "bbb")["query"] == "second"
    with pytest.raises(RoseError, match="several traces"):
        trace.find([first, second], "t_")
    with pytest.raises(RoseError, match="No trace 'zzz'"):
        trace.find([first, second], "zzz")


@pytest.mark.parametrize(
    ("schema", "is_read"),
    [
        ("rose.trace.v1", True),
        ("rose.trace.v1.7", True),
        ("rose.trace.v2", False),
        ("rose.trace.v10", False),
        ("rose.trace.v2.1", False),
    ],
)
def test_a_major_schema_that_is_unknown_is_refused(tmp_path, schema, is_read):
    store = a_store(tmp_path)
    row = {**a_record().as_json(), "schema": schema}
    files.append_line(store.selections, files.dump_json(row))
    if is_read:
        assert trace.find([store], "t_1")["query"] == "q"
    else:
        with pytest.raises(RoseError, match=r"reads rose\.trace\.v1"):
            trace.find([store], "t_1")


def test_torn_and_foreign_lines_are_passed_over(tmp_path):
    store = a_store(tmp_path)
    for line in ('{"schema":"rose.trace.v1","id":7}', "[]", '{"torn', '{"id":"t_0"}'):
        files.append_line(store.selections, line)
    trace.append(store, a_record())
    trace.conclude(store, {"id": "t_lost"}, "later", {}, [])
    assert [row["id"] for row in trace.latest(store, 9)] == ["t_1"]
    with pytest.raises(RoseError, match="only what became of it"):
        trace.find([store], "t_lost")


def test_the_latest_are_the_last_and_an_empty_store_has_none(tmp_path):
    store = a_store(tmp_path)
    assert trace.latest(store, 3) == []
    for number in range(5):
        trace.append(store, a_record(id=f"t_{number}"))
    assert [row["id"] for row in trace.latest(store, 3)] == ["t_2", "t_3", "t_4"]


def test_of_a_session_are_what_recall_left_in_it(tmp_path):
    store = a_store(tmp_path)
    assert trace.of_session(store, "s") == []
    trace.append(store, a_record(id="t_1", kind="recall"))
    trace.append(store, a_record(id="t_2", kind="recall", session="other"))
    trace.append(store, a_record(id="t_3"))
    trace.conclude(store, {"id": "t_1"}, "later", {}, [])
    assert [row["id"] for row in trace.of_session(store, "s")] == ["t_1"]
    files.delete(store.selections)
    (tmp_path / "repo" / ".rose" / "local" / "traces" / "selection.jsonl").mkdir()
    assert trace.of_session(store, "s") == []


def test_what_one_session_left_comes_with_what_became_of_it(tmp_path):
    store = a_store(tmp_path)
    trace.append(store, a_record(id="t_1", kind="recall"))
    trace.append(store, a_record(id="t_2", session="other"))
    trace.append(store, a_record(id="t_3", query="t_1 and s"))
    trace.conclude(store, {"id": "t_1"}, "later", {"opened": ["one"], "used": []}, [])
    found = trace.in_session(store, "s")
    assert [row["id"] for row in found] == ["t_1", "t_3"]
    assert found[0]["output"] == {"opened": ["one"], "used": []}
    assert list(trace.named(store, ["t_2", "t_9"])) == ["t_2"]
    assert trace.named(store, []) == {}
    assert trace.in_session(a_store(tmp_path, "empty"), "s") == []


def test_of_more_ids_than_can_be_looked_for_each_is_found_all_the_same(tmp_path):
    store = a_store(tmp_path)
    for number in range(tail.MOST_MARKS + 9):
        trace.append(store, a_record(id=f"t_{number}", query=str(number)))
    wanted = [f"t_{number}" for number in range(tail.MOST_MARKS + 5)]
    found = trace.named(store, [*wanted, "t_none"])
    assert [*found] == wanted
    assert [row["query"] for row in found.values()] == [name[2:] for name in wanted]


def test_whatever_names_a_lesson_is_found(tmp_path):
    store = a_store(tmp_path)
    shown = trace.Candidate("one", "v1", 1, 2.5, None)
    trace.append(store, a_record(id="t_1", candidates=[shown]))
    trace.append(store, a_record(id="t_2", query="one"))
    trace.append(store, a_record(id="t_3"))
    assert [row["id"] for row in trace.about(store, ["one"])] == ["t_1", "t_2"]


def test_a_record_of_another_major_schema_is_in_no_session(tmp_path):
    store = a_store(tmp_path)
    row = {**a_record().as_json(), "schema": "rose.trace.v2"}
    files.append_line(store.selections, files.dump_json(row))
    assert trace.in_session(store, "s") == []


def test_a_candidate_says_what_each_feature_gave():
    plain = trace.Candidate("one", "v", 1, 1.0, None)
    assert "why" not in plain.as_json()
    told = trace.Candidate("one", "v", 1, 1.0, None, {"text": 1.0})
    assert told.as_json()["why"] == {"text": 1.0}
