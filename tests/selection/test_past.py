from __future__ import annotations

import pytest

from rose.selection import past
from rose.selection.past import Past, Task


def a_past(*rows: tuple[str, list[str]]):
    found = Past()
    for words, used in rows:
        found.add(past.task_of(words), used)
    return found


def test_a_task_is_its_words_once_its_pairs_and_its_first_word():
    assert past.task_of("Tests of the slow suite, slow tests") == Task(
        ("slow", "suite", "test"), ("slow suite", "slow test", "suite slow", "test slow"), "test"
    )
    assert past.task_of("of the") == Task((), (), "")


def test_a_lesson_used_twice_in_one_case_counts_once():
    found = a_past(("outage", ["a", "a", "b"]))
    assert (found.uses, found.used) == ({"a": 1, "b": 1}, [("a", "b")])
    assert found.together == {"a": {"b": 1}, "b": {"a": 1}}


def test_a_word_that_came_with_one_lesson_ties_more_than_one_that_came_with_all():
    found = a_past(*[(f"outage w{n}", ["a"]) for n in range(4)], ("outage", ["b"]))
    _, ties = found.tasks(past.task_of("w1 outage"))
    assert ties["a"] > ties["b"] > 0
    assert ties["a"] == pytest.approx(1 - (1 - 1 / 2.5) * (1 - 4 / 6.5))


def test_only_present_lessons_get_votes_and_the_most_voted_gets_one():
    rows = [("outage", ["a"]), ("outage", ["a"]), ("outage", ["gone"]), ("other", ["b"])]
    votes = a_past(*rows).votes(past.task_of("outage"), {"a", "b"})
    assert votes == {"a": 1.0}


def test_a_single_faint_vote_stays_faint():
    row = " ".join(f"w{n}x" for n in range(40))
    votes = a_past((row, ["a"])).votes(past.task_of("w1x"), {"a"})
    assert 0 < votes["a"] < 0.5


def test_a_later_vote_counts_more_than_an_old_one():
    old = [("outage", ["a"])]
    between = [("other", ["c"])] * 400
    votes = a_past(*old, *between, ("outage", ["b"])).votes(past.task_of("outage"), {"a", "b"})
    assert votes["b"] > votes["a"]
