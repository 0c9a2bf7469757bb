"""Which rules contradict each other, and when that is settled."""

from __future__ import annotations

import pytest

from rose.routing import questions
from rose.routing.rules import Rule


def a_rule(rule_id, effect="prefer", targets=("nodes/a/",), when="docs work", status="active"):
    return Rule(rule_id, when, "read", effect=effect, targets=targets, status=status)


def test_several_opposite_rules_of_one_condition_are_one_question():
    rules = [
        a_rule("r_1"),
        a_rule("r_2", "skip", ("nodes/a/x.md",), when="Docs work."),
        a_rule("r_3", "skip", ("nodes/a/*.md",)),
    ]
    assert questions.find(rules) == [
        questions.Question(("r_1", "r_2", "r_3"), "docs work", ("nodes/a/",))
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
    assert questions.find([a_rule("r_1"), other]) == []


def test_two_rules_that_a_person_approved_both_hold():
    rules = [
        Rule("r_1", "docs work", "read", targets=("nodes/a/",), approval="approved"),
        Rule("r_2", "docs work", "no", effect="skip", targets=("nodes/a/",), approval="approved"),
    ]
    assert questions.find(rules) == []
    assert questions.find([rules[0], a_rule("r_2", "skip")]) != []


def test_a_question_is_one_line_with_its_rules():
    question = questions.Question(("r_1", "r_2"), "docs work", ("nodes/a/", "nodes/b.md"))
    assert question.line() == "When docs work: nodes/a/, nodes/b.md: r_1 or r_2"


def test_an_opponent_stands_says_the_opposite_and_shares_a_lesson():
    rules = [
        a_rule("r_1"),
        a_rule("r_2", "skip"),
        a_rule("r_3", "skip", ("nodes/b/",)),
        a_rule("r_4", "skip", status="declined"),
        a_rule("r_5", "skip", when="api work"),
    ]
    found = questions.opponents("docs work", "prefer", ("nodes/*/x.md",), rules)
    assert [rule.id for rule in found] == ["r_2", "r_3"]
