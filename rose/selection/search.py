"""Look-ups: which lessons are about a query, the passages that say so, and a lesson's own lines.

Parts of lessons come from the one window chooser, and from their bodies alone: a header is not
what a lesson says. All that is shown goes through the veil. Nothing is judged, and nothing
written but the derived index.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rose import redact
from rose import text as texts
from rose.errors import RoseError
from rose.findings import Finding
from rose.selection import index, windows
from rose.selection import scope as scoping
from rose.selection.veil import Veil, line
from rose.selection.windows import Window
from rose.store import lessons as shelf
from rose.store import walk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rose.selection.index_rows import Progress
    from rose.store.lessons import Holding, Lesson
    from rose.store.parse import Part

# What a call gives where it does not say otherwise (docs/cli.md has what that costs).
K = 5
CHARS = 500
EVIDENCE_CHARS = 600
WINDOWS = 2
# What one opening shows at most; the rest is had by its lines.
MOST_CHARS = 20_000
NO_WORD = "holds no word that could be looked for"
# Lessons that a search cannot find, or not by all that they say, so it says so.
_UNREAD = ("lesson-unreadable", "folder-unreadable", "lesson-cut")


@dataclass(frozen=True, slots=True)
class Row:
    """One lesson that a search found; `path` is whole for a lesson of the home store."""

    node: str
    title: str
    path: str
    score: float
    version: str
    window: Window

    def as_json(self) -> dict[str, object]:
        return {
            "node": self.node,
            "title": self.title,
            "path": self.path,
            "score": self.score,
            "version": self.version,
            "window": self.window._asdict(),
        }


@dataclass(frozen=True, slots=True)
class Found:
    """The rows of a search, best first; `terms` are what the query was read as."""

    terms: tuple[str, ...]
    rows: tuple[Row, ...]
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Passages:
    """What one lesson says of a query, in order of its text; `is_cut` where not all was read.

    `lines` are those on which the windows begin, counted from 1 in the file.
    """

    terms: tuple[str, ...]
    node: str
    path: str
    version: str
    windows: tuple[Window, ...]
    lines: tuple[int, ...]
    is_cut: bool

    def as_json(self) -> dict[str, object]:
        shown = [window._asdict() for window in self.windows]
        return {"node": self.node, "version": self.version, "windows": shown}

    def passages(self) -> list[tuple[str, str]]:
        """Return the text of each window, and where it begins as a person is told."""
        told = zip(self.lines, self.windows, strict=True)
        return [(f"line {number}", window.text) for number, window in told]


@dataclass(frozen=True, slots=True)
class Opened:
    """Some lines of a lesson, counted from 1; `of` is how many there are.

    `window` is what of its body was shown, as a trace keeps it, None where that is nothing, and
    `is_whole` tells that it is all of the body. `is_cut` where not all of the file was read.
    """

    node: str
    title: str
    path: str
    version: str
    first: int
    last: int
    of: int
    text: str
    window: Window | None
    is_whole: bool
    is_cut: bool

    def as_json(self) -> dict[str, object]:
        return {
            "node": self.node,
            "title": self.title,
            "path": self.path,
            "version": self.version,
            "lines": {"first": self.first, "last": self.last, "of": self.of},
            "text": self.text,
        }


def search(
    holdings: Sequence[Holding],
    query: str,
    *,
    k: int = K,
    chars: int = CHARS,
    scope: Sequence[str] = (),
    progress: Progress | None = None,
) -> Found:
    """Return the k active lessons that are most about a query, one row each, ties by id.

    With a scope only lessons whose id or store path one of its globs matches are returned.
    """
    terms = _terms(query)
    findings = [x for held in holdings for x in held.shelf.findings if x.rule in _UNREAD]
    if not terms:
        return Found(terms, (), tuple(findings))
    known = scoping.active(holdings)
    within = scoping.within(known, scope)
    with contextlib.closing(index.open_index(holdings, progress)) as opened:
        hits = opened.hits(terms, k, within=within)
    rows = []
    for node, score in hits:
        # Another process may have indexed a lesson that was not there when this one looked.
        if node not in known:
            continue
        store, lesson = known[node]
        place = walk.where(store, lesson.path)
        try:
            part = shelf.now(store, lesson)
        except OSError as error:
            reason = f"The file cannot be read: {error.strerror or error}."
            findings.append(Finding(_UNREAD[0], place, reason, "Make it readable."))
            continue
        [best] = windows.choose(part.body, terms, chars) or [windows.head(part.body, chars)]
        shown = Veil(part.text).window(best, part.start)
        rows.append(Row(node, line(lesson.title), place, round(score, 6), part.version, shown))
    return Found(terms, tuple(rows), tuple(findings))


def evidence(
    holdings: Sequence[Holding],
    ref: str,
    query: str,
    *,
    chars: int = EVIDENCE_CHARS,
    count: int = WINDOWS,
) -> Passages:
    """Return the passages of one lesson that hold most of a query's terms; none without a hit.

    Raises RoseError as `find` does.
    """
    lesson, place, part = find(holdings, ref)
    terms = _terms(query)
    chosen = windows.choose(part.body, terms, chars, count)
    cover = Veil(part.text)
    shown = tuple(cover.window(window, part.start) for window in chosen)
    lines = tuple(part.text.count("\n", 0, window.start) + 1 for window in shown)
    return Passages(terms, lesson.id, place, part.version, shown, lines, part.is_cut)


def opening(
    holdings: Sequence[Holding], ref: str, first: int = 1, last: int | None = None
) -> Opened:
    """Return a lesson's lines from `first` to `last`, as many of them as one call shows.

    They are those of its file, the header's too. Raises RoseError as `find` does, and where
    there are no such lines.
    """
    lesson, place, part = find(holdings, ref)
    rows = part.text.removesuffix("\n").split("\n")
    if first > len(rows):
        lines = "line" if len(rows) == 1 else "lines"
        raise RoseError(f"{lesson.id} has {len(rows)} {lines}.")
    start = sum(len(row) + 1 for row in rows[: first - 1])
    end, shown = start, first - 1
    for row in rows[first - 1 : last]:
        if end + len(row) + 1 - start > MOST_CHARS:
            break
        end += len(row) + 1
        shown += 1
    if shown < first:
        # A line that no call would show whole.
        end, shown = start + MOST_CHARS, first
    end = min(end, len(part.text))
    body = max(start, part.start)
    cover = Veil(part.text)
    return Opened(
        lesson.id,
        line(lesson.title),
        place,
        part.version,
        first,
        shown,
        len(rows),
        cover.part(start, end),
        cover.window(Window(body, end, "")) if part.text[body:end].strip() else None,
        not (part.is_cut or part.text[part.start : start].strip() or part.text[end:].strip()),
        part.is_cut,
    )


def find(holdings: Sequence[Holding], ref: str) -> tuple[Lesson, str, Part]:
    """Return an active lesson, the path by which it is told, and its text as it is now.

    Raises RoseError where the reference names no active lesson, or its file cannot be read.
    """
    lesson = shelf.resolve([holding.shelf for holding in holdings], ref)
    if lesson.status != "active":
        raise RoseError(f"{lesson.id} is {lesson.status}. `rose show {lesson.id}` prints it.")
    store = next(held.store for held in holdings if held.store.kind == lesson.store)
    place = walk.where(store, lesson.path)
    try:
        return lesson, place, shelf.now(store, lesson)
    except OSError as error:
        raise RoseError(f"{place} cannot be read: {error.strerror or error}.") from error


def _terms(query: str) -> tuple[str, ...]:
    """Return what is looked for: the words of the query as a trace keeps it, without secrets."""
    return tuple(dict.fromkeys(texts.words(redact.redact(query))))
