"""How much had been seen of a lesson, from the records alone."""

from __future__ import annotations

import pytest

from rose.selection import rejections, stages, trace
from rose.selection.rejections import Rejection
from tests.factories import a_lesson_file, a_store
from tests.selection import seen

LONG = "# Long\n\n" + "filler " * 200 + "\n\nThe database is here.\n"


@pytest.fixture
def store(tmp_path):
    made = a_store(tmp_path)
    a_lesson_file(made, "nodes/testing/db.md", "# Database\n\nThe tests need port 5432.\n")
    a_lesson_file(made, "nodes/testing/slow.md", "# Slow tests\n\nRun the database tests last.\n")
    a_lesson_file(made, "nodes/long.md", LONG)
    return made


def row(store, name):
    return trace.named(store, [name])[name]


def test_a_search_is_one_window_and_counts_what_was_shown_of_it(store):
    record = row(store, seen.searched(store))
    found = stages.sight(record, "testing/db")
    window = next(x["window"] for x in record["candidates"] if x["node"] == "testing/db")
    assert (found.stage, found.chars) == ("search", len(window["text"]))
    assert (found.trace, found.query) == (record["id"], "database tests")
    assert stages.sight(record, "deploy/canary") is None


def test_passages_are_evidence_and_add_up(store):
    record = row(store, seen.evidence(store, "long", "filler database"))
    found = stages.sight(record, "long")
    assert len(record["candidates"]) == 2
    shown = sum(len(one["window"]["text"]) for one in record["candidates"])
    assert (found.stage, found.chars) == ("evidence", shown)


def test_a_look_that_found_no_passage_showed_nothing(store):
    assert stages.sight(row(store, seen.evidence(store, query="zebra")), "testing/db") is None


def test_of_recall_the_text_that_was_served_counts_and_a_line_about_a_lesson_does_not(store):
    whole = row(store, seen.recalled(store).id)
    chars = len("# Database" + "The tests need port 5432.")
    version = next(x["version"] for x in whole["admitted"] if x["node"] == "testing/db")
    expected = stages.Sight(whole["id"], "evidence", chars, version, "database tests")
    assert stages.sight(whole, "testing/db") == expected
    part = row(store, seen.recalled(store, "filler", tokens=150).id)
    assert part["admitted"][0]["form"] == "part"
    found = stages.sight(part, "long")
    assert (found.stage, 0 < found.chars <= 320) == ("search", True)
    line = row(store, seen.recalled(store, serving="pointers").id)
    assert line["admitted"]
    assert stages.sight(line, "testing/db") is None


def test_a_candidate_that_was_never_shown_was_not_seen(store):
    record = row(store, seen.recalled(store, k=1).id)
    assert len(record["candidates"]) > len(record["admitted"]) == 1
    missed = [x["node"] for x in record["candidates"] if x["node"] != record["admitted"][0]["node"]]
    assert [stages.sight(record, node) for node in missed] == [None] * len(missed)


def test_what_reflection_saw_opened_is_evidence(store):
    record = seen.recalled(store, serving="pointers")
    trace.conclude(store, {"id": record.id}, "later", {"opened": ["testing/db"], "used": []}, [])
    found = stages.sight(row(store, record.id), "testing/db")
    assert (found.stage, found.chars, found.version) == (
        "evidence",
        None,
        next(x["version"] for x in record.admitted if x["node"] == "testing/db"),
    )
    assert stages.sight(row(store, record.id), "testing/slow") is None


def test_a_rejection_rests_on_the_version_that_is_there_then_on_most_then_on_the_latest(store):
    first = seen.evidence(store)
    again = seen.evidence(store)
    window = seen.searched(store)
    version = next(
        x["version"] for x in row(store, window)["candidates"] if x["node"] == "testing/db"
    )
    rows = trace.in_session(store, "s1")
    assert [one["id"] for one in rows] == [first, again, window]
    assert stages.best(rows, "testing/db", version).trace == again
    a_lesson_file(store, "nodes/testing/db.md", "# Database\n\nThe tests need port 5433.\n")
    new = seen.searched(store)
    rows = trace.in_session(store, "s1")
    now = next(x["version"] for x in row(store, new)["candidates"] if x["node"] == "testing/db")
    assert stages.best(rows, "testing/db", now).trace == new
    assert stages.best(rows, "nowhere", now) is None


def kept(store, **fields):
    known = {"session": "s1", "node": "testing/db", "query": "database", "version": "v"}
    return rejections.add(store, Rejection(**{**known, **fields}))


def test_the_stage_is_never_typed(store):
    name = seen.searched(store)
    path = rejections.path_of(store, "s1")
    kept(store, trace=name)
    with open(path, "a", encoding="utf-8") as stream:
        stream.write("- stage: evidence\n- chars: 9000\n")
    page = rejections.of_session(store, "s1")
    assert [one.rule for one in page.findings] == ["rejection-line"] * 2
    found = stages.of_rejection(page.rows[0], trace.named(store, [name]))
    assert (found.stage, found.chars < 100) == ("search", True)


@pytest.mark.parametrize("change", ["", "t_000000000000", "another session", "another lesson"])
def test_a_row_whose_trace_does_not_resolve_is_unrecorded(store, change):
    name = seen.searched(store, session="s2" if change == "another session" else "s1")
    node = "deploy/canary" if change == "another lesson" else "testing/db"
    row = kept(store, node=node, trace=change if change[:2] in ("", "t_") else name)
    found = stages.of_rejection(row, trace.named(store, [name, row.trace]))
    assert (found.stage, found.chars) == ("unrecorded", 0)


def test_where_the_task_was_the_reason_the_stage_is_scope_whatever_was_seen(store):
    name = seen.searched(store)
    found = stages.of_rejection(kept(store, trace=name, scope=()), trace.named(store, [name]))
    assert (found.stage, found.chars > 0) == ("scope", True)
    unseen = stages.of_rejection(kept(store, node="long", scope=()), {})
    assert (unseen.stage, unseen.chars) == ("scope", 0)


@pytest.mark.parametrize(
    "row",
    [
        {"id": "t", "kind": "recall", "admitted": 7, "output": {"opened": 7}},
        {"id": "t", "kind": "recall", "admitted": [{"node": "a", "form": "whole"}], "text": "x"},
        {"id": "t", "kind": "search", "candidates": [{"node": "a", "window": 7}]},
        {"id": "t", "kind": 7, "candidates": [{"node": "a", "window": {"text": None}}]},
    ],
)
def test_a_record_that_somebody_edited_is_no_crash(row):
    found = stages.sight(row, "a")
    assert found is None or not found.chars
