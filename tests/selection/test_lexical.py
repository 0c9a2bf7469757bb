from __future__ import annotations

import math

import pytest

from rose.selection.lexical import Bm25

TEXTS = {"b": ["db", "port"], "a": ["db", "port"], "c": ["db", "db", "db", "x", "y", "z"]}


def test_a_score_is_bm25():
    n, df, average = 3, 2, 10 / 3
    worth = math.log(1 + (n - df + 0.5) / (df + 0.5))
    part = 2.2 / (1 + 1.2 * (0.25 + 0.75 * 2 / average))
    assert Bm25(TEXTS).hits(["port"], 5) == [
        ("a", pytest.approx(worth * part)),
        ("b", pytest.approx(worth * part)),
    ]


def test_what_is_not_within_is_left_out_and_changes_no_score():
    search = Bm25(TEXTS)
    whole = dict(search.hits(["db"], 5))
    assert search.hits(["db", "db"], 5, within={"a"}) == [("a", whole["a"])]
    assert [name for name, _ in search.hits(["db"], 2)] == sorted(
        whole, key=lambda name: (-whole[name], name)
    )[:2]


def test_an_unknown_term_and_an_empty_store_find_nothing():
    assert Bm25(TEXTS).hits(["nothing"], 5) == []
    assert Bm25({}).hits(["db"], 5) == []
