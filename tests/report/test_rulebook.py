"""The figures behind `rose route`, without a terminal."""

from __future__ import annotations

from rose.report import rulebook
from rose.routing.evidence import Standing


def test_a_record_tells_live_from_replayed_credit():
    standing = Standing(helped=5, wasted=3, seen=9, live_helped=2, live_wasted=1, verdicts=4)
    found = rulebook.record_json(standing)
    assert found["live"] == {"helped": 2, "wasted": 1}
    assert found["replayed"] == {"helped": 3, "wasted": 2}


def test_the_arithmetic_adds_up_to_the_score():
    standing = Standing(helped=5, wasted=3, seen=9)
    assert rulebook.arithmetic(standing) == "(5 - 3/2) / (9 + 10) + sqrt(0.05 / (9 + 1)) = 0.255"
