from __future__ import annotations

import pytest

from rose import refs
from rose.errors import RoseError

IDS = ["ab12", "ab34", "cd56"]


def chosen(ref: str, known=IDS) -> str:
    return refs.choose(ref, refs.parts(ref, known), known, noun="thing", hint="See the list.")


@pytest.mark.parametrize(
    ("ref", "wanted"), [("ab12", "ab12"), ("b1", "ab12"), ("CD", "cd56"), ("56", "cd56")]
)
def test_an_id_or_a_part_that_one_id_has_is_enough(ref, wanted):
    assert chosen(ref) == wanted


def test_an_id_wins_over_one_that_contains_it():
    assert chosen("ab", ["ab", "abc"]) == "ab"


@pytest.mark.parametrize(
    ("ref", "said"),
    [
        ("ab", "'ab' names several things: ab12, ab34."),
        ("ab21", "No thing 'ab21'. Did you mean ab12"),
        ("c", "No thing 'c'. Did you mean cd56?"),
        ("", "No thing ''. See the list."),
        ("zzzz", "No thing 'zzzz'. See the list."),
        ("a\x1b[31m", "'a\\\\x1b"),
        ("z" * 1000, "zzz…'. See the list."),
    ],
)
def test_what_names_none_or_several_is_refused_with_candidates(ref, said):
    with pytest.raises(RoseError) as refusal:
        chosen(ref)
    assert said.replace("\\\\", "\\") in str(refusal.value)


def test_at_most_five_candidates_are_named():
    known = [f"ab{number}" for number in range(9)]
    with pytest.raises(RoseError, match="ab0, ab1, ab2, ab3, ab4, …"):
        chosen("ab", known)


def test_a_beginning_is_no_part_from_the_middle_and_no_single_letter():
    known = ["abc1", "abc2", "xabc"]
    assert refs.beginnings("abc1", known) == [["abc1"], ["abc1"]]
    assert refs.beginnings("abc", known) == [[], ["abc1", "abc2"]]
    assert refs.beginnings("a", known) == [[], []]
