"""Quotes: each piece of evidence stands exactly once in the session that it names.

Both sides are compared with runs of white space collapsed, and nothing else. A pass says that
the words are there once; it does not say that they support the rule.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rose import text as texts
from rose.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping, Sequence

    from rose.routing.rules import Evidence

MAX_LISTED = 10
CONTEXT_CHARS = 40


def check(
    evidence: Sequence[Evidence],
    kept: Container[Evidence],
    regions: Mapping[str, Sequence[str]],
) -> Iterator[Finding]:
    """Yield what is wrong with quotes; those in `kept` were matched when they came in."""
    for number, item in enumerate(evidence, 1):
        where = f"evidence {number}"
        if not item.quote.strip():
            yield Finding("quote-empty", where, "The quote is empty.", "Quote the session.")
        elif item in kept:
            continue
        elif item.session not in regions:
            message = f"The session {item.session[:60]!r} cannot be read here."
            yield Finding("unverified", where, message, "Check again where its transcript is.")
        else:
            yield from _check_one(item, regions[item.session], where)


def _check_one(item: Evidence, regions: Sequence[str], where: str) -> Iterator[Finding]:
    places = [
        (number, at)
        for number, region in _searched(item, regions)
        for at in texts.occurrences(item.quote, region)
    ]
    if len(places) == 1:
        return
    if not places:
        message = "The quote does not stand in the session."
        repair = "Reread the source and reconsider the claim."
        yield Finding("quote-not-found", where, message, repair)
    elif len(places) > MAX_LISTED:
        message = f"The quote stands {len(places)} times in the session."
        yield Finding("quote-ambiguous", where, message, "Quote more of the text.")
    else:
        message = f"The quote stands {len(places)} times: {_listed(places, regions)}."
        repair = "Quote more, or add the region and lines of the one that is meant."
        yield Finding("quote-ambiguous", where, message, repair)


def _searched(item: Evidence, regions: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the regions to look in, counted from 1; with lines only those lines of a region."""
    for number, region in enumerate(regions, 1):
        if item.region is not None and number != item.region:
            continue
        if item.lines is None:
            yield number, region
        else:
            first, last = item.lines
            yield number, "\n".join(region.split("\n")[first - 1 : last])


def _listed(places: Sequence[tuple[int, int]], regions: Sequence[str]) -> str:
    shown = []
    for number, at in places:
        flat = texts.normalise(regions[number - 1])
        around = flat[max(0, at - CONTEXT_CHARS) : at + CONTEXT_CHARS]
        shown.append(f"region {number}, character {at}: …{re.sub(r'[^ -~]', '.', around)}…")
    return "; ".join(shown)
