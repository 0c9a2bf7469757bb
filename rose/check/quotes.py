"""Quotes: each piece of evidence stands exactly once in the session that it names.

Both sides are compared with runs of white space collapsed, and nothing else; secrets are taken
out of the session's text first, as they are wherever rose keeps a text. A pass says that the
words are there once; it does not say that they support the rule.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rose import redact
from rose import text as texts
from rose.findings import Finding
from rose.selection import windows

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

    from rose.hosts.base import Region
    from rose.routing.rules import Evidence

MAX_LISTED = 10
MAX_CHARS = 1000
CONTEXT_CHARS = 40
_MARK = re.compile(re.escape(redact.MARK) + r"[a-z0-9-]*\]")


def gather(evidence: Iterable[Evidence], source: Iterable[Region]) -> tuple[Region, ...]:
    """Return the regions of one session that quotes are checked in, out of all of them.

    Kept are those that hold a quote, until it stood more often than is ever listed: memory is
    bounded by the quotes, however long the session is.
    """
    hints = {(item.quote, item.region): _hint(item.quote) for item in evidence}
    counts = {key: 0 for key, hint in hints.items() if hint and len(key[0]) <= MAX_CHARS}
    kept = []
    for region in source:
        likely = [
            (quote, number)
            for (quote, number), count in counts.items()
            if number in (None, region.number) and count <= MAX_LISTED
            if hints[quote, number] in region.text
        ]
        if not likely:
            continue
        clean = region._replace(text=redact.redact(region.text))
        found = {key: len(texts.occurrences(key[0], clean.text)) for key in likely}
        if any(found.values()):
            kept.append(clean)
        for key, count in found.items():
            counts[key] += count
    return tuple(kept)


def _hint(quote: str) -> str:
    """Return the longest word of a quote that no redaction can have put there."""
    return max((part for word in quote.split() for part in _MARK.split(word)), key=len, default="")


def check(
    evidence: Sequence[Evidence],
    kept: Container[Evidence],
    regions: Mapping[str, Sequence[Region]],
) -> Iterator[Finding]:
    """Yield what is wrong with quotes; those in `kept` were matched when they came in."""
    for number, item in enumerate(evidence, 1):
        where = f"evidence {number}"
        if not item.quote.strip():
            yield Finding("quote-empty", where, "The quote is empty.", "Quote the session.")
        elif not _is_sound(item):
            message = "`region` or `lines` names no place."
            repair = "Count regions and lines from 1: region: 2, lines: [3, 4]."
            yield Finding("quote-place", where, message, repair)
        elif item in kept:
            continue
        elif len(item.quote) > MAX_CHARS:
            message = f"The quote has {len(item.quote)} characters, more than {MAX_CHARS}."
            yield Finding("quote-too-long", where, message, "Quote the one passage that shows it.")
        elif session_of(item, regions) not in regions:
            yield _unverified(item, regions, where)
        else:
            yield from _check_one(item, regions[session_of(item, regions)], where)


def session_of(item: Evidence, regions: Mapping[str, Sequence[Region]]) -> str:
    """Return the session of a quote; one that names none is of the only session at hand."""
    return next(iter(regions)) if not item.session and len(regions) == 1 else item.session


def is_tainted(evidence: Iterable[Evidence], regions: Mapping[str, Sequence[Region]]) -> bool:
    """Tell whether quotes stand in text from outside the repository, and in nothing else.

    Those of sessions that are not at hand say nothing either way.
    """
    held = [
        region
        for item in evidence
        for region, _ in _places(item, regions.get(session_of(item, regions), ()))
    ]
    return bool(held) and all(region.is_foreign for region in held)


def _is_sound(item: Evidence) -> bool:
    first, last = item.lines or (1, 1)
    return 1 <= first <= last and (item.region is None or item.region >= 1)


def _unverified(item: Evidence, regions: Mapping[str, Sequence[Region]], where: str) -> Finding:
    """Say that a quote's session is not at hand; where another one is, name that."""
    if not item.session:
        message = "The quote names no session, and none is at hand."
        return Finding("unverified", where, message, "Name the session, and give its transcript.")
    message = f"The session {redact.quoted(item.session)} cannot be read here."
    if len(regions) != 1:
        repair = "Check again where its transcript is."
        return Finding("unverified", where, message, repair)
    expected = next(iter(regions))
    named = redact.beginning(expected, 60)
    repair = f"Write session: {named}, or check again with the transcript of the other."
    return Finding("unverified", where, message, repair, expected=expected)


def _check_one(item: Evidence, regions: Sequence[Region], where: str) -> Iterator[Finding]:
    places = _places(item, regions)
    if len(places) == 1:
        return
    if not places:
        message = "The quote does not stand in the session."
        repair = "Reread the source and reconsider the claim."
        yield Finding("quote-not-found", where, message, repair)
    elif len(places) > MAX_LISTED:
        message = f"The quote stands more than {MAX_LISTED} times in the session."
        yield Finding("quote-ambiguous", where, message, "Quote more of the text.")
    else:
        listed = [_listed(item.quote, region, at) for region, at in places]
        message = f"The quote stands {len(places)} times: {'; '.join(listed)}."
        repair = "Quote more, or add the region and lines of the one that is meant."
        yield Finding("quote-ambiguous", where, message, repair)


def _places(item: Evidence, regions: Sequence[Region]) -> list[tuple[Region, int]]:
    """Return where a quote stands: the region, and the offset in its text."""
    found = []
    for region in regions:
        if item.region in (None, region.number) and _is_sound(item):
            start, end = _span(item.lines, region.text)
            part = region.text[start:end]
            found += [(region, start + at) for at in texts.occurrences(item.quote, part)]
    return found


def _span(lines: tuple[int, int] | None, text: str) -> tuple[int, int]:
    """Return the offsets of some lines, counted from 1, or of the whole text."""
    if lines is None:
        return 0, len(text)
    starts = [0, *(found.end() for found in re.finditer("\n", text)), len(text) + 1]
    first, last = (min(number, len(starts) - 1) for number in (lines[0] - 1, lines[1]))
    return starts[first], starts[last] - 1


def _listed(quote: str, region: Region, at: int) -> str:
    """Return one of several places in words, with the range of lines that holds it alone."""
    text = region.text
    stands = re.compile(r"\s+".join(map(re.escape, quote.split()))).match(text, at)
    end = at if stands is None else stands.end()
    first, last = (text.count("\n", 0, offset) + 1 for offset in (at, end))
    column = at - text.rfind("\n", 0, at)
    window = windows.around(text, at, end, end - at + 2 * CONTEXT_CHARS)
    shown = texts.clean_line(window.text)
    start, stop = _span((first, last), text)
    is_alone = len(texts.occurrences(quote, text[start:stop])) == 1
    isolated = f"region: {region.number}, lines: [{first}, {last}]"
    advice = isolated if is_alone else "no range of lines holds it alone, quote more"
    return f"region {region.number}, line {first}, column {column}, …{shown}… ({advice})"
