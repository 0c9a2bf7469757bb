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


HITS = [("a", 3.0), ("b", 2.9), ("c", 2.8)]


def effects_of(rules, cases):
    return effects.effects(rules, cases, STANDING, PATHS, lambda _task: HITS)


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
    assert effects_of([young], cases)["r_00000a"] == effects.Effect(young)


def test_one_rule_alone_is_measured_as_it_is_among_all_and_no_other_task_is_searched():
    other = a_rule("r_00000b", match=("word:docs",), targets=("nodes/c.md",))
    twin = a_rule("r_00000c", match=("word:suite",), targets=("nodes/d.md",))
    standing = {**STANDING, "r_00000c": Standing(helped=1, wasted=9)}
    rules = [GOOD, other, twin]
    cases = [a_case(1, ("d",)), a_case(2, ("c",), kinds=("word:docs",), task="the docs")]
    asked = []

    def search(task):
        asked.append(task)
        return HITS

    def measured(only):
        return effects.effects(rules, cases, standing, PATHS, search, only=only)

    whole = measured(None)
    assert asked == ["the suite", "the docs"]
    for rule in rules:
        asked.clear()
        assert measured((rule.id,)) == {rule.id: whole[rule.id]}
        assert asked == ["the docs" if rule is other else "the suite"]


def test_a_rule_to_skip_a_lesson_is_met_and_changes_nothing():
    skip = a_rule("r_00000b", match=("word:suite",), targets=("nodes/a.md",), effect="skip")
    row = effects_of([skip], [a_case(1, ("a",))])["r_00000b"]
    assert (row.met, row.changed) == (1, 0)
