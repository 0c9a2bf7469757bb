"""The one window chooser: which spans of a text cover some terms best.

A window is decided by the distinct terms that stand whole in it; the earliest span with the most
wins. Its terms, as close together as they stand there, are the core, and what width is left goes
to both sides of it, in whole words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rose import text as texts

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


class Window(NamedTuple):
    """A span of a text, and how it is shown: each run of white space as one space."""

    start: int
    end: int
    text: str


class _Place(NamedTuple):
    """Where a term stands: the words that it touches, or itself in a word wider than a window."""

    end: int
    start: int
    term: str


class _Core(NamedTuple):
    """The terms of the best span of one free stretch, as close together as they stand."""

    terms: int
    start: int
    end: int
    low: int
    high: int


def choose(text: str, terms: Collection[str], width: int, count: int = 1) -> list[Window]:
    """Return up to `count` windows, none wider than `width`, in order; none without a term.

    `terms` are tokens as `text.words` returns them. Each further window is the best one of what
    the others left.
    """
    places = sorted(_places(text, frozenset(terms), width))
    cores = _cores(places, width, [(0, len(text))])
    chosen: list[Window] = []
    while cores and len(chosen) < count:
        best = min(cores, key=lambda core: (-core.terms, core.end))
        start, end = _grow(text, best, width)
        chosen.append(_window(text, start, end))
        cores.remove(best)
        cores += _cores(places, width, [(best.low, start), (end, best.high)])
    return sorted(chosen)


def around(text: str, start: int, end: int, width: int) -> Window:
    """Return the window around a span that is known and no wider than the window."""
    return _window(text, *_grow(text, _Core(0, start, end, 0, len(text)), width))


def head(text: str, width: int) -> Window:
    """Return the window at the beginning of a text."""
    start = len(text) - len(text.lstrip())
    limit = min(len(text), start + width)
    end = _back(text, limit, start)
    return _window(text, start, end if end > start else limit)


def _window(text: str, start: int, end: int) -> Window:
    return Window(start, end, texts.normalise(text[start:end]))


def _places(text: str, terms: frozenset[str], width: int) -> list[_Place]:
    found = []
    low = high = 0
    for token, start, end in texts.spans(text):
        if token not in terms:
            continue
        # The parts of a word follow it, so each word is measured once, however long it is.
        if not low <= start < end <= high:
            low, high = _word_start(text, start), _word_end(text, end)
        if high - low <= width:
            found.append(_Place(high, low, token))
        else:
            found.append(_Place(min(end, start + width), start, token))
    return found


def _word_start(text: str, at: int) -> int:
    while texts.is_inside_word(text, at):
        at -= 1
    return at


def _word_end(text: str, at: int) -> int:
    while texts.is_inside_word(text, at):
        at += 1
    return at


def _cores(
    places: Sequence[_Place], width: int, stretches: Sequence[tuple[int, int]]
) -> list[_Core]:
    """Return the best core of each free stretch that holds a term."""
    found = []
    for low, high in stretches:
        inside = [place for place in places if low <= place.start and place.end <= high]
        if inside:
            found.append(_core(inside, width, low, high))
    return found


def _core(places: Sequence[_Place], width: int, low: int, high: int) -> _Core:
    """Slide a span over places in order of their ends; the first with the most terms wins."""
    leaving = sorted(places, key=lambda place: place.start)
    counts: dict[str, int] = {}
    most = last = out = 0
    for number, place in enumerate(places):
        counts[place.term] = counts.get(place.term, 0) + 1
        while leaving[out].start < place.end - width:
            term = leaving[out].term
            counts[term] -= 1
            if not counts[term]:
                del counts[term]
            out += 1
        if len(counts) > most:
            most, last = len(counts), number
    end = places[last].end
    nearest: dict[str, int] = {}
    for place in places[last::-1]:
        if place.end < end - width:
            break
        if place.start >= end - width:
            nearest[place.term] = max(place.start, nearest.get(place.term, 0))
    return _Core(most, min(nearest.values()), end, low, high)


def _grow(text: str, core: _Core, width: int) -> tuple[int, int]:
    """Return the span of whole words around a core, as wide as the width lets it be."""
    slack = width - (core.end - core.start)
    right = min(core.high, max(core.low, core.start - slack // 2) + width)
    right = _back(text, right, core.end)
    left = _forward(text, max(core.low, right - width), core.start)
    # What a long word left free on one side may hold a word of the other.
    return left, _back(text, min(core.high, left + width), right)


def _back(text: str, limit: int, floor: int) -> int:
    """Return the last offset up to a limit, not below a floor, where a text may end."""
    at = limit
    if limit < len(text) and not text[limit].isspace():
        while at > floor and not text[at - 1].isspace():
            at -= 1
        if at == floor:
            # One stretch without white space: it may be parted between its words.
            at = limit
            while at > floor and texts.is_inside_word(text, at):
                at -= 1
            if at == floor and texts.is_inside_word(text, floor):
                return limit
    while at > floor and text[at - 1].isspace():
        at -= 1
    return at


def _forward(text: str, limit: int, ceiling: int) -> int:
    """Return the first offset from a limit on, not above a ceiling, where a text may begin."""
    at = limit
    if limit > 0 and not text[limit - 1].isspace():
        while at < ceiling and not text[at].isspace():
            at += 1
        if at == ceiling:
            at = limit
            while at < ceiling and texts.is_inside_word(text, at):
                at += 1
            if at == ceiling and texts.is_inside_word(text, ceiling):
                return limit
    while at < ceiling and text[at].isspace():
        at += 1
    return at
