from __future__ import annotations

from rose.selection import rerank
from rose.selection.judge import Passage
from tests.selection.judging import ScriptedJudge


def test_the_highest_score_comes_first_and_ties_stay_in_their_order():
    scores = {"a": 0.2, "b": 0.9, "c": 0.2, "d": 0.9, "e": 0.5}
    judge = ScriptedJudge(lambda item: scores[item.text])
    found = rerank.rerank(judge, "q", [Passage(text) for text in scores])
    assert found == [(1, 0.9), (3, 0.9), (4, 0.5), (0, 0.2), (2, 0.2)]
    assert [mode for mode, _, _ in judge.asked] == ["rerank"]


def test_without_a_passage_nobody_is_asked():
    judge = ScriptedJudge(lambda _: 1)
    assert rerank.rerank(judge, "q", []) == []
    assert judge.asked == []
