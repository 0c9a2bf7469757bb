"""Verdicts: what became of a delivered rule, one by one."""

from __future__ import annotations

import pytest

from rose.reflection.verdicts import verdict
from rose.routing.rules import Rule

PREFER = Rule("r_000001", "w", "t", targets=("nodes/a/",), match=("word:db",))
WORDS = Rule("r_000002", "w", "t", targets=("nodes/a/",))
SKIP = Rule("r_000003", "w", "t", effect="skip", targets=("nodes/a/",), match=("word:db",))
A, B, C = "nodes/a/x.md", "nodes/a/y.md", "nodes/c/z.md"


@pytest.mark.parametrize(
    ("rule", "kinds", "opened", "used", "expected"),
    [
        (PREFER, [], [A], [A], "followed-useful"),
        (PREFER, [], [A, B], [B], "followed-useful"),
        (PREFER, [], [A], [], "followed-useless"),
        (PREFER, [], [A], [C], "followed-useless"),
        (PREFER, [], [A], [B], "followed-useless"),
        (PREFER, ["word:db"], [], [], "ignored"),
        (PREFER, ["word:db"], [C], [C], "ignored"),
        (PREFER, ["word:x"], [], [], "not-applicable"),
        (WORDS, ["word:db"], [], [], "unknown"),
        (WORDS, [], [A], [A], "followed-useful"),
        (SKIP, ["word:db"], [A], [A], "misled"),
        (SKIP, ["word:db"], [], [A], "misled"),
        (SKIP, ["word:db"], [A], [], "unknown"),
        (SKIP, ["word:db"], [], [], "unknown"),
    ],
)
def test_the_verdict_on_a_delivered_rule(rule, kinds, opened, used, expected):
    assert verdict(rule, kinds, opened, used) == expected
