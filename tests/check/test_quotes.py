"""A quote stands once in its session, or the finding says where it stands instead."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rose.check import quotes
from rose.hosts.base import Region
from rose.routing.rules import Evidence
from tests.routing import samples

REGIONS = {
    "s": samples.regions(
        "first: port 5432 is closed\nport 5432 again", "port 5433\n\n is open", "aaa"
    )
}
SECRET = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"


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


def _one(item: Evidence, *texts: str):
    (finding,) = quotes.check([item], (), {"s": samples.regions(*texts)})
    return finding


def test_each_of_few_places_is_listed_with_line_column_context_and_range():
    texts = ("none", "a\nis  port\n5432 so", "port 5432" + " long" * 40)
    finding = _one(Evidence("s", "port 5432"), *texts)
    assert finding.message == (
        "The quote stands 2 times: "
        "region 2, line 2, column 5, …a is port 5432 so… (region: 2, lines: [2, 3]); "
        f"region 3, line 1, column 1, …port 5432{' long' * 16}… (region: 3, lines: [1, 1])."
    )
    assert finding.repair.startswith("Quote more, or add the region and lines")


def test_places_that_no_lines_tell_apart_ask_for_more_of_the_text():
    finding = _one(Evidence("s", "aa"), "aaa")
    assert finding.message.count("no range of lines holds it alone, quote more") == 2


def test_more_than_ten_places_are_not_listed():
    finding = _one(Evidence("s", "a"), "a " * 11)
    assert (finding.rule, finding.repair) == ("quote-ambiguous", "Quote more of the text.")
    assert "region" not in finding.message


@pytest.mark.parametrize(
    "item",
    [
        Evidence("s", "x", lines=(0, 2)),
        Evidence("s", "x", lines=(3, 2)),
        Evidence("s", "x", region=0),
    ],
)
def test_a_place_that_cannot_be_is_said(item):
    assert _one(item, "x").rule == "quote-place"


def test_lines_behind_the_end_hold_nothing():
    assert _one(Evidence("s", "x", 1, (5, 9)), "x").rule == "quote-not-found"


def test_nothing_is_suggested_for_a_quote_that_does_not_stand():
    finding = _one(Evidence("s", "port 5432"), "port 5433")
    assert finding.message == "The quote does not stand in the session."
    assert finding.repair == "Reread the source and reconsider the claim."


def test_a_quote_of_another_session_names_the_one_at_hand():
    finding = _one(Evidence("other", "x"), "x")
    assert (finding.rule, finding.expected) == ("unverified", "s")


def test_a_quote_without_a_session_is_of_the_one_at_hand():
    assert list(quotes.check([Evidence("", "aaa")], (), REGIONS)) == []
    (finding,) = quotes.check([Evidence("", "aaa")], (), {})
    assert finding.rule == "unverified"


def test_a_quote_of_enormous_length_is_not_looked_for():
    assert _one(Evidence("s", "x" * 1001), "x").rule == "quote-too-long"


WORDS = st.lists(st.sampled_from(["a", "b", "ab"]), min_size=1, max_size=8)
GAPS = st.sampled_from([" ", "  ", "\n", "\t", " \n\n "])


@st.composite
def spaced(draw):
    words = draw(WORDS)
    return "".join(itertools.chain(*((word, draw(GAPS)) for word in words)))


@given(spaced(), st.lists(spaced(), min_size=1, max_size=3))
def test_every_range_that_is_advised_isolates_its_place(quote, texts):
    regions = {"s": samples.regions(*texts)}
    for finding in quotes.check([Evidence("s", quote)], (), regions):
        for region, first, last in re.findall(
            r"\(region: (\d+), lines: \[(\d+), (\d+)\]\)", finding.message
        ):
            item = Evidence("s", quote, int(region), (int(first), int(last)))
            assert list(quotes.check([item], (), regions)) == []


def test_quotes_are_looked_for_in_the_redacted_text():
    source = samples.regions(f"export GITHUB={SECRET} now")
    (region,) = quotes.gather([Evidence("s", "now")], source)
    assert SECRET not in region.text
    quote = region.text.removesuffix(" now")
    assert "[redacted:" in quote
    kept = {"s": quotes.gather([Evidence("s", quote)], source)}
    assert list(quotes.check([Evidence("s", quote)], (), kept)) == []


def test_a_quote_of_a_redaction_alone_stands_nowhere():
    source = samples.regions(f"export GITHUB={SECRET} now")
    assert quotes.gather([Evidence("s", "[redacted:github]")], source) == ()


def test_only_regions_that_hold_a_quote_are_kept():
    source = samples.regions("x" * 100_000, "red tests", "red  test", "red\ntests")
    kept = quotes.gather([Evidence("s", "red tests")], source)
    assert [region.number for region in kept] == [2, 4]


def test_memory_is_bounded_by_the_quotes_and_not_by_the_session():
    def source():
        for number in range(1, 5001):
            yield Region(number, "result", f"red tests {number}")
        yield Region(5001, "result", "once")

    kept = quotes.gather([Evidence("s", "red tests"), Evidence("s", "once")], source())
    assert [region.number for region in kept] == [*range(1, 12), 5001]


def test_a_region_that_is_named_is_kept_however_often_the_quote_stands():
    source = samples.regions(*["red tests"] * 40)
    items = [Evidence("s", "red tests"), Evidence("s", "red tests", region=33)]
    assert 33 in [region.number for region in quotes.gather(items, source)]


FOREIGN = {"s": (Region(1, "prompt", "fix it"), Region(2, "foreign", "fetched words"))}


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (["fetched words"], True),
        (["fetched words", "fix it"], False),
        (["fix it"], False),
        (["nowhere"], False),
        ([], False),
    ],
)
def test_evidence_is_tainted_where_all_of_it_came_from_outside(said, expected):
    assert quotes.is_tainted([Evidence("s", quote) for quote in said], FOREIGN) is expected


def test_what_stands_outside_and_inside_is_not_tainted_unless_the_outer_place_is_meant():
    both = {"s": (*FOREIGN["s"], Region(3, "said", "fetched words"))}
    item = Evidence("s", "fetched words")
    assert not quotes.is_tainted([item], both)
    assert quotes.is_tainted([replace(item, region=2)], both)


def test_quotes_of_sessions_that_are_not_at_hand_taint_nothing():
    assert not quotes.is_tainted([Evidence("old", "fetched words")], FOREIGN)
    old = [Evidence("old", "x"), Evidence("s", "fetched words")]
    assert quotes.is_tainted(old, FOREIGN)
