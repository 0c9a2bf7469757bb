"""Splits a text into units: what may be kept of a text or left out, and is never rewritten.

A unit ends at a line end, or at an end mark before white space. A fenced block is one unit, and
what stands between backticks is never parted. Where an end is in doubt there is none: a unit that
is too long costs a few characters, one that is cut loses its meaning.
"""

from __future__ import annotations

import bisect
import itertools
import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
# A fence may stand in a quotation or begin a list item.
_OPENS = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,}(?=[^`]*\Z)|~{3,})")
_CLOSES = re.compile(r"[ \t>]*(`{3,}|~{3,})\s*\Z")
_TICKS = re.compile(r"`+")
_BLANK_LINE = re.compile(r"(?:\r\n|\r(?!\n)|\n)[ \t]*(?=[\r\n])")
# The word before a mark, as far back as it can matter.
_WORD_CHARS = 40
# Looked for from the beginning of a run on, so a run of dots is read once.
_MARK = r"[.!?\u3002\uff01\uff0e\uff1f\uff61]"
_MARKS = re.compile(rf"(?<!{_MARK}){_MARK}+(?=\s|\Z)")
_ENDS_WITH_WORD = re.compile(r"\S*\Z")
_OPENING = "([{<\"'*_\u201c\u2018\u00ab"
# e.g., i.e., U.S., a.m.
_INITIALS = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]")
_SHORTENED = (
    "mr mrs ms mx dr prof st sr jr rev hon gen col capt lt sgt messrs "
    "vs cf eg ie al approx resp incl viz fig figs eq pp ca"
)
_NO_END = frozenset(_SHORTENED.split())
# No end before a number: No. 5, vol. 2.
_COUNTED = ("no", "nos", "vol", "ch", "sec", "art", "ver")
# A list's number or letter, and a path that ends in dots: `..`, `./...`, `nodes/.`
_NUMBER = re.compile(r"[ \t>]*(?:[-*+][ \t]+)?(?:\d{1,9}|[a-z])")
_DOTTED_PATH = re.compile(r"(?:.*[/\\])?\.*", re.DOTALL)


class Unit(NamedTuple):
    """A span of a text that holds no blank at its ends, and the text in it."""

    start: int
    end: int
    text: str


def split(text: str) -> list[Unit]:
    """Return the units of a text in order; all that is not white space is in one of them."""
    found = []
    for start, end, is_fenced in _blocks(text):
        cuts = [start, *([end] if is_fenced else _cuts(text, start, end))]
        for low, high in itertools.pairwise(cuts):
            kept = text[low:high].strip()
            if kept:
                at = text.index(kept, low)
                found.append(Unit(at, at + len(kept), kept))
    return found


def _blocks(text: str) -> Iterator[tuple[int, int, bool]]:
    """Yield each stretch of a text with whether it is one fenced block."""
    begins = at = 0
    fence = ""
    for line in _LINE.finditer(text):
        if not line[0]:
            continue
        if fence:
            closes = _CLOSES.match(line[0])
            if closes and closes[1].startswith(fence):
                yield begins, line.end(), True
                begins, fence = line.end(), ""
        elif opens := _OPENS.match(line[0].rstrip("\r\n")):
            if begins < line.start():
                yield begins, line.start(), False
            begins, fence = line.start(), opens[1]
        at = line.end()
    if begins < at:
        # A fence that nobody closed holds the rest.
        yield begins, at, bool(fence)


def _cuts(text: str, start: int, end: int) -> list[int]:
    """Return where the units of a stretch end."""
    code = _code(text, start, end)
    begins = [span[0] for span in code]

    def is_in_code(at: int) -> bool:
        number = bisect.bisect_right(begins, at) - 1
        return number >= 0 and at < code[number][1]

    found = {end}
    for line in _LINE.finditer(text, start, end):
        if line[0] and not is_in_code(line.end() - 1):
            found.add(line.end())
    for mark in _MARKS.finditer(text, start, end):
        if not is_in_code(mark.start()) and _is_end(text, start, mark):
            found.add(mark.end())
    return sorted(found)


def _code(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return the spans of inline code: from a run of backticks to the next one as long.

    A blank line closes none: backticks on both sides of it are not a pair.
    """
    runs = [(run.start(), run.end()) for run in _TICKS.finditer(text, start, end)]
    closing: dict[int, int] = {}
    partner = [-1] * len(runs)
    for number in range(len(runs) - 1, -1, -1):
        size = runs[number][1] - runs[number][0]
        partner[number] = closing.get(size, -1)
        closing[size] = number
    blanks = [blank.start() for blank in _BLANK_LINE.finditer(text, start, end)]
    spans, at = [], 0
    while at < len(runs):
        other = partner[at]
        opens = runs[at][0]
        if other >= 0 and not _any_between(blanks, opens, runs[other][0]):
            spans.append((opens, runs[other][1]))
            at = other
        at += 1
    return spans


def _any_between(places: list[int], low: int, high: int) -> bool:
    at = bisect.bisect_left(places, low)
    return at < len(places) and places[at] < high


def _is_end(text: str, start: int, mark: re.Match[str]) -> bool:
    """Tell whether an end mark before white space ends a unit."""
    at = mark.start()
    low = max(start, at - _WORD_CHARS)
    before = _ENDS_WITH_WORD.search(text, low, at)
    word = (before[0] if before else "").lstrip(_OPENING)
    if _DOTTED_PATH.fullmatch(word):
        # A mark that stands alone, or the end of a path.
        return False
    if mark[0] != ".":
        return True
    is_initial = len(word) == 1 and word.isupper()
    if is_initial or _INITIALS.fullmatch(word) or word.lower() in _NO_END:
        return False
    after = text[mark.end() : mark.end() + _WORD_CHARS].lstrip(" \t")[:1]
    if word.lower() in _COUNTED:
        return not after.isdigit()
    if word.lower() == "etc":
        return not after.islower()
    line = max(text.rfind("\n", low, at), text.rfind("\r", low, at), low - 1) + 1
    begins_line = line > low or low == start
    return not (begins_line and _NUMBER.fullmatch(text, line, at))
