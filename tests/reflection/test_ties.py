from __future__ import annotations

import pytest

from rose.reflection.ties import Claim, Ties
from rose.routing.cases import Case


def a_case(n, kinds, *used: str):
    return Case(f"s{n}", n, kinds=tuple(kinds), used=used)


PAST = [
    a_case(1, ["word:tests"], "db"),
    a_case(2, ["word:tests", "folder:src/api/"], "links"),
    a_case(3, ["word:docs"], "db"),
]


@pytest.mark.parametrize(
    ("match", "claim"),
    [
        (["word:tests"], Claim(2, 3)),
        (["word:test"], Claim(2, 3)),
        (["word:docs"], Claim(1, 1)),
        (["word:tests", "word:docs"], Claim(3, 4)),
        (["folder:src"], Claim(0, 1)),
        (["word:unknown"], Claim(0, 0)),
    ],
)
def test_a_claim_counts_each_case_once_the_present_one_included(match, claim):
    assert Ties(PAST).with_case(a_case(4, ["word:tests"], "db")).claim("db", match) == claim


def test_the_present_case_is_not_yet_part_of_the_record():
    ties = Ties(PAST)
    ties.with_case(a_case(4, ["word:tests"], "db"))
    assert ties.with_case(a_case(5, ["word:x"])).claim("db", ["word:tests"]) == Claim(1, 2)


def test_what_came_with_a_lesson_is_sorted_and_holds_the_present_task():
    now = Ties(PAST).with_case(a_case(4, ["word:new"], "db"))
    assert now.beside("db") == ["word:doc", "word:docs", "word:new", "word:test", "word:tests"]


@pytest.mark.parametrize(
    ("claim", "is_precise"),
    [(Claim(1, 1), False), (Claim(2, 10), True), (Claim(2, 11), False), (Claim(0, 0), False)],
)
def test_two_ties_and_a_fifth_are_the_least(claim, is_precise):
    assert claim.is_precise is is_precise


def test_a_miss_takes_three_tenths_of_what_a_hit_gives():
    assert Claim(2, 7).worth == pytest.approx(0.5)


def test_what_is_used_everywhere_is_tied_to_a_word_by_chance_alone():
    """Two of three tasks that say so used it; of the others none did, or all."""
    now = a_case(40, ["word:tests"], "db")
    seldom = [*PAST[:2], *(a_case(n, [f"word:x{n}"], "links") for n in range(4, 40))]
    often = [*PAST[:2], *(a_case(n, [f"word:x{n}"], "db") for n in range(4, 40))]
    assert not Ties(seldom).with_case(now).is_chance("db", "word:tests")
    assert Ties(often).with_case(now).is_chance("db", "word:tests")


def test_the_more_a_task_says_the_more_of_it_fits_by_chance():
    past = [
        *PAST[:2],
        *(a_case(n, [f"word:x{n}"], "db" if n % 12 == 0 else "links") for n in range(4, 40)),
    ]
    short = a_case(40, ["word:tests"], "db")
    long = a_case(40, ["word:tests", *(f"word:y{number}" for number in range(20))], "db")
    assert not Ties(past).with_case(short).is_chance("db", "word:tests")
    assert Ties(past).with_case(long).is_chance("db", "word:tests")
