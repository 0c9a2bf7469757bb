"""Recall: from a prompt to the text that is served, and the record of how it came about.

search (a selector's picks) → selection (the first k, a fork's, a judge's) → admission → text.
Whatever fails leaves a record that says at which stage; what the stages before it found stands.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, NamedTuple

from rose import text as texts
from rose.errors import RoseError
from rose.selection import admit as admission
from rose.selection import chosen, trace
from rose.selection.admit import Terms
from rose.selection.learned import Learned
from rose.selection.pack import PART_CHARS
from rose.selection.trace import Candidate, Record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rose.selection.admit import Admission, Proposal, Refusal
    from rose.selection.pack import Entry
    from rose.selection.picks import Pick, Selector
    from rose.selection.requests import Request
    from rose.selection.trace import Failure
    from rose.store.lessons import Holding

# How many of the best a record names.
LOOKS = 20
SELECTOR: Selector = Learned()


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
    is written but what is derived.
    """
    problem = ""
    picks: Sequence[Pick] = ()
    failure: Failure | None = None
    if request.condition == "retrieval":
        try:
            most = max(request.k + len(request.rejected), LOOKS)
            picks = selector.pick(request.query, holdings, request.scope, most)
        except (RoseError, OSError, sqlite3.Error) as error:
            failure, problem = "search-failed", str(error)
    found = answer or chosen.Selection(())
    if answer is None and request.condition == "retrieval":
        found = chosen.select(request, picks, holdings)
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
    return Recalled(record, "; ".join(filter(None, [problem or found.problem, request.lack])))


def unfinished(request: Request, holdings: Sequence[Holding], *, at: str) -> Record:
    """Return the record of a recall that nobody could wait for: nothing of it was used."""
    return Record(
        id=trace.new_id(),
        at=at,
        session=request.session,
        kind="recall",
        query=request.query,
        store=trace.state_of(holdings),
        budget=_limits(request),
        failure="consumer-failed",
    )


def _words(query: str) -> list[str]:
    return list(dict.fromkeys(texts.words(query)))


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
        Candidate(
            pick.lesson.id, pick.lesson.version, rank, round(pick.score, 6), None, chosen.why(pick)
        )
        for rank, pick in enumerate(picks, 1)
    ]


def _selected(one: Proposal) -> dict[str, object]:
    # What the session was shown before is part of the question: a replay needs it.
    shown = "held" if one.is_held else "again" if one.is_again else "new"
    row: dict[str, object] = {"node": one.node, "version": one.version, "why": dict(one.why)}
    kept = {} if one.kept is None else {"kept": [list(span) for span in one.kept]}
    return {**row, "shown": shown, **kept}


def _admitted(entry: Entry) -> dict[str, object]:
    one = entry.piece
    shown = {"tokens": entry.tokens, "form": entry.form, "chars": entry.chars}
    return {"node": one.node, "version": one.version, **shown}


def _excluded(one: Proposal, refusal: Refusal) -> dict[str, object]:
    why = {"reason": refusal.reason, "detail": refusal.detail}
    return {"node": one.node, "version": one.version, **why}
