from __future__ import annotations

import pytest

from rose.evaluate import measure


def weigh(ranked, served, wanted, **about):
    given = {"split": "test", "is_named": False, **about}
    return measure.weigh(ranked, served, wanted, {"a": 10, "b": 20, "c": 40, "d": 80}.get, **given)


def test_the_measures_of_one_episode():
    found = weigh(["b", "a", "c", "d"], ["b", "a"], {"a", "d"}).values
    assert found["p1"] == 0
    assert found["p3"] == pytest.approx(1 / 3)
    assert (found["r3"], found["r5"]) == (0.5, 1.0)
    assert (found["noise1"], found["noise3"], found["served_noise"]) == (20, 60, 20)
    assert found["mrr"] == 0.5
    assert found["ndcg"] == pytest.approx((0.6309297 + 0.4306766) / 1.6309297)


def test_an_episode_without_a_present_lesson_has_no_recall_and_counts_as_noise():
    found = weigh(["b"], ["b"], set()).values
    assert "r3" not in found
    assert "mrr" not in found
    assert (found["p1"], found["noise3"]) == (0, 20)


def test_an_episode_for_which_nothing_was_chosen_has_no_precision():
    assert "p3" not in weigh([], [], {"a"}).values


def test_what_was_served_is_added_up_over_all_episodes():
    both = [weigh(["a"], ["a", "b"], {"a"}), weigh(["c"], ["c"], {"d", "a"})]
    found = measure.summary(both)
    assert (found["served_p"], found["served_r"]) == (pytest.approx(1 / 3), pytest.approx(1 / 3))
    assert found["served_f1"] == pytest.approx(2 / 6)
    assert found["served"] == 1.5


def test_named_and_unnamed_tasks_are_told_apart():
    both = [weigh(["a"], [], {"a"}, is_named=True), weigh(["b"], [], {"a"})]
    found = measure.parts(both)
    assert (found["test_named"]["r1"], found["test_unnamed"]["r1"]) == (1, 0)
    assert found["train"] == {}


def test_a_paired_interval_holds_the_difference_and_is_the_same_each_time():
    better = [weigh(["a"], [], {"a"})] * 30 + [weigh(["b"], [], {"a"})] * 10
    worse = [weigh(["b"], [], {"a"})] * 40
    mean, low, high = measure.against(better, worse, "r1")
    assert mean == 0.75
    assert 0.5 < low < 0.75 < high < 0.95
    assert measure.against(better, worse, "r1") == (mean, low, high)


def test_nothing_to_compare_gives_no_interval():
    assert measure.against([weigh([], [], set())], [weigh([], [], set())], "r3") is None
