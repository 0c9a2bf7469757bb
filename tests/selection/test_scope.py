"""A scope narrows what the stores know, and leads nowhere else."""

from __future__ import annotations

import pytest

from rose.selection import scope
from rose.store import lessons
from tests.factories import a_lesson_file, a_store


@pytest.fixture
def holdings(tmp_path):
    store = a_store(tmp_path)
    a_lesson_file(store, "nodes/testing/db.md")
    a_lesson_file(store, "nodes/deploy/canary.md", "---\nid: ship\n---\n# Canary\n")
    a_lesson_file(store, "nodes/old.md", "---\nstatus: archived\n---\n# Old\n")
    return [lessons.hold(store)]


def test_archived_lessons_are_known_but_do_not_count(holdings):
    assert sorted(scope.everything(holdings)) == ["old", "ship", "testing/db"]
    assert sorted(scope.active(holdings)) == ["ship", "testing/db"]


@pytest.mark.parametrize(
    ("globs", "left"),
    [
        (["nodes/testing/"], {"testing/db"}),
        (["./nodes/testing"], {"testing/db"}),
        (["ship"], {"ship"}),
        (["testing/*", "nodes/deploy/**"], {"ship", "testing/db"}),
        (["../**"], set()),
        (["/"], set()),
    ],
)
def test_a_scope_is_held_against_ids_and_store_paths(holdings, globs, left):
    assert scope.within(scope.active(holdings), globs) == left


def test_without_a_scope_nothing_is_narrowed(holdings):
    assert scope.within(scope.active(holdings), []) is None
    assert all(scope.holds([], lesson) for _, lesson in scope.active(holdings).values())


def test_the_first_store_hides_an_equal_id_of_the_second(tmp_path):
    first, second = a_store(tmp_path, "one"), a_store(tmp_path, "two")
    a_lesson_file(first, "nodes/same.md", "---\nstatus: archived\n---\n# One\n")
    a_lesson_file(second, "nodes/same.md", "# Two\n")
    assert scope.active([lessons.hold(first), lessons.hold(second)]) == {}
