"""Search and evidence: which lessons are about a query, and the passages that say so.

Both show parts of lessons through the one window chooser; neither judges and neither writes
anything but the derived index.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rose import redact
from rose import text as texts
from rose.errors import RoseError
from rose.findings import Finding
from rose.selection import index, veil, windows
from rose.selection import scope as scoping
from rose.store import lessons as shelf
from rose.store import parse, walk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rose.layout import Store
    from rose.selection.index_rows import Progress
    from rose.selection.windows import Window
    from rose.store.lessons import Holding, Lesson
    from rose.store.parse import Part

# What a call gives where it does not say otherwise (docs/cli.md has what that costs).
K = 5
CHARS = 500
EVIDENCE_CHARS = 600
WINDOWS = 2
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
    """What one lesson says of a query, in order of its text; `is_cut` where not all was read."""

    terms: tuple[str, ...]
    node: str
    path: str
    version: str
    windows: tuple[Window, ...]
    is_cut: bool = False

    def as_json(self) -> dict[str, object]:
        shown = [window._asdict() for window in self.windows]
        return {"node": self.node, "version": self.version, "windows": shown}


def search(
    holdings: Sequence[Holding],
    query: str,
    *,
    k: int = K,
    chars: int = CHARS,
    scope: Sequence[str] = (),
    progress: Progress | None = None,
    is_veiled: bool = False,
) -> Found:
    """Return the k active lessons that are most about a query, one row each, ties by id.

    With a scope only lessons whose id or store path one of its globs matches are returned.
    `is_veiled` leaves out of what is shown what no tool may show.
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
            part = _now(store, lesson)
        except OSError as error:
            reason = f"The file cannot be read: {error.strerror or error}."
            findings.append(Finding(_UNREAD[0], place, reason, "Make it readable."))
            continue
        [shown] = windows.choose(part.text, terms, chars) or [windows.head(part.text, chars)]
        title = lesson.title
        if is_veiled:
            title, shown = veil.line(title), veil.Veil(part.text).window(shown)
        rows.append(Row(node, title, place, round(score, 6), part.version, shown))
    return Found(terms, tuple(rows), tuple(findings))


def evidence(
    holdings: Sequence[Holding],
    ref: str,
    query: str,
    *,
    chars: int = EVIDENCE_CHARS,
    count: int = WINDOWS,
    is_veiled: bool = False,
) -> Passages:
    """Return the passages of one lesson that hold most of a query's terms; none without a hit.

    Raises RoseError as `find` does.
    """
    lesson, place, part = find(holdings, ref)
    terms = _terms(query)
    shown = windows.choose(part.text, terms, chars, count)
    if is_veiled and shown:
        shown = list(map(veil.Veil(part.text).window, shown))
    return Passages(terms, lesson.id, place, part.version, tuple(shown), is_cut=part.is_cut)


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
        return lesson, place, _now(store, lesson)
    except OSError as error:
        raise RoseError(f"{place} cannot be read: {error.strerror or error}.") from error


def _now(store: Store, lesson: Lesson) -> Part:
    """Return a lesson's text as far as it is searched; raises OSError."""
    path = os.path.join(store.base, lesson.path)
    # The folder may have become another's since it was walked; a pipe is never waited for.
    if os.path.lexists(path) and not (walk.Bounds(store).hold(path) and os.path.isfile(path)):
        raise OSError("it is no file of this store")
    return parse.read_part(path)


def _terms(query: str) -> tuple[str, ...]:
    """Return what is looked for: the words of the query as a trace keeps it, without secrets."""
    return tuple(dict.fromkeys(texts.words(redact.redact(query))))
