"""From picks to proposals: who selects, a fork where one was asked for, and who judges.

Whatever fails here is said and leaves what came before it: a fork that gives no answer leaves the
selector's picks, a judge that gives none leaves them unjudged where that is allowed
(docs/decisions/028).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, Protocol

from rose.errors import RoseError
from rose.selection import scope as scoping
from rose.selection.admit import Proposal, Refusal
from rose.selection.picks import Pick
from rose.selection.select import LEAST_SHARE, MOST_SERVED, NEAR

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rose.selection.judged import Judging
    from rose.selection.requests import Request
    from rose.selection.trace import Failure
    from rose.store.lessons import Holding, Lesson

HELD = "the session holds it still"
WEAK = (
    f"too little speaks for it: under {LEAST_SHARE:.0%} of the whole, "
    f"or without a record under {NEAR:.0%} of the best"
)
BEYOND = "named beyond the first {k}"


class SelectionFailure(RoseError):
    """Whoever was to select has given no answer."""


class Named(NamedTuple):
    """What a chooser named, best first, and what it looked at before.

    `unknown` are names that no lesson has.
    """

    lessons: Sequence[Lesson]
    unknown: Sequence[str]
    looked: Sequence[Mapping[str, object]]


class Chooser(Protocol):
    """A model that selects. `name` is what the record says of it."""

    name: str

    def choose(self, query: str, holdings: Sequence[Holding], k: int) -> Named:
        """Return the lessons that bear on a query; raises SelectionFailure."""


@dataclass(frozen=True, slots=True)
class Selection:
    """What is proposed to admission, who judged it, and what failed on the way."""

    proposals: Sequence[Proposal]
    failure: Failure | None = None
    problem: str = ""
    judge: str | None = None
    looked: Sequence[Mapping[str, object]] = ()


def select(request: Request, picks: Sequence[Pick], holdings: Sequence[Holding]) -> Selection:
    """Return what is selected of a selector's picks, or by whoever else was asked."""
    picks = _counted(picks, request)
    first = _first(picks, request)
    found = Selection(_proposed(first, request))
    is_chosen = False
    if request.chooser is not None:
        try:
            named = request.chooser.choose(request.query, holdings, request.k)
        except (RoseError, OSError) as failure:
            found = replace(found, failure="selection-failed", problem=str(failure))
        else:
            is_chosen = True
            proposals = _named(named, request, request.chooser.name)
            found = Selection(proposals, looked=named.looked)
    if request.judging is None or not found.proposals:
        return found
    wide, most = found.proposals, request.k
    if request.judging.modes & {"rerank", "filter"} and not is_chosen:
        if "filter" not in request.judging.modes:
            # The order is the judge's. How many are worth serving only a filter says instead.
            most = sum(one.is_worth and one.lesson.id not in request.rejected for one in first)
        field = picks if "rerank" in request.judging.modes else first
        wide = _proposed([pick._replace(is_worth=True) for pick in field], request)
    if not most:
        return found
    asked = replace(request, k=most)
    return _judged(found, wide, asked, request.judging, scoping.everything(holdings))


def _counted(picks: Sequence[Pick], request: Request) -> list[Pick]:
    """Return the picks, of which no more are worth it than are ever served.

    What the session turned down takes no place from what it did not.
    """
    open_before = 0
    found = []
    for pick in picks:
        found.append(pick._replace(is_worth=pick.is_worth and open_before < MOST_SERVED))
        open_before += pick.lesson.id not in request.rejected
    return found


def _first(picks: Sequence[Pick], request: Request) -> list[Pick]:
    """Return the first k picks that were not turned down, and those between that were."""
    places = request.k
    found = []
    for pick in picks:
        if not places:
            break
        found.append(pick)
        places -= pick.lesson.id not in request.rejected
    return found


def _judged(
    found: Selection,
    wide: Sequence[Proposal],
    request: Request,
    asked: Judging,
    known: scoping.Known,
) -> Selection:
    # Most prompts are judged by nobody, and each pays for what is loaded.
    from rose.selection import judged

    name = None if asked.judge is None else asked.judge.name
    try:
        return replace(found, proposals=judged.judge(wide, known, request, asked), judge=name)
    except (RoseError, OSError) as failure:
        said = "; ".join(filter(None, [found.problem, str(failure)]))
        left = found.proposals if asked.is_optional else ()
        return replace(found, proposals=left, judge=name, failure="judge-failed", problem=said)


def _proposed(picks: Sequence[Pick], request: Request) -> list[Proposal]:
    """Return the picks as they are proposed to a session that may hold some of them."""
    found = []
    for pick in picks:
        node, version = pick.lesson.id, pick.lesson.version
        shown = request.shown.get(node)
        is_held = shown is not None and shown.is_fresh and shown.version == version
        refusal = Refusal("not-selected", HELD) if is_held else None
        if not pick.is_worth:
            refusal = Refusal("below-threshold", WEAK)
        if node in request.rejected:
            refusal = Refusal("rejected-earlier", request.rejected[node])
        is_again = shown is not None and not is_held
        one = Proposal(node, version, why(pick), refusal, is_again=is_again, is_held=is_held)
        found.append(one)
    return found


def why(pick: Pick) -> dict[str, float]:
    """Return what gave a pick its score, as it is recorded."""
    return {name: round(value, 6) for name, value in pick.why.items()}


def _named(named: Named, request: Request, by: str) -> list[Proposal]:
    picks = [Pick(lesson, 1.0, {by: 1.0}) for lesson in named.lessons]
    late = Refusal("not-selected", BEYOND.format(k=request.k))
    first = {pick.lesson.id for pick in _first(picks, request)}
    known = [
        replace(one, refusal=late) if one.node not in first and one.refusal is None else one
        for one in _proposed(picks, request)
    ]
    # Admission says what becomes of a name that no lesson has.
    return [*known, *(Proposal(name, "", {by: 1.0}) for name in named.unknown)]
