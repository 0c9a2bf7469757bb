from __future__ import annotations

from rose.selection import weights
from rose.selection.weights import NAMES, Weights

ROWS = {"a": [1.0, *[0.0] * (len(NAMES) - 1)], "b": [0.0, 1.0, *[0.0] * (len(NAMES) - 2)]}
FOLDERS = {"a": ("x/",), "b": ("y/",)}


def test_a_step_raises_what_was_used_above_what_was_not():
    found = Weights()
    found.learn(["outage"], {"a": 0.6, "b": -0.6}, ROWS, FOLDERS)
    assert found.of[0] > weights.START["text"]
    assert found.of[1] < weights.START["depth"]
    scores = found.word_scores(["outage"])
    assert scores["a"] > 0 > scores["b"]
    assert scores["x/"] > 0 > scores["y/"]
    assert found.bias("a") > 0 > found.bias("b")


def test_steps_grow_smaller_with_the_evidence():
    found, before, steps = Weights(), weights.START["text"], []
    for _ in range(3):
        found.learn([], {"a": 0.6}, ROWS, FOLDERS)
        steps.append(found.of[0] - before)
        before = found.of[0]
    assert steps[0] > steps[1] > steps[2] > 0


def test_a_negligible_error_leaves_no_word():
    found = Weights()
    found.learn(["outage"], {"a": 0.0009}, ROWS, FOLDERS)
    assert found.word_scores(["outage"]) == {}


def test_a_lesson_that_could_not_be_chosen_is_learned_from_all_the_same():
    found = Weights()
    found.meet(["outage"], "a", ["x/"])
    scores = found.word_scores(["outage"])
    assert scores["a"] >= scores["x/"] > 0
    assert found.of == [*weights.START.values()]
