from __future__ import annotations

import math

import pytest

from rose.routing import rank
from rose.routing.evidence import Standing
from tests.routing.samples import a_rule


def _standing(helped: int, wasted: int, seen: int) -> Standing:
    return Standing(helped=helped, wasted=wasted, seen=seen)


def test_the_score_is_net_improvement_with_optimism():
    assert rank.score(Standing()) == math.sqrt(0.05)
    assert rank.score(_standing(6, 2, 10)) == 5 / 20 + math.sqrt(0.05 / 11)


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (_standing(60, 40, 100), _standing(1, 0, 1)),
        (_standing(0, 0, 0), _standing(0, 3, 3)),
        (_standing(0, 0, 0), _standing(0, 0, 50)),
        (_standing(5, 0, 10), _standing(4, 0, 10)),
        (_standing(5, 1, 10), _standing(5, 2, 10)),
    ],
)
def test_the_better_record_ranks_first(better, worse):
    assert rank.score(better) > rank.score(worse)


def test_ties_go_to_more_helped_then_fewer_tokens_then_the_smaller_id():
    ids = ["r_00000d", "r_00000c", "r_00000b", "r_00000a"]
    # Helping once and wasting twice is the net of doing nothing.
    standings = {rule_id: _standing(0, 0, 9) for rule_id in ids}
    standings["r_00000d"] = _standing(1, 2, 9)
    costs = {"r_00000d": 90, "r_00000c": 5, "r_00000b": 9, "r_00000a": 9}
    ordered = rank.order([a_rule(rule_id) for rule_id in ids], standings, costs)
    assert [rule.id for rule in ordered] == ["r_00000d", "r_00000c", "r_00000a", "r_00000b"]
