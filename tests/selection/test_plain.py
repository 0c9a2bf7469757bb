"""The plain selector: the order of a search, within a scope, of lessons that are known."""

from __future__ import annotations

import pytest

from rose.selection import search
from rose.store import lessons
from tests.factories import a_lesson_file, a_library, a_store
from tests.selection.plain import ByWords


@pytest.fixture
def store(tmp_path):
    return a_library(tmp_path)


def ids(picks):
    return [one.lesson.id for one in picks]


def test_picks_are_those_of_a_search_and_say_what_gave_their_score(store):
    holdings = [lessons.hold(store)]
    rows = search.search(holdings, "database tests").rows
    picks = ByWords().pick("database tests", holdings, [], 5)
    assert [(one.lesson.id, round(one.score, 6)) for one in picks] == [
        (row.node, row.score) for row in rows
    ]
    assert all(one.why == {"text": one.score} and one.is_worth for one in picks)


def test_a_scope_and_a_count_bound_them(store):
    holdings = [lessons.hold(store)]
    assert ids(ByWords().pick("tests wait", holdings, ["nodes/deploy/"], 5)) == ["deploy/canary"]
    assert len(ByWords().pick("database tests", holdings, [], 1)) == 1


def test_without_a_word_or_a_lesson_nothing_is_picked_and_no_index_made(tmp_path):
    store = a_store(tmp_path)
    assert ByWords().pick("database", [lessons.hold(store)], [], 5) == []
    a_lesson_file(store, "nodes/a.md", "# A\n")
    assert ByWords().pick("the of", [lessons.hold(store)], [], 5) == []
    assert not (tmp_path / "repo" / ".rose" / "local" / "search.db").exists()


def test_a_lesson_that_another_process_indexed_is_not_picked(store):
    before = lessons.hold(store)
    a_lesson_file(store, "nodes/new.md", "# Database database\n")
    assert "new" in ids(ByWords().pick("database", [lessons.hold(store)], [], 5))
    assert "new" not in ids(ByWords().pick("database", [before], [], 5))
