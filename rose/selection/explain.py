"""Why a lesson was or was not offered for a prompt: its place, its score, what kept it out.

It is recall itself, made again over the stores as they are and not recorded, so that no second
reasoning can differ from the one that decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, cast

from rose.errors import RoseError
from rose.selection import admit, pipeline, sticky
from rose.selection import scope as scoping
from rose.selection.admit import Proposal, Refusal
from rose.selection.pack import Budget
from rose.selection.trace import items

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rose.selection.pack import Serving
    from rose.selection.picks import Pick
    from rose.selection.trace import Record, Row
    from rose.store.lessons import Holding, Lesson

# More than a selector has candidates.
_ALL = 1_000_000
SERVED = "served"


class Outcome(NamedTuple):
    """What became of a candidate: served, or the reason why not, with its particulars."""

    reason: str
    detail: str = ""

    def said(self) -> str:
        if self.reason == SERVED:
            return f"{SERVED}, {self.detail}"
        return f"{self.reason}: {self.detail}" if self.detail else self.reason


@dataclass(frozen=True, slots=True)
class Explanation:
    """One lesson's part in a recall. `rank` is None for one that was no candidate.

    `of` counts the candidates, `why` says what each feature gave of the score.
    """

    node: str
    query: str
    rank: int | None
    of: int
    score: float | None
    why: Mapping[str, float]
    outcome: Outcome

    def as_json(self) -> dict[str, object]:
        return {
            "query": self.query,
            "rank": self.rank,
            "of": self.of,
            "score": self.score,
            "why": dict(self.why),
            "offered": self.outcome.reason == SERVED,
            "reason": self.outcome.reason,
            "detail": self.outcome.detail,
        }


def outcomes(row: Row) -> dict[str, Outcome]:
    """Return what became of the lessons that a record selected, by id."""
    served = {
        str(x.get("node")): Outcome(SERVED, str(x.get("form"))) for x in items(row, "admitted")
    }
    excluded = {
        str(x.get("node")): Outcome(str(x.get("reason")), str(x.get("detail", "")))
        for x in items(row, "excluded")
    }
    return served | excluded


def explain(
    holdings: Sequence[Holding],
    lesson: Lesson,
    prompt: str,
    *,
    scope: Sequence[str] = (),
    session: str = "",
    at: str,
) -> Explanation:
    """Return a lesson's part in what a prompt would be given now; raises RoseError.

    As `recall.serve` would have it, and with the lessons' text where that is off. Neither a fork
    nor a judge is asked, and what the session holds already plays no part.
    """
    settings = holdings[0].settings
    serving = settings.recall_serve if settings.recall_serve != "off" else "bodies"
    query = pipeline.query_of(prompt)
    request = pipeline.Request(
        query,
        Budget(settings.recall_max_tokens),
        cast("Serving", serving),
        scope=tuple(scope),
        session=session,
        rejected=sticky.standing(holdings, session, query, scope),
    )
    watched = _Watched()
    record, problem = pipeline.recall(request, holdings, at=at, selector=watched)
    if problem:
        raise RoseError(problem)
    found = [(rank, pick) for rank, pick in enumerate(watched.picks, 1) if _is(pick, lesson)]
    rank, pick = found[0] if found else (None, None)
    outcome = outcomes(record.as_json()).get(lesson.id)
    return Explanation(
        lesson.id,
        request.query,
        rank,
        len(watched.picks),
        None if pick is None else round(pick.score, 6),
        {} if pick is None else {name: round(value, 6) for name, value in pick.why.items()},
        outcome or _never_selected(lesson, holdings, record, request.k, is_found=pick is not None),
    )


class _Watched:
    """The selector of recall, with all that it would pick kept."""

    def __init__(self) -> None:
        self.picks: Sequence[Pick] = ()

    def pick(
        self, prompt: str, holdings: Sequence[Holding], scope: Sequence[str], k: int
    ) -> Sequence[Pick]:
        self.picks = pipeline.SELECTOR.pick(prompt, holdings, scope, _ALL)
        return self.picks[:k]


def _is(pick: Pick, lesson: Lesson) -> bool:
    return pick.lesson.id == lesson.id


def _never_selected(
    lesson: Lesson, holdings: Sequence[Holding], record: Record, k: int, *, is_found: bool
) -> Outcome:
    """Return why a lesson was not even proposed."""
    proposal = Proposal(lesson.id, lesson.version)
    kept_out = admit.examine(proposal, scoping.everything(holdings), record.scope)
    if isinstance(kept_out, Refusal):
        return Outcome(kept_out.reason, kept_out.detail)
    if is_found:
        return Outcome("not-selected", f"the best {k} are selected")
    if record.failure == "bad-request":
        return Outcome("not-selected", "the prompt holds no word that could be looked for")
    return Outcome("not-selected", "nothing ties it to the prompt")
