"""Quotes: they stand once in the session, hold no secret, and say where if they stand twice."""

from __future__ import annotations

import pytest

from rose.check import quotes as checking
from rose.reflection import evidence
from tests.routing import samples

TASK = "Please help. The integration tests are red! Find out v1.2 why"


@pytest.mark.parametrize(
    ("feature", "sentence"),
    [
        ("word:integration", "The integration tests are red!"),
        ("word:find", "Find out v1.2 why"),
        ("command:pytest", "Please help."),
        ("folder:src/", "Please help."),
        ("word:absent", "Please help."),
    ],
)
def test_the_sentence_that_holds_the_word(feature, sentence):
    assert evidence.of_prompt(TASK, feature) == sentence


def test_an_empty_prompt_gives_no_quote():
    assert evidence.of_prompt("", "word:x") == ""


def test_a_long_sentence_is_cut_at_words_around_the_word():
    task = "alpha " * 80 + "needle " + "omega " * 80
    quote = evidence.of_prompt(task, "word:needle")
    assert "needle" in quote
    assert len(quote) <= evidence.MOST_CHARS
    assert set(quote.split()) <= {"alpha", "needle", "omega"}


def test_the_line_of_a_lesson_that_holds_the_span():
    assert evidence.of_body("a\n  Use `x  y` now.\nb", "x y") == "Use `x y` now."


def found(quotes, regions):
    return evidence.find("s", quotes, samples.regions(*regions))


def test_a_quote_that_stands_once_is_taken_as_it_is():
    result = found(["red tests"], ["are red\n tests here", "nothing"])
    assert [(one.quote, one.region) for one in result.found] == [("red tests", None)]


def test_a_quote_that_stands_twice_names_its_place():
    result = found(["red tests"], ["x", "a\nred tests\nb", "red tests"])
    assert [(one.region, one.lines) for one in result.found] == [(2, (2, 2))]


def test_a_quote_that_does_not_stand_is_not_taken():
    assert found(["red tests"], ["red  test"]).found == ()


def test_a_quote_with_a_secret_is_not_taken():
    secret = "token ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    assert found([secret, "[redacted:x] y"], [secret, "[redacted:x] y"]).found == ()


@pytest.mark.parametrize(
    "regions",
    [
        ["run the tests", "other"],
        ["run the tests", "x\nrun the tests\ny", "run\nthe tests run the tests"],
        ["run the tests\nrun the tests"],
    ],
)
def test_every_quote_that_is_taken_passes_the_check(regions):
    result = found(["run the tests"], regions)
    assert result.found
    assert list(checking.check(result.found, (), {"s": result.regions})) == []


def test_regions_without_a_quote_are_not_held():
    result = found(["red tests"], ["x" * 100_000, "red tests"])
    assert [(region.number, region.text) for region in result.regions] == [(2, "red tests")]
