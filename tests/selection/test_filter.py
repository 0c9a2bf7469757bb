from __future__ import annotations

from rose.selection import filter as filtering
from rose.selection.judge import Passage
from tests.selection.judging import ScriptedJudge

SCORES = {"a": 0.5, "b": 0.49, "c": 1, "d": 0}
PASSAGES = [Passage(text) for text in SCORES]


def scripted():
    return ScriptedJudge(lambda item: SCORES[item.text])


def test_what_reaches_the_threshold_stays_in_its_order():
    judge = scripted()
    assert filtering.keep(judge, "q", PASSAGES) == [(0, 0.5), (2, 1)]
    assert [mode for mode, _, _ in judge.asked] == ["filter"]


def test_a_threshold_of_0_keeps_all_and_none_reaching_it_is_an_answer():
    assert len(filtering.keep(scripted(), "q", PASSAGES, 0)) == 4
    assert filtering.keep(ScriptedJudge(lambda _: 0.99), "q", PASSAGES, 1) == []
