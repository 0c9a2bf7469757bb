"""The figures behind `rose route`, without a terminal."""

from __future__ import annotations

import pytest

from rose.report import rulebook
from rose.routing.evidence import Standing
from rose.routing.rules import Rule


def a_rule(rule_id, effect="prefer", targets=("nodes/a/",), when="docs work", status="active"):
    return Rule(rule_id, when, "read", effect=effect, targets=targets, status=status)


def test_several_opposite_rules_of_one_condition_are_one_question():
    rules = [
        a_rule("r_1"),
        a_rule("r_2", "skip", ("nodes/a/x.md",), when="Docs work."),
        a_rule("r_3", "skip", ("nodes/a/*.md",)),
    ]
    assert rulebook.questions(rules) == [
        rulebook.Question(("r_1", "r_2", "r_3"), "docs work", ("nodes/a/",))
    ]


@pytest.mark.parametrize(
    "other",
    [
        a_rule("r_2"),
        a_rule("r_2", "skip", ("nodes/b/",)),
        a_rule("r_2", "skip", when="api work"),
        a_rule("r_2", "skip", status="retired"),
        a_rule("r_2", "skip", status="declined"),
        a_rule("r_2", "skip", ()),
    ],
)
def test_rules_that_can_both_hold_are_no_question(other):
    assert rulebook.questions([a_rule("r_1"), other]) == []


def test_a_record_tells_live_from_replayed_credit():
    standing = Standing(helped=5, wasted=3, seen=9, live_helped=2, live_wasted=1, verdicts=4)
    found = rulebook.record_json(standing)
    assert found["live"] == {"helped": 2, "wasted": 1}
    assert found["replayed"] == {"helped": 3, "wasted": 2}


def test_the_arithmetic_adds_up_to_the_score():
    standing = Standing(helped=5, wasted=3, seen=9)
    assert rulebook.arithmetic(standing) == "(5 - 3/2) / (9 + 10) + sqrt(0.05 / (9 + 1)) = 0.255"
