"""From picks to proposals: who selects, a fork where one was asked for, and who judges.

Whatever fails here is said and leaves what came before it: a fork that gives no answer leaves the
selector's picks, a judge that gives none leaves them unjudged where that is allowed
(docs/decisions/028).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, Protocol

from rose.errors import RoseError
from rose.selection import judged
from rose.selection import scope as scoping
from rose.selection.admit import Proposal, Refusal
from rose.selection.picks import Pick

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rose.selection.pipeline import Request
    from rose.selection.trace import Failure
    from rose.store.lessons import Holding, Lesson

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


def select(
    request: Request,
    picks: Sequence[Pick],
    holdings: Sequence[Holding],
    propose: Callable[[Sequence[Pick], Request], list[Proposal]],
) -> Selection:
    """Return what is selected of a selector's picks, or by whoever else was asked."""
    found = Selection(propose(picks[: request.k], request))
    is_chosen = False
    if request.chooser is not None:
        try:
            named = request.chooser.choose(request.query, holdings, request.k)
        except (RoseError, OSError) as failure:
            found = replace(found, failure="selection-failed", problem=str(failure))
        else:
            is_chosen = True
            proposals = _named(named, request, propose, request.chooser.name)
            found = Selection(proposals, looked=named.looked)
    if request.judging is None or not found.proposals:
        return found
    wide = found.proposals
    if request.judging.decides and not is_chosen:
        # Order and membership are the judge's: no score of the selector's is mixed with its own.
        count = len(picks) if "rerank" in request.judging.modes else request.k
        wide = propose([pick._replace(is_worth=True) for pick in picks[:count]], request)
    return _judged(found, wide, request, request.judging, scoping.everything(holdings))


def _judged(
    found: Selection,
    wide: Sequence[Proposal],
    request: Request,
    asked: judged.Judging,
    known: scoping.Known,
) -> Selection:
    name = None if asked.judge is None else asked.judge.name
    try:
        return replace(found, proposals=judged.judge(wide, known, request, asked), judge=name)
    except (RoseError, OSError) as failure:
        said = "; ".join(filter(None, [found.problem, str(failure)]))
        left = found.proposals if asked.is_optional else ()
        return replace(found, proposals=left, judge=name, failure="judge-failed", problem=said)


def _named(
    named: Named,
    request: Request,
    propose: Callable[[Sequence[Pick], Request], list[Proposal]],
    by: str,
) -> list[Proposal]:
    picks = [Pick(lesson, 1.0, {by: 1.0}) for lesson in named.lessons]
    late = Refusal("not-selected", BEYOND.format(k=request.k))
    known = [
        replace(one, refusal=late) if at >= request.k and one.refusal is None else one
        for at, one in enumerate(propose(picks, request))
    ]
    # Admission says what becomes of a name that no lesson has.
    return [*known, *(Proposal(name, "", {by: 1.0}) for name in named.unknown)]
