from __future__ import annotations

from rose.evaluate import effects
from rose.routing.cases import Case
from rose.routing.evidence import Standing
from tests.routing.samples import a_rule

PATHS = {"a": "nodes/a.md", "b": "nodes/b.md", "c": "nodes/c.md", "d": "nodes/d.md"}
GOOD = a_rule("r_00000a", match=("word:suite",), targets=("nodes/d.md",))
STANDING = {"r_00000a": Standing(helped=8), "r_00000b": Standing(helped=8)}


def a_case(n, used, kinds=("word:suite",), task="the suite"):
    return Case(f"s{n}", n, task=task, kinds=kinds, used=used)


def effects_of(rules, cases):
    hits = [("a", 3.0), ("b", 2.9), ("c", 2.8)]
    return effects.effects(rules, cases, STANDING, PATHS, lambda _task: hits)


def test_a_rule_is_told_what_it_brought_among_the_first_three():
    found = effects_of([GOOD], [a_case(1, ("d",)), a_case(2, ("c",)), a_case(3, ("a",))])
    row = found["r_00000a"]
    assert (row.met, row.changed, row.gained, row.lost, row.net) == (3, 3, 1, 1, 0)
    assert row.examples == ["s1"]


def test_two_rules_for_one_lesson_change_nothing_by_themselves():
    twin = a_rule("r_00000b", match=("word:suite",), targets=("nodes/d.md",))
    found = effects_of([GOOD, twin], [a_case(1, ("d",))])
    assert [row.changed for row in found.values()] == [0, 0]


def test_tasks_before_a_rule_was_born_or_without_use_say_nothing():
    young = a_rule("r_00000a", match=("word:suite",), targets=("nodes/d.md",), born=5)
    cases = [
        a_case(5, ("d",)),
        a_case(6, ()),
        a_case(7, ("d",), kinds=()),
        a_case(8, ("d",), task=""),
    ]
    assert effects_of([young], cases)["r_00000a"] == effects.Effect()
