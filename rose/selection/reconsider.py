"""Reconsider: what was turned down and may not stay so, lessons and the lessons of skip rules.

Decides nothing and writes nothing but what is derived. What could not be checked is said, never
shown as if there were nothing. docs/decisions/027.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from rose import redact
from rose import text as texts
from rose.errors import RoseError
from rose.routing import ledger, skips
from rose.selection import index, reject, trace
from rose.selection import scope as scoping
from rose.selection.search import NO_WORD
from rose.selection.trace import items

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rose.findings import Finding
    from rose.routing.skips import Looked, Skip
    from rose.selection.index import Index
    from rose.selection.reject import Listed
    from rose.selection.trace import Row
    from rose.store.lessons import Holding, Lesson

# How far down a search a lesson still counts as found.
REACH = 15
MOST_QUERIES = 1_000


@dataclass(frozen=True, slots=True)
class Reached:
    """A rejected lesson that its queries still find; `ranks` holds its place for each of them.

    `rows` are its rejections, the latest last.
    """

    lesson: Lesson
    ranks: Mapping[str, int]
    rows: tuple[Listed, ...]

    @property
    def is_changed(self) -> bool | None:
        """Tell whether it is none of the versions turned down; None where one is not known."""
        changed = [row.is_changed for row in self.rows]
        return False if False in changed else None if None in changed else True

    def as_json(self) -> dict[str, object]:
        last = self.rows[-1]
        return {
            "node": self.lesson.id,
            "path": self.lesson.path,
            "title": self.lesson.title,
            "reason": last.row.why,
            "stage": last.seen.stage,
            "changed": self.is_changed,
            "queries": [*self.ranks],
            "rejections": [{**x.as_json(), "rank": self.ranks.get(x.row.query)} for x in self.rows],
        }


class Unchecked(NamedTuple):
    """Something that could not be checked, and why."""

    what: str
    reason: str


class _Use(NamedTuple):
    """That a lesson was used: in a session as a whole, or of what one record served."""

    at: str
    session: str
    trace: str

    def is_since(self, one: Listed) -> bool:
        """Tell whether it came after a rejection; of the same session only a record can tell."""
        is_other = self.trace != one.row.trace if self.trace else self.session != one.row.session
        return is_other and self.at >= one.row.at


@dataclass(frozen=True, slots=True)
class Reconsidered:
    """What may be looked at again, what could not be checked, and how much was looked at."""

    lessons: tuple[Reached, ...]
    rules: tuple[Skip, ...]
    unchecked: tuple[Unchecked, ...]
    findings: tuple[Finding, ...]
    rejections: int
    skips: int

    def as_json(self) -> dict[str, object]:
        return {
            "lessons": [one.as_json() for one in self.lessons],
            "rules": [one.as_json() for one in self.rules],
            "unchecked": [one._asdict() for one in self.unchecked],
            "findings": [finding.as_json() for finding in self.findings],
            "looked_at": {"rejections": self.rejections, "skip_rules": self.skips},
        }


def reconsider(holdings: Sequence[Holding]) -> Reconsidered:
    """Return what was turned down and is found all the same, or is no longer what it was."""
    listed, findings = reject.listing(holdings)
    unchecked = [*_unreadable(holdings)]
    open_rows = _unused(listed, holdings, unchecked)
    reached = _reached(open_rows, holdings, unchecked)
    looked = [_rules(holding) for holding in holdings]
    unchecked += [Unchecked(*one) for of_store in looked for one in of_store.unchecked]
    return Reconsidered(
        tuple(reached),
        tuple(one for of_store in looked for one in of_store.found),
        tuple(unchecked),
        findings,
        len(listed),
        sum(of_store.of for of_store in looked),
    )


def _rules(holding: Holding) -> Looked:
    versions = {lesson.path: lesson.version for lesson in holding.shelf.active()}
    paths = {lesson.id: lesson.path for lesson in holding.shelf.lessons}
    return skips.look(holding.store, holding.settings.lessons_paths, versions, paths)


def _unreadable(holdings: Sequence[Holding]) -> Iterable[Unchecked]:
    for holding in holdings:
        for path in (str(path) for path, _ in ledger.stamps(holding.store)):
            if not (os.path.isfile(path) and os.access(path, os.R_OK)):
                yield Unchecked(path, "the ledger cannot be read, so use since is not known")


def _unused(
    listed: Sequence[Listed], holdings: Sequence[Holding], unchecked: list[Unchecked]
) -> list[Listed]:
    """Return the rejections of lessons that nobody has used since."""
    uses: dict[str, list[_Use]] = {one.row.node: [] for one in listed}
    for store in (holding.store for holding in holdings if uses):
        for case in ledger.read(store).cases:
            for node in uses.keys() & set(case.used):
                uses[node].append(_Use(case.at, case.session, ""))
        try:
            for row in trace.about(store, uses):
                for node in uses.keys() & _served_and_used(row):
                    uses[node].append(_Use(str(row.get("at")), "", str(row["id"])))
        except OSError as error:
            reason = f"the traces cannot be read: {error.strerror or error}"
            unchecked.append(Unchecked(store.selections, reason))
    return [one for one in listed if not any(use.is_since(one) for use in uses[one.row.node])]


def _served_and_used(row: Row) -> set[str]:
    output = row.get("output")
    used = output.get("used") if isinstance(output, dict) else None
    served = {str(one.get("node")) for one in items(row, "admitted")}
    return {str(node) for node in used if str(node) in served} if isinstance(used, list) else set()


def _reached(
    rows: Sequence[Listed], holdings: Sequence[Holding], unchecked: list[Unchecked]
) -> list[Reached]:
    """Return the lessons that the queries of their own rejections find, in order of id."""
    lessons = {name: lesson for name, (_, lesson) in scoping.active(holdings).items()}
    by_node: dict[str, list[Listed]] = {}
    for one in sorted(rows, key=lambda one: one.row.at):
        if one.row.node in lessons:
            by_node.setdefault(one.row.node, []).append(one)
    queries = dict.fromkeys(one.row.query for kept in by_node.values() for one in kept)
    places = _places([*queries][:MOST_QUERIES], holdings, unchecked)
    if len(queries) > MOST_QUERIES:
        left = f"{len(queries) - MOST_QUERIES} more queries"
        unchecked.append(Unchecked(left, f"only {MOST_QUERIES} are looked for"))
    found = []
    for node, kept in sorted(by_node.items()):
        asked = dict.fromkeys(one.row.query for one in kept)
        ranks = {query: places[query][node] for query in asked if node in places.get(query, {})}
        if ranks:
            found.append(Reached(lessons[node], ranks, tuple(kept)))
    return found


def _places(
    queries: Sequence[str], holdings: Sequence[Holding], unchecked: list[Unchecked]
) -> dict[str, dict[str, int]]:
    """Return the rank of each of the first lessons that each query finds."""
    found: dict[str, dict[str, int]] = {}
    if not queries:
        return found
    try:
        with contextlib.closing(index.open_index(holdings)) as opened:
            for query in queries:
                _place(query, opened, found, unchecked)
    except (RoseError, OSError, sqlite3.Error) as error:
        left = [query for query in queries if query not in found]
        unchecked += [Unchecked(query, f"the search failed: {error}") for query in left]
    return found


def _place(
    query: str, opened: Index, found: dict[str, dict[str, int]], unchecked: list[Unchecked]
) -> None:
    words = list(dict.fromkeys(texts.words(redact.redact(query))))
    if not words:
        unchecked.append(Unchecked(query, f"it {NO_WORD}"))
    hits = opened.hits(words, REACH) if words else []
    found[query] = {node: rank for rank, (node, _) in enumerate(hits, 1)}
