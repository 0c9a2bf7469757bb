"""What one recall is asked: a query, its limits, and what the session has seen and turned down."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rose import redact
from rose.selection import sticky
from rose.selection.pack import Budget

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rose.findings import Finding
    from rose.selection.chosen import Chooser
    from rose.selection.judged import Judging
    from rose.selection.pack import Serving
    from rose.selection.trace import Condition
    from rose.store.lessons import Holding

# How many lessons are served.
K = 3
# A longer prompt is mostly what was pasted into it.
QUERY_CHARS = 4_000
UNKNOWN = "not all that this session turned down is known"


@dataclass(frozen=True, slots=True)
class Shown:
    """A lesson as a session was shown it before; fresh while the session cannot have lost it."""

    version: str
    is_fresh: bool


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for: a query as `query_of` gives it, and the limits.

    By lesson id, `shown` is what the session was shown before, and `rejected` what it turned down
    for this very need, with the particulars (rose.selection.sticky); `lack` says in words why that
    is not known. `chooser` selects in the place of the selector, and `judging` is what is judged
    of the selection.
    """

    query: str
    budget: Budget
    serving: Serving = "bodies"
    k: int = K
    scope: Sequence[str] = ()
    condition: Condition = "retrieval"
    session: str = ""
    shown: Mapping[str, Shown] = field(default_factory=dict)
    rejected: Mapping[str, str] = field(default_factory=dict)
    lack: str = ""
    chooser: Chooser | None = None
    judging: Judging | None = None


def query_of(prompt: str) -> str:
    """Return a prompt as it is read and recorded: its beginning, without secrets."""
    return redact.beginning(prompt, QUERY_CHARS)


def of(
    holdings: Sequence[Holding], prompt: str, *, session: str = "", scope: Sequence[str] = ()
) -> Request:
    """Return the request that a prompt makes of recall, as the first store's settings have it.

    Where `recall.serve` is off and somebody asks all the same, they get the lessons' text.
    """
    settings = holdings[0].settings
    query, globs = query_of(prompt), tuple(scope)
    faults: list[Finding] = []
    rejected = sticky.standing(holdings, session, query, globs, faults)
    return Request(
        query,
        Budget(settings.recall_max_tokens),
        "bodies" if settings.recall_serve == "off" else settings.recall_serve,
        scope=globs,
        session=session,
        rejected=rejected,
        lack=f"degraded, {UNKNOWN}: {faults[0].line()}" if faults else "",
    )
