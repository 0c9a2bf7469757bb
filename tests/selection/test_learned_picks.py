"""Without a record: within a scope, of lessons that are known, in the order of a search."""

from __future__ import annotations

import pytest

from rose.selection.learned import Learned
from rose.store import lessons
from tests.factories import a_lesson_file, a_library, a_store


@pytest.fixture
def store(tmp_path):
    return a_library(tmp_path)


def ids(picks):
    return [one.lesson.id for one in picks]


def test_a_scope_and_a_count_bound_them(store):
    holdings = [lessons.hold(store)]
    assert ids(Learned().pick("tests wait", holdings, ["nodes/deploy/"], 5)) == ["deploy/canary"]
    assert len(Learned().pick("database tests", holdings, [], 1)) == 1


def test_without_a_lesson_nothing_is_picked_and_no_index_made(tmp_path):
    store = a_store(tmp_path)
    assert Learned().pick("database", [lessons.hold(store)], [], 5) == []
    assert not (tmp_path / "repo" / ".rose" / "local" / "search.db").exists()


def test_without_a_word_that_tells_nothing_is_picked(store):
    assert Learned().pick("the of", [lessons.hold(store)], [], 5) == []


def test_a_lesson_that_another_process_indexed_is_not_picked(store):
    before = lessons.hold(store)
    a_lesson_file(store, "nodes/new.md", "# Database database\n")
    assert "new" in ids(Learned().pick("database", [lessons.hold(store)], [], 5))
    assert "new" not in ids(Learned().pick("database", [before], [], 5))
