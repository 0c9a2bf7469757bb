from __future__ import annotations

from rose.selection import compress
from rose.selection.judge import Passage
from tests.selection.judging import ScriptedJudge

TEXT = "# Ports\n\nUse 5432. It is taken on CI.\n\n```sh\nmake db. x\n```\nTea is nice."


def keeping(*parts: str):
    return ScriptedJudge(lambda item: float(any(part in item.text for part in parts)))


def test_the_units_that_stay_are_copied_in_their_order():
    (found,) = compress.compress(keeping("taken", "make", "Ports"), "q", [Passage(TEXT)])
    assert found.at == 0
    assert found.text() == "# Ports\nIt is taken on CI.\n```sh\nmake db. x\n```"


def test_a_passage_without_a_unit_that_stays_is_left_out():
    passages = [Passage("Tea."), Passage(TEXT), Passage(""), Passage("Tea. Make tea.")]
    found = compress.compress(keeping("5432", "Make"), "q", passages)
    assert [(one.at, one.text()) for one in found] == [(1, "Use 5432."), (3, "Make tea.")]


def test_the_judge_sees_the_whole_text_with_each_unit():
    judge = keeping("x")
    compress.compress(judge, "q", [Passage("One. Two.", ("title: T",)), Passage("Three.")])
    ((mode, query, asked),) = judge.asked
    assert (mode, query) == ("compress", "q")
    assert [(item.text, item.document) for item in asked] == [
        ("One.", "title: T\nOne. Two."),
        ("Two.", "title: T\nOne. Two."),
        ("Three.", "Three."),
    ]
    assert len({item.id for item in asked}) == 3


def test_the_threshold_is_the_least_score_that_stays():
    judge = ScriptedJudge(lambda item: 0.7 if "One" in item.text else 0.69)
    (found,) = compress.compress(judge, "q", [Passage("One. Two.")], 0.7)
    assert found.text() == "One."


def test_blank_texts_are_nothing_to_ask_about():
    judge = keeping("x")
    assert compress.compress(judge, "q", [Passage(" \n"), Passage("")]) == []
    assert judge.asked == []
