"""The quotes that a rule of the offline reflector rests on, taken from the session itself.

Each must stand exactly once in the regions of the transcript; where the words stand more often,
the region and lines of one place are named. A quote that holds a secret is not taken.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rose import redact
from rose import text as texts
from rose.check import quotes as checking
from rose.routing.rules import Evidence

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rose.hosts.base import Region

MOST_CHARS = 200
_SENTENCE = re.compile(r"[^.!?\n]*(?:[.!?](?!\s|$)[^.!?\n]*)*[.!?]?")
_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Quotes:
    """Quotes that stand in a session, and those of its regions that hold them."""

    found: tuple[Evidence, ...] = ()
    regions: tuple[Region, ...] = ()


def of_prompt(task: str, feature: str) -> str:
    """Return the sentence of the opening prompt that holds a feature's word, else the first."""
    kind, _, value = feature.partition(":")
    sentences = [found[0].strip() for found in _SENTENCE.finditer(task) if found[0].strip()]
    holding = [
        sentence for sentence in sentences if kind == "word" and value in texts.words(sentence)
    ]
    chosen = (holding or sentences or [""])[0]
    start = chosen.casefold().find(value.casefold()) if holding else 0
    return _clipped(chosen, max(start, 0))


def of_body(body: str, span: str) -> str:
    """Return the line of a lesson that holds a span."""
    for line in body.split("\n"):
        flat = texts.normalise(line)
        if span in flat:
            return _clipped(flat, flat.index(span))
    return span


def _clipped(text: str, start: int) -> str:
    """Return the text, or whole words of it around a place where it is long."""
    if len(text) <= MOST_CHARS:
        return text
    first = max(0, min(start - MOST_CHARS // 3, len(text) - MOST_CHARS))
    words = [
        found
        for found in _WORD.finditer(text)
        if found.start() >= first and found.end() <= first + MOST_CHARS
    ]
    return text[words[0].start() : words[-1].end()] if words else text[first : first + MOST_CHARS]


def find(session: str, quotes: Iterable[str], source: Iterable[Region]) -> Quotes:
    """Return the quotes that stand in a session's regions, each with its place where needed."""
    wanted = [
        Evidence(session, quote)
        for quote in dict.fromkeys(texts.normalise(quote) for quote in quotes)
        if quote and redact.MARK not in quote and not redact.holds_secret(quote)
    ]
    regions = checking.gather(wanted, source)
    placed = (_placed(item, regions) for item in wanted)
    return Quotes(tuple(item for item in placed if item is not None), regions)


def _placed(item: Evidence, regions: Sequence[Region]) -> Evidence | None:
    counts = {region: len(texts.occurrences(item.quote, region.text)) for region in regions}
    holding = [region for region, count in counts.items() if count]
    if sum(counts.values()) <= 1:
        return item if holding else None
    lines = holding[0].text.split("\n")
    for at in range(len(lines)):
        if len(texts.occurrences(item.quote, lines[at])) == 1:
            return replace(item, region=holding[0].number, lines=(at + 1, at + 1))
    return None
