"""What a session turned down is left out for the same need, and what opens it again."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from rose import files
from rose.selection import reject, rejections, replay, sticky, trace
from tests.factories import a_lesson_file, a_store
from tests.selection import seen

QUERY = "database tests port"


@pytest.fixture
def store(tmp_path):
    made = a_store(tmp_path)
    a_lesson_file(made, "nodes/testing/db.md", "# Database\n\nTests need the container port.\n")
    a_lesson_file(made, "nodes/testing/slow.md", "# Slow tests\n\nRun the database tests last.\n")
    return made


def turn_down(store, **fields):
    known = {"query": QUERY, "why": "no", "session": "s1", "at": seen.AT}
    return reject.reject(seen.holdings(store), "testing/db", **{**known, **fields})


def standing(store, query=QUERY, session="s1", scope=()):
    return sticky.standing(seen.holdings(store), session, query, scope)


def after_window(store):
    seen.searched(store, QUERY)
    turn_down(store)


def after_passages(store):
    seen.evidence(store, query=QUERY)
    turn_down(store)


def for_the_task(store):
    turn_down(store, by_scope=True)


MAKERS = {"search": after_window, "evidence": after_passages, "scope": for_the_task}
makers = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


def change(store):
    a_lesson_file(store, "nodes/testing/db.md", "# Database\n\nTests need another port.\n")


@makers
def test_within_the_session_it_stands_for_the_same_need_alone(store, make):
    make(store)
    assert list(standing(store)) == ["testing/db"]
    assert list(standing(store, "Please run the Tests: DATABASE port")) == ["testing/db"]
    assert standing(store, session="s2") == {}
    assert standing(store, session="") == {}
    assert standing(store, "ship the canary") == {}
    assert standing(store, "database") == {}
    assert standing(store, "database tests port on a slow disk of another machine") == {}


@makers
def test_what_opens_it_again_depends_on_how_much_was_seen(store, make):
    """The words `container` stands in the lesson, `parallel` does not."""
    make(store)
    is_window, is_scope = make is after_window, make is for_the_task
    assert bool(standing(store, f"{QUERY} container")) is not is_window
    assert bool(standing(store, f"{QUERY} parallel"))
    assert bool(standing(store, scope=["nodes/testing/**"])) is not is_scope
    change(store)
    assert bool(standing(store)) is is_scope


def test_the_scope_of_the_task_is_that_of_the_latest_call(store):
    seen.searched(store, QUERY, scope=["nodes/testing/**"])
    turn_down(store, by_scope=True)
    assert standing(store) == {}
    assert list(standing(store, scope=["nodes/testing/**"])) == ["testing/db"]


def test_the_prompt_that_showed_it_is_the_need_too(store):
    seen.recalled(store, "the database tests cannot reach their port")
    turn_down(store, query="connection")
    assert list(standing(store, "the database tests cannot reach their port, again")) != []
    assert standing(store, "the port") == {}


def test_numbers_tell_needs_apart(store):
    seen.evidence(store, query="port 5432")
    turn_down(store, query="port 5432")
    assert list(standing(store, "port 5432")) == ["testing/db"]
    assert standing(store, "port 8080") == {}


def test_the_particulars_say_how_much_was_seen_and_never_why(store):
    name = seen.searched(store, QUERY)
    turn_down(store, why="because of this")
    assert standing(store) == {"testing/db": f"by this session, search {name}"}


def test_a_row_without_a_version_or_a_lesson_without_a_file_stands_for_nothing(store):
    path = rejections.path_of(store, "s1")
    files.replace(path, "---\nsession: s1\n---\n## testing/db\n- query: database tests port\n")
    assert standing(store) == {}
    files.delete(path)
    after_window(store)
    held = seen.holdings(store)
    os.unlink(os.path.join(store.base, "nodes/testing/db.md"))
    assert sticky.standing(held, "s1", QUERY, ()) == {}


def test_traces_that_are_gone_leave_it_unrecorded_which_stands_as_a_window_does(store):
    after_passages(store)
    files.delete(store.selections)
    assert list(standing(store)) == ["testing/db"]
    assert standing(store, f"{QUERY} container") == {}
    os.makedirs(store.selections)
    assert list(standing(store)) == ["testing/db"]


def test_a_page_from_somewhere_else_can_turn_down_and_do_nothing_more(store):
    """It names its session: no other one is kept from anything."""
    after_window(store)
    raw = files.read_text(rejections.path_of(store, "s1"))
    files.replace(rejections.path_of(store, "s2"), raw)
    assert standing(store, session="s2") == {}


def test_recall_leaves_it_out_with_its_reason_and_serves_the_rest(store):
    after_window(store)
    rejected = standing(store, "database tests")
    record = seen.recalled(store, "database tests", rejected=rejected)
    assert [one["node"] for one in record.admitted] == ["testing/slow"]
    [out] = record.excluded
    assert (out["node"], out["reason"]) == ("testing/db", "rejected-earlier")
    assert "container" not in record.text
    assert {one["node"] for one in record.selected} == {"testing/db", "testing/slow"}


def test_its_place_is_not_filled_and_all_of_it_turned_down_is_no_failure(store):
    after_window(store)
    record = seen.recalled(store, QUERY, k=1, rejected={"testing/db": "x", "testing/slow": "x"})
    assert (record.text, record.failure, len(record.excluded)) == ("", None, 1)
    assert record.excluded[0]["reason"] == "rejected-earlier"


def test_a_replay_takes_it_from_the_record_and_asks_no_page(store):
    after_window(store)
    record = seen.recalled(store, QUERY, rejected=standing(store))
    files.delete(rejections.path_of(store, "s1"))
    row = trace.find([store], record.id)
    again = replay.replay(row, seen.holdings(store))
    assert replay.difference(row, again) == ""
    assert {**again} == {**row}
    assert replay.today(row, seen.holdings(store))["testing/db"].startswith("rejected-earlier: ")


def test_of_several_rejections_one_that_stands_is_enough(store):
    after_window(store)
    turn_down(store, query="ship the canary")
    assert list(standing(store)) == ["testing/db"]
    page = rejections.of_session(store, "s1")
    assert len(page.rows) == 2
    assert replace(page.rows[0], where="").query == QUERY


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("database tests", "tests of the database", True),
        ("database test", "database tests", True),
        ("database tests", "database tests slow", True),
        ("database tests", "database slow", False),
        ("database", "database tests", False),
        ("ci db", "go db", False),
        ("", "", False),
        ("the of", "the of", False),
    ],
)
def test_two_queries_are_one_need_where_they_share_two_thirds_of_their_words(one, other, is_same):
    assert sticky.is_alike(sticky.need(one), sticky.need(other)) is is_same
