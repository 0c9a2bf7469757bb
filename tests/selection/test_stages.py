"""How much had been seen of a lesson, from the records alone."""

from __future__ import annotations

import pytest

from rose.selection import lookups, rejection_page, replay, search, stages, trace
from rose.selection.lookups import LookUp
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


def test_the_characters_are_those_that_the_record_counted(store):
    whole = row(store, seen.recalled(store).id)
    [shown] = [x for x in whole["admitted"] if x["node"] == "testing/db"]
    assert stages.sight({**whole, "text": ""}, "testing/db").chars == shown["chars"]
    long = row(store, seen.recalled(store, "filler", tokens=150).id)
    quoted = [line[2:] for line in long["text"].split("\n") if line.startswith("> ")]
    assert long["admitted"][0]["chars"] == len("".join(quoted))
    line = row(store, seen.recalled(store, serving="pointers").id)
    assert {x["chars"] for x in line["admitted"]} == {0}


def test_a_record_from_before_they_were_counted_has_a_stage_and_no_number(store):
    whole = row(store, seen.recalled(store).id)
    old = [{k: v for k, v in one.items() if k != "chars"} for one in whole["admitted"]]
    found = stages.sight({**whole, "admitted": old}, "testing/db")
    assert (found.stage, found.chars) == ("evidence", None)
    again = replay.replay({**whole, "admitted": old}, seen.holdings(store))
    assert replay.difference({**whole, "admitted": old}, again) == ""


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


HEADER = "---\ntitle: Start the database\ntags: [db, ports]\n---\n"


def opened(store, node, first=1, last=None):
    """Record an opening as the tool does and return what it showed of the lesson."""
    found = search.opening(seen.holdings(store), node, first, last)
    budget = {"first": first, "last": found.last, "whole": found.is_whole}
    look = LookUp("evidence", "", lookups.of_opening(found), budget)
    assert lookups.write(seen.holdings(store), "s1", seen.AT, look) == ""
    found = stages.sight(trace.latest(store, 1)[0], node)
    return None if found is None else (found.stage, found.chars)


def test_what_shows_nothing_of_what_a_lesson_says_showed_nothing(store):
    a_lesson_file(store, "nodes/head.md", f"{HEADER}\n# Port\n\nThe tests need port 5432.\n")
    for last in range(1, 6):
        assert opened(store, "head", 1, last) is None
    a_lesson_file(store, "nodes/empty.md", HEADER + "\n \n")
    assert opened(store, "empty") is None
    a_lesson_file(store, "nodes/bare.md", "")
    assert opened(store, "bare") is None
    name = seen.searched(store, "start ports")
    assert stages.sight(row(store, name), "empty") is None


def test_some_lines_are_evidence_where_they_are_all_or_as_much_as_a_search_shows(store):
    text = f"{HEADER}\n# Port\n\nThe tests need port 5432.\n\nMore.\n"
    a_lesson_file(store, "nodes/head.md", text)
    assert opened(store, "head", 1, 6) == ("search", len("# Port"))
    assert opened(store, "head", 8, 8) == ("search", len("The tests need port 5432."))
    said = len("# Port The tests need port 5432. More.")
    for first in (1, 3, 6):
        assert opened(store, "head", first) == ("evidence", said)
    lines = "".join(f"{'w ' * 49}w\n" for _ in range(20))
    a_lesson_file(store, "nodes/lines.md", lines)
    assert opened(store, "lines", 1, 5)[0] == "search"
    assert opened(store, "lines", 1, 6)[0] == "evidence"


@pytest.mark.parametrize(("chars", "windows", "stage"), [(1, 1, "search"), (250, 2, "evidence")])
def test_passages_that_could_show_no_more_than_a_search_are_no_more(store, chars, windows, stage):
    found = search.evidence(seen.holdings(store), "long", "database", chars=chars, count=windows)
    look = LookUp(
        "evidence", "database", lookups.of_passages(found), {"chars": chars, "windows": windows}
    )
    assert lookups.write(seen.holdings(store), "s1", seen.AT, look) == ""
    assert stages.sight(trace.latest(store, 1)[0], "long").stage == stage


def test_a_record_of_an_opening_that_does_not_say_how_much_it_was_counts_by_its_length():
    window = {"start": 0, "end": 9, "text": "x" * (search.CHARS - 1)}
    record = {"id": "t", "kind": "evidence", "budget": {"first": 1, "last": 3}}
    for text, stage in ((window["text"], "search"), (window["text"] + "x", "evidence")):
        shown = [{"node": "a", "version": "v", "window": {**window, "text": text}}]
        assert stages.sight({**record, "candidates": shown}, "a").stage == stage


def test_a_lesson_served_without_a_character_of_it_was_not_seen():
    shown = {"node": "a", "version": "v", "form": "whole"}
    for chars, is_seen in ((0, False), (1, True)):
        record = {"id": "t", "kind": "recall", "admitted": [{**shown, "chars": chars}]}
        assert (stages.sight(record, "a") is not None) is is_seen


def kept(store, **fields):
    known = {"session": "s1", "node": "testing/db", "query": "database", "version": "v"}
    return rejection_page.add(store, Rejection(**{**known, **fields}))


def test_the_stage_is_never_typed(store):
    name = seen.searched(store)
    path = rejection_page.path_of(store, "s1")
    kept(store, trace=name)
    with open(path, "a", encoding="utf-8") as stream:
        stream.write("- stage: evidence\n- chars: 9000\n")
    page = rejection_page.of_session(store, "s1")
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
