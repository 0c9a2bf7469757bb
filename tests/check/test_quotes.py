from __future__ import annotations

import pytest

from rose.check import quotes
from rose.routing.rules import Evidence

REGIONS = {"s": ["first: port 5432 is closed\nport 5432 again", "port 5433\n\n is open", "aaa"]}


def _found(item: Evidence, kept=()) -> list[str]:
    findings = list(quotes.check([item], kept, REGIONS))
    assert all(finding.repair for finding in findings)
    return [finding.rule for finding in findings]


@pytest.mark.parametrize(
    "item",
    [
        Evidence("s", "port 5433"),
        Evidence("s", "port   5433 is\topen"),
        Evidence("s", "port 5432", lines=(2, 2)),
        Evidence("s", "port 5432", 1, (1, 1)),
        Evidence("s", "port", 2),
    ],
)
def test_a_quote_that_stands_once_passes(item):
    assert _found(item) == []


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (Evidence("s", " "), "quote-empty"),
        (Evidence("s", "port 9999"), "quote-not-found"),
        (Evidence("s", "Port 5433"), "quote-not-found"),
        (Evidence("s", "again port"), "quote-not-found"),
        (Evidence("s", "port 5432"), "quote-ambiguous"),
        (Evidence("s", "aa"), "quote-ambiguous"),
        (Evidence("s", "port 5433", 1), "quote-not-found"),
        (Evidence("s", "port 5433", 9), "quote-not-found"),
        (Evidence("other", "port 5433"), "unverified"),
    ],
)
def test_any_other_quote_is_a_finding(item, expected):
    assert _found(item) == [expected]


def test_a_quote_that_came_in_earlier_is_not_looked_for_again():
    item = Evidence("other", "port 5433")
    assert _found(item, {item}) == []


def test_each_occurrence_is_listed_up_to_ten():
    (few,) = quotes.check([Evidence("s", "port")], (), REGIONS)
    assert few.message.count("region 1") == 2
    (many,) = quotes.check([Evidence("s", "a")], (), {"s": ["a " * 11]})
    assert "region" not in many.message
