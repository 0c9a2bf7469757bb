"""The routing line and its trend."""

from __future__ import annotations

import pytest

from rose.report import growth
from rose.routing.cases import Case


def a_case(n: int, rules: int | None, lessons: int | None) -> Case:
    return Case(session=f"s{n}", n=n, store_rules=rules, store_lessons=lessons)


@pytest.mark.parametrize(
    ("rules", "lessons", "line"),
    [
        (
            4,
            210,
            "4 selection rules over 210 lessons  (ratio 0.02, should fall as the store grows)",
        ),
        (0, 0, "0 selection rules over 0 lessons  (ratio n/a, should fall as the store grows)"),
        (0, 12, "0 selection rules over 12 lessons  (ratio 0.00, should fall as the store grows)"),
        (1, 1, "1 selection rule over 1 lesson  (ratio 1.00, should fall as the store grows)"),
        (1, 0, "1 selection rule over 0 lessons  (ratio n/a, should fall as the store grows)"),
        (
            3,
            999,
            "3 selection rules over 999 lessons  (ratio 0.003, should fall as the store grows)",
        ),
    ],
)
def test_the_routing_line_states_the_bet(rules, lessons, line):
    assert growth.routing_line(rules, lessons) == "routing    " + line


@pytest.mark.parametrize(
    ("sizes", "now", "line"),
    [
        (
            [(1, 2, 5), (2, 4, 19), (3, 5, 30)],
            (6, 50),
            "0.40 at session 1, 0.21 at session 2, 0.12 now: falling since session 2",
        ),
        (
            [(1, 1, 50), (7, 5, 50)],
            (9, 50),
            "0.02 at session 1, 0.10 at session 7, 0.18 now: rising since session 7",
        ),
        (
            [(1, 1, 10), (2, 1, 10)],
            (1, 10),
            "0.10 at session 1, 0.10 at session 2, 0.10 now: level since session 2",
        ),
    ],
)
def test_the_trend_says_where_the_ratio_goes(sizes, now, line):
    points = growth.points_of(a_case(*size) for size in sizes)
    found = growth.trend(points, *now)
    assert found is not None
    assert found.line() == line


@pytest.mark.parametrize(
    "sizes",
    [
        [],
        [(1, 1, 10)],
        [(1, None, None), (2, 1, 10)],
        [(1, 0, 10), (2, 0, 10), (3, 0, 10)],
        [(1, 1, 0), (2, 1, 0)],
    ],
)
def test_there_is_no_trend_before_two_sessions_saw_a_rule(sizes):
    assert growth.trend(growth.points_of(a_case(*size) for size in sizes), 1, 10) is None


def test_a_store_that_lost_its_lessons_has_no_trend():
    points = growth.points_of([a_case(1, 1, 10), a_case(2, 1, 10)])
    assert growth.trend(points, 1, 0) is None


def test_the_points_start_at_the_first_rule_and_do_not_depend_on_order():
    cases = [a_case(3, 1, 12), a_case(1, 0, 10), a_case(2, 1, 10)]
    assert [point.n for point in growth.points_of(cases)] == [2, 3]
