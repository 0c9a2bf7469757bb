"""Look-ups: what a search, a look at evidence or an opening showed, as its trace says it.

The kind says how much of a lesson was seen: search one window, evidence passages, a range of
lines, or the whole lesson (docs/store.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from rose.errors import RoseError
from rose.selection import trace
from rose.selection.trace import Candidate, Record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rose.selection.search import Found, Opened, Passages
    from rose.store.lessons import Holding


@dataclass(frozen=True, slots=True)
class LookUp:
    """One call: what was asked for within which limits, and what it showed."""

    kind: Literal["search", "evidence"]
    query: str
    shown: Sequence[Candidate]
    budget: Mapping[str, int]
    scope: Sequence[str] = ()


def of_search(found: Found) -> list[Candidate]:
    return [
        Candidate(row.node, row.version, rank, row.score, row.window)
        for rank, row in enumerate(found.rows, 1)
    ]


def of_passages(found: Passages) -> list[Candidate]:
    """Return one candidate a passage; without any, the lesson that says nothing of the query."""
    windows = found.windows or (None,)
    return [Candidate(found.node, found.version, 1, None, window) for window in windows]


def of_opening(found: Opened) -> list[Candidate]:
    return [Candidate(found.node, found.version, 1, None, found.window)]


def write(holdings: Sequence[Holding], session: str, at: str, look: LookUp) -> str:
    """Write the trace of a look-up; return why it could not be written, empty where it was."""
    try:
        record = Record(
            id=trace.new_id(),
            at=at,
            session=session,
            kind=look.kind,
            query=look.query,
            store=trace.state_of(holdings),
            scope=look.scope,
            budget=look.budget,
            candidates=look.shown,
        )
        trace.append(holdings[0].store, record)
    except (RoseError, OSError) as error:
        return str(error)
    return ""
