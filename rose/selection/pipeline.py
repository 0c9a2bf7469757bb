"""Recall: from a prompt to the text that is served, and the record of how it came about.

search (a selector's picks) → selection (the first k, a fork's, a judge's) → admission → text.
Whatever fails leaves a record that says at which stage; what the stages before it found stands.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from rose import redact
from rose import text as texts
from rose.errors import RoseError
from rose.selection import admit as admission
from rose.selection import chosen, trace
from rose.selection.admit import Proposal, Refusal, Terms
from rose.selection.learned import Learned
from rose.selection.pack import PART_CHARS
from rose.selection.trace import Candidate, Record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rose.selection.admit import Admission
    from rose.selection.chosen import Chooser
    from rose.selection.judged import Judging
    from rose.selection.pack import Budget, Entry, Serving
    from rose.selection.picks import Pick, Selector
    from rose.selection.trace import Condition, Failure
    from rose.store.lessons import Holding

# How many lessons are served, and how many of the best a record names.
K = 3
LOOKS = 20
# A longer prompt is mostly what was pasted into it.
QUERY_CHARS = 4_000
SELECTOR: Selector = Learned()
HELD = "the session holds it still"
WEAK = "too little speaks for it"


@dataclass(frozen=True, slots=True)
class Shown:
    """A lesson as a session was shown it before; fresh while the session cannot have lost it."""

    version: str
    is_fresh: bool


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for: a query as `query_of` gives it, and the limits.

    By lesson id, `shown` is what the session was shown before, and `rejected` what it turned down
    for this very need, with the particulars (rose.selection.sticky). `chooser` selects in the
    place of the selector, and `judging` is what is judged of the selection.
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
    chooser: Chooser | None = None
    judging: Judging | None = None


def query_of(prompt: str) -> str:
    """Return a prompt as it is read and recorded: its beginning, without secrets."""
    return redact.redact(prompt[:QUERY_CHARS])


class Recalled(NamedTuple):
    """The record of one recall; `problem` says in words what failed, if anything did."""

    record: Record
    problem: str


def recall(
    request: Request,
    holdings: Sequence[Holding],
    *,
    at: str,
    answer: chosen.Selection | None = None,
    selector: Selector = SELECTOR,
) -> Recalled:
    """Return what is served for a prompt.

    With an `answer` that is the selection, whatever the search finds, and nobody is asked. Nothing
    is written but the derived index.
    """
    problem = ""
    picks: Sequence[Pick] = ()
    failure: Failure | None = None
    if request.condition == "retrieval":
        try:
            picks = selector.pick(request.query, holdings, request.scope, max(request.k, LOOKS))
        except (RoseError, OSError, sqlite3.Error) as error:
            failure, problem = "search-failed", str(error)
    found = answer or chosen.Selection(())
    if answer is None and request.condition == "retrieval":
        found = chosen.select(request, picks, holdings, _proposed)
    terms = Terms(request.scope, request.budget, request.serving, _words(request.query))
    done = admission.admit(found.proposals, holdings, terms)
    failure = failure or found.failure or _failure(request, terms.words, picks, done)
    record = Record(
        id=trace.new_id(),
        at=at,
        session=request.session,
        kind="recall",
        query=request.query,
        store=trace.state_of(holdings),
        condition=request.condition,
        scope=list(request.scope),
        budget=_limits(request),
        judge=found.judge,
        counter=done.counter,
        candidates=_candidates(picks),
        selected=[_selected(one) for one in found.proposals],
        admitted=[_admitted(entry) for entry in done.admitted],
        excluded=[_excluded(*pair) for pair in done.excluded],
        text=done.text,
        tokens=done.tokens,
        failure=failure,
        looked=found.looked,
    )
    return Recalled(record, problem or found.problem)


def _words(query: str) -> list[str]:
    return list(dict.fromkeys(texts.words(query)))


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
        found.append(Proposal(node, version, _why(pick), refusal, is_again=is_again))
    return found


def _why(pick: Pick) -> dict[str, float]:
    return {name: round(value, 6) for name, value in pick.why.items()}


def _failure(
    request: Request, words: Sequence[str], picks: Sequence[Pick], done: Admission
) -> Failure | None:
    # A fork may find what no word of the prompt leads to.
    if request.condition == "no-retrieval" or done.admitted:
        return None
    if not (picks or done.excluded):
        return "nothing-eligible" if words else "bad-request"
    # Lessons that the selection itself would not serve were no matter of admission.
    fell = [one for _, one in done.excluded if one.reason not in admission.EARLIER]
    return "admission-refused" if fell else None


def _limits(request: Request) -> dict[str, object]:
    budget = request.budget
    asked: dict[str, object] = {}
    if request.chooser is not None:
        asked["selector"] = request.chooser.name
    if request.judging is not None:
        asked["judged"] = sorted(request.judging.modes)
        asked["threshold"] = request.judging.threshold
    return {
        "k": request.k,
        "serving": request.serving,
        "tokens": budget.max_tokens,
        "bytes": budget.max_bytes,
        "encoded": budget.max_encoded,
        "chars": PART_CHARS,
        **asked,
    }


def _candidates(picks: Sequence[Pick]) -> list[Candidate]:
    # No window: nobody was shown one, so nothing may be turned down on it.
    return [
        Candidate(pick.lesson.id, pick.lesson.version, rank, round(pick.score, 6), None, _why(pick))
        for rank, pick in enumerate(picks, 1)
    ]


def _selected(one: Proposal) -> dict[str, object]:
    # What the session was shown before is part of the question: a replay needs it.
    shown = "again" if one.is_again else "new"
    if one.refusal is not None and one.refusal.detail == HELD:
        shown = "held"
    row: dict[str, object] = {"node": one.node, "version": one.version, "why": dict(one.why)}
    kept = {} if one.kept is None else {"kept": [list(span) for span in one.kept]}
    return {**row, "shown": shown, **kept}


def _admitted(entry: Entry) -> dict[str, object]:
    one = entry.piece
    return {"node": one.node, "version": one.version, "tokens": entry.tokens, "form": entry.form}


def _excluded(one: Proposal, refusal: Refusal) -> dict[str, object]:
    why = {"reason": refusal.reason, "detail": refusal.detail}
    return {"node": one.node, "version": one.version, **why}
