from __future__ import annotations

import pytest

from rose.routing import cases
from rose.routing.cases import Case, Opened, fold

LINE = {"v": 1, "session": "s", "n": 3, "rows": 10}


def test_of_one_sessions_lines_the_one_with_most_rows_wins():
    lines = [{**LINE, "rows": 10, "n": 9}, {**LINE, "rows": 20, "n": 3}]
    assert [(c.rows, c.n) for c in fold(lines).cases] == [(20, 3)]


def test_at_equal_rows_the_younger_line_wins_then_the_greater_text():
    lines = [{**LINE, "n": 4, "task": "a"}, {**LINE, "n": 4, "task": "b"}, LINE]
    assert [(c.n, c.task) for c in fold(lines).cases] == [(4, "b")]


def test_cases_are_in_order_of_n_and_session():
    lines = [{"session": s, "n": n} for s, n in (("b", 2), ("a", 2), ("c", 1))]
    assert [(c.n, c.session) for c in fold(lines).cases] == [(1, "c"), (2, "a"), (2, "b")]


def test_the_next_n_is_one_above_every_line():
    record = fold([LINE, {"session": "t", "n": 8, "undone": True}])
    assert (record.next_n, record.greatest_n) == (9, 8)
    assert fold([]).next_n == 1


def test_an_undone_mark_takes_back_what_is_older():
    record = fold([{"session": "s", "n": 4, "undone": True}, LINE])
    assert record.cases == ()
    assert record.undone == {"s"}


def test_a_session_counts_again_after_it_was_undone():
    record = fold([LINE, {"session": "s", "n": 4, "undone": True}, {**LINE, "n": 5}])
    assert [c.n for c in record.cases] == [5]
    assert record.undone == frozenset()


def test_an_undone_mark_does_not_reach_other_sessions():
    record = fold([LINE, {"session": "t", "n": 4, "undone": True}])
    assert [c.session for c in record.cases] == ["s"]


def test_a_lighter_younger_line_stands_when_the_heavier_is_undone():
    lines = [
        {**LINE, "rows": 99, "n": 2},
        {**LINE, "rows": 5, "n": 7},
        {"session": "s", "n": 5, "undone": True},
    ]
    assert [c.n for c in fold(lines).cases] == [7]


@pytest.mark.parametrize(
    "line",
    [
        None,
        3,
        "x",
        [],
        {},
        {"session": "s"},
        {"session": "", "n": 1},
        {"session": 3, "n": 1},
        {"session": "s", "n": 0},
        {"session": "s", "n": -1},
        {"session": "s", "n": True},
        {"session": "s", "n": 1.0},
        {"session": "s", "n": "1"},
        {"session": "s", "n": float("inf")},
        {**LINE, "v": 2},
        {**LINE, "v": "2.1"},
        {**LINE, "v": None},
        {**LINE, "v": True},
        {**LINE, "v": []},
    ],
)
def test_what_is_no_line_of_this_version_is_counted_and_left_out(line):
    record = fold([line, {"session": "t", "n": 1}])
    assert [c.session for c in record.cases] == ["t"]
    assert (record.next_n, record.foreign) == (2, 1)


@pytest.mark.parametrize("version", [1, "1", "1.4"])
def test_a_minor_version_is_read(version):
    assert len(fold([{**LINE, "v": version}]).cases) == 1


def test_fields_of_a_wrong_type_count_as_left_out():
    line = {
        **LINE,
        "rows": "many",
        "at": 3,
        "kinds": "word:x",
        "sent": [1, "r_00000a", None],
        "delivered": "all",
        "opened": [3, {}, {"lesson": 1}, {"lesson": "a", "version": 2, "how": 1, "turn": "x"}],
        "used": {"a": 1},
        "rules": {"r_00000a": 1, "r_00000b": "ignored"},
        "store": [],
        "by": None,
    }
    assert fold([line]).cases == (
        Case(
            "s",
            3,
            sent=("r_00000a",),
            opened=(Opened("a"),),
            verdicts={"r_00000b": "ignored"},
        ),
    )


def test_a_case_reads_back_as_it_was_written():
    case = Case(
        session="s",
        n=3,
        rows=4,
        at="2026-11-30T09:12:44Z",
        host="codex",
        task="fix it",
        kinds=("word:x",),
        sent=("r_00000a",),
        delivered=(),
        opened=(Opened("a", "0f", "excerpt", 2), Opened("b")),
        listed=("c",),
        used=("a",),
        verdicts={"r_00000a": "ignored"},
        by="model",
        store_rules=1,
        store_lessons=2,
    )
    assert cases.case_of(cases.line_of(case)) == case
    assert cases.case_of(cases.line_of(Case("s", 1))) == Case("s", 1)
