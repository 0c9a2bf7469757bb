"""Stickiness: what was turned down is not judged again for the same need.

A session's own rejection holds within it alone. What undoes it depends on how much was seen: where
the task was the reason, another scope; after passages, another version; after one window, that
too, or a task that touches more of the lesson. A skip rule whose condition is met outright holds
in every session. docs/decisions/027.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rose import text as texts
from rose.errors import RoseError
from rose.findings import errors
from rose.selection import learned, rejection_page, search, stages, trace
from rose.selection import scope as scoping
from rose.selection import terms as wording
from rose.selection.rejections import Page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rose.findings import Finding
    from rose.selection.rejections import Rejection
    from rose.selection.stages import Sight
    from rose.store.lessons import Holding, Lesson
    from rose.store.parse import Part

# Two queries are one need where they share this much of all their words.
ALIKE = 2, 3


def standing(
    holdings: Sequence[Holding],
    session: str,
    query: str,
    scope: Sequence[str],
    faults: list[Finding] | None = None,
) -> dict[str, str]:
    """Return the lessons that are turned down for what a query asks, with the particulars.

    That is by the session, or by a skip rule. `faults` takes what keeps the session's own
    rejections from being known.
    """
    rules = learned.ruled_out(query, holdings)
    found = {node: f"by the skip rule {rule}" for node, rule in rules.items()}
    page = rejection_page.of_session(holdings[0].store, session) if session else Page()
    if faults is not None:
        faults += errors(page.findings)
    return found | _by_session(holdings, page.rows, _Asked(query, scope))


def _by_session(
    holdings: Sequence[Holding], rows: Sequence[Rejection], asked: _Asked
) -> dict[str, str]:
    """Return what the session itself turned down, of several rejections by the latest.

    A record that cannot be read shows nothing, and then a rejection counts as unrecorded.
    """
    active = scoping.active(holdings) if rows else {}
    # First what costs nothing: a page may hold thousands.
    rows = [row for row in rows if row.node in active and asked.may_meet(row, active[row.node][1])]
    try:
        known = trace.named(holdings[0].store, {row.trace for row in rows if row.trace})
    except OSError:
        known = {}
    found: dict[str, str] = {}
    parts: dict[str, Part | None] = {}
    for row in reversed(rows):
        if row.node in found:
            continue
        seen = stages.of_rejection(row, known)
        if not asked.is_about(row, seen):
            continue
        lesson = active[row.node][1]
        if row.node not in parts:
            parts[row.node] = _part(holdings, row.node)
        if row.scope is not None or asked.finds_same(row, seen, lesson, parts[row.node]):
            # Nothing of why: the judgement that is to come must not hear of it.
            found[row.node] = f"by this session, {seen.stage} {row.trace}".rstrip()
    return found


def _part(holdings: Sequence[Holding], node: str) -> Part | None:
    try:
        return search.find(holdings, node)[2]
    except RoseError:
        # It cannot be read: admission says so.
        return None


def need(query: str) -> frozenset[str]:
    """Return what a query asks for, as words without endings."""
    plain = (wording.stem(word) for word in texts.words(query) if word.isdigit())
    return frozenset([*wording.terms(query), *plain])


def is_alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Tell whether two queries ask for the same, as far as words show it."""
    least, of = ALIKE
    return bool(one) and of * len(one & other) >= least * len(one | other)


class _Asked:
    """What is asked now, against which rejections are held."""

    def __init__(self, query: str, scope: Sequence[str]) -> None:
        self._words = need(query)
        self._scope = set(scope)
        self._needs: dict[str, frozenset[str]] = {}
        self._said: dict[str, frozenset[str]] = {}

    def may_meet(self, row: Rejection, lesson: Lesson) -> bool:
        """Tell whether scope or version leave it open that a rejection stands."""
        if row.scope is not None:
            return set(row.scope) == self._scope
        return row.version in ("", lesson.version)

    def is_about(self, row: Rejection, seen: Sight) -> bool:
        """Tell whether a rejection is about what is asked now."""
        return any(is_alike(self._need(one), self._words) for one in (row.query, seen.query))

    def finds_same(self, row: Rejection, seen: Sight, lesson: Lesson, part: Part | None) -> bool:
        """Tell whether the lesson still is what was judged, as far as it was seen then."""
        if part is None or row.version not in ("", part.version):
            return False
        more = self._words.difference(self._need(row.query), self._need(seen.query))
        if seen.stage == "evidence" or not more:
            return True
        if row.node not in self._said:
            self._said[row.node] = need(f"{lesson.title}\n{lesson.path}\n{part.text}")
        return more.isdisjoint(self._said[row.node])

    def _need(self, text: str) -> frozenset[str]:
        if text not in self._needs:
            self._needs[text] = need(text)
        return self._needs[text]
