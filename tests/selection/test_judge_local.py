from __future__ import annotations

import importlib.util
import itertools

import pytest

from rose.selection import compress, judge_local, rerank
from rose.selection import filter as filtering
from rose.selection.judge import Item, JudgeFailure, Passage
from rose.selection.judge_local import LocalJudge

QUERY = "how do I run the integration tests"
ABOUT = Passage(
    "Run `pytest tests/integration` once the database is up. Bananas are yellow.",
    ("title: Integration tests",),
)
FRUIT = Passage("Bananas are yellow. They grow in the south.")


@pytest.mark.skipif(
    importlib.util.find_spec("wordllama") is not None, reason="wordllama is installed"
)
def test_a_local_judge_that_is_not_installed_says_how_to_get_it():
    with pytest.raises(JudgeFailure, match="-m pip install 'wordllama"):
        LocalJudge()


@pytest.fixture(scope="module")
def judge():
    if reason := judge_local.hindrance():
        pytest.skip(reason)
    return LocalJudge()


def test_it_names_its_package_and_weights(judge):
    assert judge.name.startswith("local (wordllama 0.")
    assert judge.name.endswith(", l2_supercat_256)")


def test_it_orders_keeps_and_cuts_by_likeness(judge):
    assert [one.at for one in rerank.rerank(judge, QUERY, [FRUIT, ABOUT])] == [1, 0]
    assert [one.at for one in filtering.keep(judge, QUERY, [FRUIT, ABOUT])] == [1]
    (found,) = compress.compress(judge, QUERY, [FRUIT, ABOUT])
    assert found.text() == "Run `pytest tests/integration` once the database is up."


def test_what_holds_no_known_word_is_like_nothing(judge):
    items = [Item("0", "", ""), Item("1", " \n", " \n"), Item("2", "x", "x")]
    scores = judge.score("filter", QUERY, items)
    assert [scores["0"], scores["1"]] == [0, 0]
    assert judge.score("compress", "", items) == {"0": 0, "1": 0, "2": 0}


def test_a_score_keeps_the_order_of_likenesses_and_never_reaches_1():
    likenesses = [-1, 0, 0.01, 0.1, 0.17, 0.5, 1]
    scores = [judge_local._scaled(likeness, "filter") for likeness in likenesses]
    assert scores[:2] == [0, 0]
    assert scores[4] == 0.5
    assert all(low < high for low, high in itertools.pairwise(scores[1:]))
    assert scores[-1] < 1
