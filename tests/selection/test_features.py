from __future__ import annotations

import math

import pytest

from rose.selection import features
from rose.selection.past import Past, task_of
from rose.selection.weights import NAMES
from tests.selection.learning import a_ground


def rows_of(prompt, past=None, **ground):
    found = features.find(task_of(prompt), prompt.split(), past or Past(), a_ground(**ground))
    return {name: dict(zip(NAMES, row, strict=True)) for name, row in found.rows.items()}


def test_every_feature_has_its_weight():
    (row,) = features.find(task_of("crawler"), ["crawler"], Past(), a_ground()).rows.values()
    assert len(row) == len(NAMES)


def test_a_name_that_a_task_says_counts_most_in_its_last_part():
    name = features.name_of("plugins/inputs/sql_server")
    assert name.coverage(frozenset(["sql", "server", "sql_server"])) == pytest.approx(1 / 1.75)
    assert name.coverage(frozenset(["plugin"])) == pytest.approx(0.25 / 1.75)
    assert name.folders == ("plugins/", "plugins/inputs/")


def test_a_name_is_like_a_word_that_holds_it():
    grams = frozenset(features._grams("junitxml"))
    assert features.name_of("src/junit").likeness(grams) == 1
    assert features.name_of("src/").likeness(grams) == 0


def test_the_candidates_are_lexical_hits_voted_known_recent_and_ruled_lessons():
    past = Past()
    past.add(task_of("outage"), ["deploy/rollback", "gone"])
    rows = rows_of("crawler outage", past, rules={"testing/db": 0.2})
    assert set(rows) == {"docs/links", "deploy/rollback", "testing/db"}
    assert rows["docs/links"]["text"] == 1
    assert rows["deploy/rollback"]["votes"] > 0
    assert rows["deploy/rollback"]["recent"] == pytest.approx(math.exp(-1 / 150))
    assert rows["testing/db"]["tasks"] == 0


def test_the_number_of_candidates_does_not_grow_with_the_store(monkeypatch):
    monkeypatch.setattr(features, "LEXICAL", 5)
    texts = {f"n/l{n:03}": "crawler" for n in range(50)}
    assert len(rows_of("crawler", texts=texts)) == 5
