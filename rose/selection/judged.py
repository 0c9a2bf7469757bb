"""The judged stage of recall: rerank, then filter, then compress, each where it was asked for.

Stands between the selection and admission, and leaves its answers in the proposals, so that a
replay needs no judge. What it would turn down without being read again is excluded with a reason.
docs/decisions/028.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from rose.selection import admit, compress, rerank, units
from rose.selection import judge as judging
from rose.selection.admit import Refusal
from rose.selection.filter import THRESHOLD
from rose.selection.judge import JudgeFailure, Passage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rose.selection.admit import Proposal
    from rose.selection.judge import Judge, Mode
    from rose.selection.requests import Request
    from rose.selection.scope import Known

UNNEEDED = "no part of it was judged to matter"


@dataclass(frozen=True, slots=True)
class Judging:
    """Which judgements are asked for, and of whom.

    `judge` is None where there is nobody, and `lack` says why. With `is_optional` a judgement
    that fails is left out, else nothing is selected.
    """

    modes: frozenset[Mode]
    judge: Judge | None
    threshold: float = THRESHOLD
    lack: str = ""
    is_optional: bool = False


class _Court(NamedTuple):
    """Who judges, for what, and how to read what is judged."""

    judge: Judge
    query: str
    threshold: float
    known: Known
    scope: Sequence[str]


class _Open(NamedTuple):
    """A proposal that may be judged: its place among all, and what it says."""

    at: int
    passage: Passage


def judge(
    proposals: Sequence[Proposal], known: Known, request: Request, asked: Judging
) -> list[Proposal]:
    """Return the proposals in the order, and with the refusals and cuts, that a judge gives them.

    Raises JudgeFailure. What is refused already, or would fall at admission, is not judged, except
    that a lesson which the session holds keeps its place in the order.
    """
    if asked.judge is None:
        raise JudgeFailure(asked.lack)
    court = _Court(asked.judge, request.query, asked.threshold, known, request.scope)
    found = list(proposals)
    if "rerank" in asked.modes:
        found = _ranked(court, found, request.k)
    if "filter" in asked.modes:
        found = _filtered(court, found)
    if "compress" in asked.modes and request.serving == "bodies":
        found = _compressed(court, found)
    return found


def _ranked(court: _Court, proposals: Sequence[Proposal], k: int) -> list[Proposal]:
    ready = _open(court, proposals, ("not-selected",))
    ranked = rerank.rerank(court.judge, court.query, [one.passage for one in ready])
    first = []
    for rank, one in enumerate(ranked, 1):
        proposal = _scored(proposals[ready[one.at].at], "rerank", one.score)
        if rank > k and proposal.refusal is None:
            late = Refusal("not-selected", f"judged {rank} of {len(ranked)}, {k} are taken")
            proposal = replace(proposal, refusal=late)
        first.append(proposal)
    judged = {one.at for one in ready}
    # What is not judged takes no place from what is.
    return [*first, *(one for at, one in enumerate(proposals) if at not in judged)]


def _filtered(court: _Court, proposals: Sequence[Proposal]) -> list[Proposal]:
    ready = _open(court, proposals)
    passages = [one.passage for one in ready]
    scores = judging.score_passages(court.judge, "filter", court.query, passages)
    found = list(proposals)
    for one, score in zip(ready, scores, strict=True):
        proposal = _scored(found[one.at], "filter", score)
        if score < court.threshold:
            said = f"judged {score:g}, {court.threshold:g} is asked for"
            proposal = replace(proposal, refusal=Refusal("below-threshold", said))
        found[one.at] = proposal
    return found


def _compressed(court: _Court, proposals: Sequence[Proposal]) -> list[Proposal]:
    # What comes as one line has no extent.
    ready = [one for one in _open(court, proposals) if not proposals[one.at].is_again]
    passages = [one.passage for one in ready]
    left = compress.compress(court.judge, court.query, passages, court.threshold)
    kept = {one.at: one.units for one in left}
    found = list(proposals)
    for number, one in enumerate(ready):
        stay, parts = kept.get(number, ()), units.split(one.passage.text)
        proposal = _scored(found[one.at], "compress", len(stay) / max(len(parts), 1))
        if not stay:
            proposal = replace(proposal, refusal=Refusal("below-threshold", UNNEEDED))
        elif len(stay) < len(parts):
            spans = tuple((unit.start, unit.end) for unit in stay)
            proposal = replace(proposal, kept=spans)
        found[one.at] = proposal
    return found


def _open(court: _Court, proposals: Sequence[Proposal], refused: Sequence[str] = ()) -> list[_Open]:
    """Return the proposals that may be judged; of the refused ones those of the given reasons."""
    found = []
    for at, proposal in enumerate(proposals):
        if proposal.refusal is not None and proposal.refusal.reason not in refused:
            continue
        piece = admit.examine(replace(proposal, refusal=None), court.known, court.scope)
        if not isinstance(piece, Refusal):
            context = (f"path: {piece.place}", f"title: {piece.title}")
            found.append(_Open(at, Passage(piece.text(), context)))
    return found


def _scored(proposal: Proposal, mode: Mode, score: float) -> Proposal:
    """Return a proposal with what a judge gave it; of the extent, the share of parts that stay."""
    return replace(proposal, why={**proposal.why, mode: round(score, 6)})
