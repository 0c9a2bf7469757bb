"""The pieces of a digest under a budget."""

from __future__ import annotations

import pytest

from rose import tokens
from rose.reflection.digest_fit import Budget, Ends, Part, Piece, from_ends


def a_piece(number: int, words: int = 3) -> Piece:
    body = " ".join([f"number {number}", *["apple"] * words])
    return Piece(number, (Part(f"[{number}] typed", body=(body,)),))


def text_of(fitted) -> str:
    return "".join(line + "\n" for piece in fitted for line in piece.lines)


def test_pieces_that_fit_stand_whole():
    budget = Budget(1_000)
    fitted = budget.fit([a_piece(1), a_piece(2)])
    assert [piece.lines for piece in fitted] == [
        ("[1] typed", "| number 1 apple apple apple"),
        ("[2] typed", "| number 2 apple apple apple"),
    ]


def test_what_is_left_is_the_budget_without_the_count_of_the_text():
    budget = Budget(1_000)
    fitted = budget.fit([a_piece(1), a_piece(2, 40)])
    assert budget.left == 1_000 - tokens.count(text_of(fitted))


def test_a_huge_piece_is_cut_and_a_small_one_beside_it_stands_whole():
    fitted = Budget(1_000).fit([a_piece(1, 4_000), a_piece(2)])
    assert len(fitted) == 2
    assert "[…]" in text_of(fitted[:1])
    assert fitted[1].lines[1] == "| number 2 apple apple apple"


def test_pieces_of_one_size_are_cut_to_one_length():
    fitted = Budget(600).fit([a_piece(number, 300) for number in range(4)])
    lengths = {len("\n".join(piece.lines)) for piece in fitted}
    assert len(fitted) == 4
    assert max(lengths) - min(lengths) < 20


def test_where_not_all_fit_the_first_given_stay():
    fitted = Budget(55).fit([a_piece(number, 30) for number in (7, 3, 5, 1)])
    assert [piece.at for piece in fitted] == [7, 3]


def test_a_share_leaves_the_rest():
    budget = Budget(200)
    budget.fit([a_piece(number, 30) for number in range(9)], 0.5)
    assert budget.left >= 100


def test_no_piece_is_cut_below_the_least_length():
    fitted = Budget(300).fit([a_piece(number, 100) for number in range(9)], least=500)
    assert all(len(text_of([piece])) > 400 for piece in fitted)
    assert 0 < len(fitted) < 9


def test_the_ends_of_a_stream_are_its_first_and_its_last():
    ends = Ends(4)
    for number in range(100):
        ends.add(number)
    assert ends.items() == [0, 1, 98, 99]
    assert ends.from_ends() == [0, 99, 1, 98]
    assert ends.count == 100


@pytest.mark.parametrize(("count", "order"), [(0, []), (1, [0]), (4, [0, 3, 1, 2]), (3, [0, 2, 1])])
def test_a_row_from_both_ends_holds_each_place_once(count, order):
    assert list(from_ends(count)) == order
