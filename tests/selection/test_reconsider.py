"""What was turned down and its queries still find: listed, and nothing decided."""

from __future__ import annotations

import os

import pytest

from rose import files
from rose.routing import cases
from rose.selection import reconsider, reject, rejection_page, trace
from tests.factories import a_ledger_line, a_lesson_file, a_store
from tests.selection import seen

LATER = "2026-12-01T11:00:00Z"


@pytest.fixture
def store(tmp_path):
    made = a_store(tmp_path)
    a_lesson_file(made, "nodes/testing/db.md", "# Database\n\nThe tests need port 5432.\n")
    a_lesson_file(made, "nodes/deploy/canary.md", "# Canary\n\nShip to one host, then wait.\n")
    return made


def turn_down(store, node="testing/db", query="database", **fields):
    known = {"why": "no", "session": "s1", "at": seen.AT}
    return reject.reject(
        seen.holdings(store), node, query=query, by_scope=True, **{**known, **fields}
    )


def looked(store):
    return reconsider.reconsider(seen.holdings(store))


def nodes(found):
    return [one.lesson.id for one in found.lessons]


def used_elsewhere(store, node="testing/db", session="s2", at=LATER):
    case = cases.Case(session=session, n=0, at=at, used=(node,), opened=(cases.Opened(node),))
    a_ledger_line(store, lambda n: {**cases.line_of(case), "n": n})


def test_a_lesson_that_its_query_still_finds_comes_with_reason_stage_and_queries(store):
    seen.searched(store)
    reject.reject(
        seen.holdings(store),
        "testing/db",
        query="database",
        why="first",
        session="s1",
        at=seen.AT,
    )
    turn_down(store, query="zebra", session="s2", why="last", at=LATER)
    [one] = looked(store).lessons
    row = one.as_json()
    assert (row["node"], row["queries"], row["changed"]) == ("testing/db", ["database"], False)
    assert (row["reason"], row["stage"]) == ("last", "scope")
    assert [(x["stage"], x["rank"]) for x in row["rejections"]] == [("search", 1), ("scope", None)]


def test_what_no_query_finds_any_more_is_left_out(store):
    turn_down(store, query="zebra")
    turn_down(store, "canary", query="ship")
    os.unlink(os.path.join(store.base, "nodes/deploy/canary.md"))
    found = looked(store)
    assert (nodes(found), found.rejections, found.unchecked) == ([], 2, ())


def test_only_the_first_fifteen_count_as_found(store):
    turn_down(store)
    for number in range(reconsider.REACH - 1):
        a_lesson_file(store, f"nodes/more/{number:02}.md", "# Database\n\nDatabase.\n")
    assert nodes(looked(store)) == ["testing/db"]
    a_lesson_file(store, "nodes/more/99.md", "# Database\n\nDatabase.\n")
    assert nodes(looked(store)) == []


def test_a_lesson_changed_since_every_rejection_says_so(store):
    turn_down(store)
    a_lesson_file(store, "nodes/testing/db.md", "# Database\n\nThe tests need port 5433.\n")
    assert looked(store).lessons[0].is_changed is True
    turn_down(store, session="s2")
    assert looked(store).lessons[0].is_changed is False


def test_a_hand_written_row_without_a_version_may_have_changed(store):
    text = "---\nsession: s1\n---\n## testing/db\n- query: database\n"
    files.replace(rejection_page.path_of(store, "s1"), text)
    [one] = looked(store).lessons
    assert (one.is_changed, one.as_json()["stage"]) == (None, "unrecorded")


def test_what_another_session_used_since_is_left_out(store):
    turn_down(store)
    used_elsewhere(store, at="2026-11-30T00:00:00Z", session="before")
    used_elsewhere(store, session="s1")
    used_elsewhere(store, "deploy/canary")
    assert nodes(looked(store)) == ["testing/db"]
    used_elsewhere(store)
    assert nodes(looked(store)) == []
    turn_down(store, why="again", at="2026-12-01T12:00:00Z")
    assert nodes(looked(store)) == ["testing/db"]


def test_what_was_admitted_and_used_since_is_left_out(store):
    first = seen.recalled(store, "database")
    turn_down(store)
    used = {"opened": ["testing/db"], "used": ["testing/db"]}
    trace.conclude(store, {"id": first.id}, LATER, used, [])
    pointed = seen.recalled(store, "zebra", at=LATER)
    trace.conclude(store, {"id": pointed.id}, LATER, used, [])
    served = seen.recalled(store, "database", at=LATER)
    assert nodes(looked(store)) == ["testing/db"], "served is not used"
    trace.conclude(store, {"id": served.id}, LATER, used, [])
    assert nodes(looked(store)) == []


def test_the_record_that_a_rejection_rests_on_is_not_since(store):
    record = seen.recalled(store, "database")
    done = reject.reject(
        seen.holdings(store), "testing/db", query="database", why="x", session="s1", at=seen.AT
    )
    assert done.row.trace == record.id
    trace.conclude(store, {"id": record.id}, LATER, {"opened": [], "used": ["testing/db"]}, [])
    assert nodes(looked(store)) == ["testing/db"]


def test_what_could_not_be_checked_is_said_and_not_shown_as_empty(store):
    turn_down(store, query="the of")
    turn_down(store, "canary", query="ship")
    found = looked(store)
    assert nodes(found) == ["deploy/canary"]
    assert [tuple(one) for one in found.unchecked] == [
        ("the of", "it holds no word that could be looked for")
    ]


def test_more_queries_than_are_looked_for_are_said(store):
    most = reconsider.MOST_QUERIES
    rows = "".join(f"## testing/db\n- query: zebra {n:05}\n" for n in range(most + 2))
    files.replace(rejection_page.path_of(store, "s1"), f"---\nsession: s1\n---\n{rows}")
    found = looked(store)
    assert (nodes(found), found.rejections) == ([], most + 2)
    assert [one.what for one in found.unchecked] == ["2 more queries"]


def test_traces_and_a_ledger_that_cannot_be_read_are_said(store):
    turn_down(store)
    os.makedirs(store.selections)
    os.makedirs(os.path.join(store.ledger("local"), "0123456789ab.jsonl"))
    found = looked(store)
    assert nodes(found) == ["testing/db"]
    assert {one.reason.partition(":")[0] for one in found.unchecked} == {
        "the traces cannot be read",
        "the ledger cannot be read, so use since is not known",
    }


def test_a_page_that_cannot_be_read_is_among_the_findings(store):
    files.replace(rejection_page.path_of(store, "s1"), b"\xff")
    assert [one.rule for one in looked(store).findings] == ["rejection-unreadable"]


def test_nothing_is_written_but_what_is_derived(store):
    turn_down(store)
    looked(store)
    before = _files(store)
    looked(store)
    assert _files(store) == before


def _files(store):
    """Return all files but the locks and those that only save time."""
    derived = (
        store.lessons_cache,
        store.lessons_changes,
        store.rules_cache,
        store.ledger_cache,
        store.standings_cache,
        store.costs_cache,
        store.words_cache,
        store.selection_cache,
        store.search_state,
        store.search,
    )
    found = {}
    for folder, _, names in os.walk(store.base):
        for name in names:
            path = os.path.join(folder, name)
            if path not in derived and not path.endswith(".lock"):
                found[path] = files.read_bytes(path)
    return found
