"""What the lessons of a skip rule were when somebody last looked at them."""

from __future__ import annotations

import os

import pytest

from rose import files
from rose.routing import skips
from rose.routing.rules import Rule
from rose.routing.skips import Noted
from tests.factories import a_store

SKIP = Rule("r_0000aa", "w", "t", "skip", targets=("nodes/deploy/",))
LESSONS = {"nodes/deploy/a.md": "v1", "nodes/deploy/b.md": "v2", "nodes/other.md": "v3"}


def test_the_last_note_on_a_rule_counts_and_names_its_own_lessons(tmp_path):
    store = a_store(tmp_path)
    assert skips.read(store) == {}
    skips.note(store, SKIP, LESSONS, 3)
    skips.note(store, SKIP, {**LESSONS, "nodes/deploy/a.md": "v9"}, 4)
    noted = {"nodes/deploy/a.md": "v9", "nodes/deploy/b.md": "v2"}
    assert skips.read(store) == {"r_0000aa": Noted(4, noted)}


def test_a_prefer_rule_and_one_that_leads_to_too_much_leave_no_note(tmp_path):
    store = a_store(tmp_path)
    skips.note(store, Rule("r_0000bb", "w", "t", targets=("nodes/deploy/",)), LESSONS, 1)
    many = {f"nodes/deploy/{n}.md": "v" for n in range(skips.MOST_LESSONS + 1)}
    skips.note(store, SKIP, many, 1)
    assert not os.path.exists(store.skips)


def test_a_disk_that_refuses_costs_the_note_and_nothing_else(tmp_path):
    store = a_store(tmp_path)
    files.replace(store.local, "a file in place of the folder")
    skips.note(store, SKIP, LESSONS, 1)


def test_foreign_lines_are_passed_over(tmp_path):
    store = a_store(tmp_path)
    for line in ("[]", '{"rule":7}', '{"rule":"r_0000aa","lessons":[]}', '{"torn'):
        files.append_line(store.skips, line)
    skips.note(store, SKIP, LESSONS, 1)
    files.append_line(store.skips, '{"rule":"r_0000bb","n":-3,"lessons":{"a":7}}')
    assert skips.read(store)["r_0000bb"] == Noted(0, {"a": "7"})
    assert set(skips.read(store)) == {"r_0000aa", "r_0000bb"}


@pytest.mark.parametrize(
    ("now", "found"),
    [
        ({"a": "1", "b": "2"}, []),
        ({"a": "9", "b": "2"}, [("a", "changed")]),
        ({"a": "1", "b": "2", "c": "3"}, [("c", "new")]),
        ({"a": "1"}, [("b", "gone")]),
        ({"a": "1", "moved/b": "2"}, []),
        ({"a": "2", "b": "1"}, [("a", "changed"), ("b", "changed")]),
        ({}, [("a", "gone"), ("b", "gone")]),
    ],
)
def test_a_lesson_is_known_by_its_path_and_its_content(now, found):
    assert [*skips.differences(Noted(1, {"a": "1", "b": "2"}), now)] == found
