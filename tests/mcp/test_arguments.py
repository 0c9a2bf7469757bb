"""Arguments of a tool call are what the tool takes, or refused with what is wrong."""

from __future__ import annotations

import pytest

from rose.errors import UsageError
from rose.mcp.arguments import Arguments

KNOWN = {"query": {}, "k": {}, "scope": {}}


def test_what_is_given_is_given_back():
    given = Arguments({"query": "a b", "k": 3, "scope": ["x", "y"]}, KNOWN)
    assert given.text("query", 10, needed=True) == "a b"
    assert given.number("k", 5, 20) == 3
    assert given.texts("scope", 5, 10) == ["x", "y"]


@pytest.mark.parametrize("given", [{}, {"query": None, "k": None, "scope": None}])
def test_what_is_not_given_has_its_default(given):
    read = Arguments(given, KNOWN)
    assert (read.text("query", 10), read.number("k", 5, 20)) == ("", 5)
    assert read.texts("scope", 5, 10) == []
    assert not read.has("k")


def test_one_text_stands_for_a_list_of_it():
    assert Arguments({"scope": "x"}, KNOWN).texts("scope", 5, 10) == ["x"]


@pytest.mark.parametrize("k", [0, -1, 21, 10**400, 2.0, True, "3", [], {}])
def test_a_number_out_of_bounds_or_of_another_type_is_refused(k):
    with pytest.raises(UsageError, match=r"`k` must be a whole number from 1 to 20\."):
        Arguments({"k": k}, KNOWN).number("k", 5, 20)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        (3, "must be a text"),
        (["x"], "must be a text"),
        ("x" * 11, "has 11 characters; the most is 10"),
        ("a\0b", "holds what is no text"),
        ("a\ud800", "holds what is no text"),
    ],
)
def test_a_text_that_is_none_or_too_long_is_refused(query, said):
    with pytest.raises(UsageError, match=said):
        Arguments({"query": query}, KNOWN).text("query", 10)


@pytest.mark.parametrize("given", [{}, {"query": ""}, {"query": "  \n"}, {"query": None}])
def test_a_text_that_is_needed_is_asked_for(given):
    with pytest.raises(UsageError, match="`query` is missing"):
        Arguments(given, KNOWN).text("query", 10, needed=True)


@pytest.mark.parametrize("scope", [3, {"a": 1}, ["x"] * 6, [["x"]], [3], ["x" * 11]])
def test_a_list_of_something_else_is_refused(scope):
    with pytest.raises(UsageError, match="`scope`"):
        Arguments({"scope": scope}, KNOWN).texts("scope", 5, 10)


def test_an_argument_that_the_tool_does_not_know_is_refused_with_those_it_knows():
    with pytest.raises(UsageError, match="No argument 'limit'; there are `query`, `k`, `scope`"):
        Arguments({"query": "x", "limit": 3}, KNOWN)
