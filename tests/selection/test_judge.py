from __future__ import annotations

import math

import pytest

from rose.selection import judge as judging
from rose.selection.judge import Item, JudgeFailure, Passage
from tests.selection.judging import ScriptedJudge


def items(count):
    return [Item(str(number), f"text {number}", "whole") for number in range(count)]


class Answering:
    """A judge that gives one answer whatever it is asked."""

    name = "fixed"

    def __init__(self, answer) -> None:
        self.answer = answer

    def score(self, _mode, _query, _items):
        return self.answer


@pytest.mark.parametrize(
    ("count", "batches"), [(0, []), (1, [1]), (30, [30]), (31, [30, 1]), (95, [30, 30, 30, 5])]
)
def test_a_judge_is_asked_about_thirty_items_at_most_at_a_time(count, batches):
    judge = ScriptedJudge(lambda item: int(item.id) / 100)
    scores = judging.score(judge, "filter", "q", items(count))
    assert scores == {str(number): number / 100 for number in range(count)}
    assert [len(asked) for _, _, asked in judge.asked] == batches


@pytest.mark.parametrize("score", [0, 1, 0.5, 0.0, 1.0])
def test_a_score_may_be_any_number_from_0_to_1(score):
    assert judging.score(Answering({"0": score}), "filter", "q", items(1)) == {"0": score}


@pytest.mark.parametrize(
    "score", [True, False, None, "0.5", -0.01, 1.01, math.nan, math.inf, 10**400, [], {}]
)
def test_what_is_no_number_from_0_to_1_fails_the_whole_run(score):
    with pytest.raises(JudgeFailure, match="gave id 1 no number from 0 to 1"):
        judging.score(Answering({"0": 0.5, "1": score}), "filter", "q", items(2))


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({}, "left out 2 of 2 ids"),
        ({"0": 1}, "left out 1 of 2 ids"),
        ({"0": 1, "1": 1, "2": 1}, "named 1 that it was not asked"),
        ({"0": 1, "2": 1}, "left out 1 of 2 ids and named 1"),
    ],
)
def test_a_missing_or_surplus_id_fails_the_whole_run(answer, said):
    with pytest.raises(JudgeFailure, match=said):
        judging.score(Answering(answer), "filter", "q", items(2))


def test_a_later_batch_that_fails_leaves_nothing_of_the_first():
    judge = ScriptedJudge(lambda item: 0.5 if int(item.id) < 30 else 2)
    with pytest.raises(JudgeFailure):
        judging.score(judge, "filter", "q", items(31))
    assert len(judge.asked) == 2


def test_a_judge_sees_a_passage_below_what_is_known_of_it():
    judge = ScriptedJudge(lambda item: len(item.text) / 10)
    passages = [Passage("one", ("title: One", "path: a")), Passage("three")]
    assert judging.score_passages(judge, "rerank", "q", passages) == [0.3, 0.5]
    assert judge.asked == [
        (
            "rerank",
            "q",
            [Item("0", "one", "title: One\npath: a\none"), Item("1", "three", "three")],
        )
    ]
