from __future__ import annotations

import os

import pytest

from rose.routing import evidence, ledger, standings, table
from tests.factories import a_ledger_line
from tests.routing.samples import a_rule, a_store, put, record


@pytest.fixture
def store(tmp_path):
    made = a_store(tmp_path)
    put(made, a_rule("r_0000aa", match=["word:tests"]))
    record(made, *(case(number) for number in range(1, 4)))
    return made


def case(n: int, **fields: object) -> dict[str, object]:
    known = {"session": f"s{n}", "n": n, "rows": 1, "kinds": ["word:tests"]}
    return {"v": 1, **known, "used": ["testing/db"], **fields}


def path_of(lesson: str) -> str:
    return f"nodes/{lesson}.md"


def read(store, paths=None):
    return standings.read(store, table.read(store, ("nodes",)).rules, path_of, paths or {})


def afresh(store):
    rules = table.read(store, ("nodes",)).rules
    return evidence.standings(rules, ledger.read(store).cases, path_of)


def test_what_is_kept_is_what_the_ledger_says(store):
    first = read(store)
    assert first == read(store) == afresh(store)
    assert first["r_0000aa"].helped == 3


def test_an_unmoved_ledger_is_not_read_again(store, monkeypatch):
    read(store)
    kept = read(store)
    monkeypatch.setattr(ledger, "MOST_LINE_BYTES", 0)
    assert read(store) == kept


@pytest.mark.parametrize(
    "change",
    [
        lambda store: a_ledger_line(store, case),
        lambda store: ledger.undo_locked(store, "local", "s1"),
        lambda store: put(store, a_rule("r_0000aa", match=["word:other"])),
        lambda store: put(store, a_rule("r_0000aa", match=["word:tests"], born=2)),
        lambda store: put(store, a_rule("r_0000bb", match=["word:tests"])),
        lambda store: put(store, a_rule("r_0000bb", match=["word:tests"], born=9)),
        lambda store: put(store, a_rule("r_0000aa", match=["word:tests"], when="in other words")),
        lambda store: os.unlink(f"{store.local}/standings.json"),
    ],
    ids=["a case", "an undo", "match", "born", "a rule", "a newborn", "wording", "deleted"],
)
def test_whatever_moves_the_result_is_that_of_the_ledger(store, change):
    read(store)
    change(store)
    assert read(store) == afresh(store)


def test_a_lesson_that_moved_counts_under_its_new_path(store):
    read(store)
    rules = table.read(store, ("nodes",)).rules
    moved = {"testing/db": "nodes/elsewhere.md"}
    found = standings.read(store, rules, lambda lesson: moved[lesson], moved)
    assert (found["r_0000aa"].helped, found["r_0000aa"].wasted) == (0, 3)
