"""Which opened lessons were used: a distinctive span in a later call, and in nothing before.

The first pass notes which spans of opened lessons turn up in later calls; few do. The second
looks for those alone in everything that came before the opening, so memory stays bounded.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rose import text as texts
from rose.hosts.base import Call, Injection, Prompt, Said
from rose.reflection import spans

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rose.hosts.base import Event
    from rose.reflection.library import Library
    from rose.reflection.openings import Opening

MOST_SPANS = 40
_ANCHOR = re.compile(r"[A-Za-z0-9]+")


class Usage:
    """Collects, for each opened lesson, the spans that later calls hold."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.found: dict[int, dict[str, None]] = {}
        self._openings: dict[int, Opening] = {}
        self._by_anchor: dict[str, list[tuple[int, str]]] = {}

    def open(self, opening: Opening) -> None:
        """Look out for the spans of a lesson from its opening on."""
        self._openings[opening.number] = opening
        path = self.library.lessons[opening.number].path
        for span in spans.spans(self.library.text(opening.number), path):
            anchor = max(_ANCHOR.findall(span), key=len, default="")
            if anchor:
                self._by_anchor.setdefault(anchor, []).append((opening.number, span))

    def take(self, call: Call, named: Iterable[int]) -> None:
        """Take one call that came after openings; a lesson that it names is not used by it."""
        if not self._by_anchor:
            return
        text = input_text(call)
        wanted = [
            pair
            for anchor in dict.fromkeys(_ANCHOR.findall(text))
            for pair in self._by_anchor.get(anchor, ())
        ]
        if not wanted:
            return
        apart, plain = frozenset(named), texts.normalise(text)
        for number, span in wanted:
            opening = self._openings[number]
            kept = self.found.setdefault(number, {})
            if number in apart or call.known < opening.answered or len(kept) >= MOST_SPANS:
                continue
            name = self.library.lessons[number].path.rpartition("/")[2]
            if stands_in(span, plain.replace(name, " ")):
                kept[span] = None

    def unseen_before(self, events: Iterable[Event]) -> dict[int, tuple[str, ...]]:
        """Return the noted spans that nothing before the opening holds, by lesson."""
        open_spans = {number: dict(kept) for number, kept in self.found.items() if kept}
        last = max((self._openings[number].at for number in open_spans), default=-1)
        latest = max((self._openings[number].answered for number in open_spans), default=0)
        for at, event in enumerate(events):
            # Past the last opening only calls that were made beside it can still speak.
            if not open_spans or (at > last and isinstance(event, Call) and event.known >= latest):
                break
            self._strike(open_spans, at, event)
        return {number: tuple(kept) for number, kept in open_spans.items()}

    def _strike(self, open_spans: dict[int, dict[str, None]], at: int, event: Event) -> None:
        """Drop the spans that an event shows to have been known before."""
        asked = shown = ""
        known = None
        if isinstance(event, Call):
            known, asked, shown = event.known, input_text(event), event.result
        elif isinstance(event, Prompt | Said | Injection):
            shown = event.text
        for number in list(open_spans):
            opening = self._openings[number]
            before = [shown] if at < opening.at else []
            if known is not None and known < opening.answered:
                before.append(asked)
            kept = open_spans[number]
            for text in before:
                for span in [span for span in kept if _holds(text, span)]:
                    del kept[span]
            if not kept:
                del open_spans[number]


def _holds(text: str, span: str) -> bool:
    if span in text:
        return True
    return " " in span and span.partition(" ")[0] in text and span in texts.normalise(text)


def stands_in(span: str, text: str) -> bool:
    """Tell whether a span stands in a text by itself, not as a part of a longer word."""
    start = text.find(span)
    while start >= 0:
        end = start + len(span)
        joins_before = start > 0 and _is_word(span[0]) and _is_word(text[start - 1])
        joins_after = end < len(text) and _is_word(span[-1]) and _is_word(text[end])
        if not joins_before and not joins_after:
            return True
        start = text.find(span, start + 1)
    return False


def _is_word(char: str) -> bool:
    return char.isalnum() or char in "_-"


def input_text(call: Call) -> str:
    """Return what a call was told: its command, else the texts of its input."""
    if call.command is not None:
        return call.command
    return "\n".join(texts_in(call.input))


def texts_in(value: object) -> Iterator[str]:
    """Yield the texts of a JSON value in order, without its keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from texts_in(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from texts_in(item)


def best_spans(unseen: Mapping[int, tuple[str, ...]]) -> dict[int, str]:
    """Return one span a lesson: the longest of those that prove its use, as it says most."""
    return {number: max(kept, key=len) for number, kept in unseen.items() if kept}
