"""Stickiness: what a session turned down is not judged again for the same need.

It holds within the session alone. What undoes it depends on how much was seen: where the task was
the reason, another scope; after passages, another version; after one window, that too, or a task
that touches more of the lesson. docs/decisions/027.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rose import text as texts
from rose.errors import RoseError
from rose.selection import rejections, search, stages, trace
from rose.selection import scope as scoping
from rose.selection import terms as wording

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rose.selection.rejections import Rejection
    from rose.selection.stages import Sight
    from rose.store.lessons import Holding

# Two queries are one need where they share this much of all their words.
ALIKE = 2, 3
# A prompt waits, and the records of a session that goes on are among the latest.
LATE_BYTES = 16 << 20


def standing(
    holdings: Sequence[Holding], session: str, query: str, scope: Sequence[str]
) -> dict[str, str]:
    """Return the lessons that a session turned down for what a query asks, with the particulars.

    A record that cannot be read shows nothing, and then a rejection counts as unrecorded.
    """
    store = holdings[0].store
    rows = rejections.of_session(store, session).rows if session else ()
    if not rows:
        return {}
    try:
        known = trace.named(store, {row.trace for row in rows if row.trace}, LATE_BYTES)
    except OSError:
        known = {}
    active = scoping.active(holdings)
    found: dict[str, str] = {}
    for row in rows:
        if row.node in active:
            seen = stages.of_rejection(row, known)
            if _stands(row, seen, query, scope) and _is_same(row, seen, query, holdings):
                # Nothing of why: the judgement that is to come must not hear of it.
                found[row.node] = f"by this session, {seen.stage} {row.trace}".rstrip()
    return found


def need(query: str) -> frozenset[str]:
    """Return what a query asks for, as words without endings."""
    plain = (wording.stem(word) for word in texts.words(query) if word.isdigit())
    return frozenset([*wording.terms(query), *plain])


def is_alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Tell whether two queries ask for the same, as far as words show it."""
    least, of = ALIKE
    return bool(one) and of * len(one & other) >= least * len(one | other)


def _stands(row: Rejection, seen: Sight, query: str, scope: Sequence[str]) -> bool:
    """Tell whether a rejection is about what is asked now, in the scope that it rests on."""
    asked = need(query)
    is_asked = any(is_alike(need(one), asked) for one in (row.query, seen.query))
    return is_asked and (row.scope is None or set(row.scope) == set(scope))


def _is_same(row: Rejection, seen: Sight, query: str, holdings: Sequence[Holding]) -> bool:
    """Tell whether the lesson still is what was judged, as far as it was seen then."""
    if row.scope is not None:
        return True
    try:
        lesson, _, part = search.find(holdings, row.node)
    except RoseError:
        # It cannot be read: admission says so.
        return False
    if part.version != row.version:
        return False
    more = need(query).difference(need(row.query), need(seen.query))
    touched = need(f"{lesson.title}\n{lesson.path}\n{part.text}") if more else ()
    return seen.stage == "evidence" or more.isdisjoint(touched)
