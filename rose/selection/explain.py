"""Why a lesson was or was not offered for a prompt: its place, its score, what kept it out.

It is recall itself, made again over the stores as they are and not recorded, so that no second
reasoning can differ from the one that decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rose.errors import RoseError
from rose.selection import admit, pipeline, requests
from rose.selection import scope as scoping
from rose.selection.admit import Proposal, Refusal
from rose.selection.outcome import SERVED, Fate, of_lessons
from rose.selection.search import NO_WORD

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rose.selection.picks import Pick
    from rose.selection.trace import Record
    from rose.store.lessons import Holding, Lesson

# More than a selector has candidates.
_ALL = 1_000_000


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
    outcome: Fate

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
    request = requests.of(holdings, prompt, session=session, scope=scope)
    watched = _Watched()
    record, problem = pipeline.recall(request, holdings, at=at, selector=watched)
    if problem:
        raise RoseError(problem)
    found = [(rank, pick) for rank, pick in enumerate(watched.picks, 1) if _is(pick, lesson)]
    rank, pick = found[0] if found else (None, None)
    fate = of_lessons(record.as_json()).get(lesson.id)
    return Explanation(
        lesson.id,
        request.query,
        rank,
        len(watched.picks),
        None if pick is None else round(pick.score, 6),
        {} if pick is None else {name: round(value, 6) for name, value in pick.why.items()},
        fate or _never_selected(lesson, holdings, record, request.k, is_found=pick is not None),
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
) -> Fate:
    """Return why a lesson was not even proposed."""
    proposal = Proposal(lesson.id, lesson.version)
    kept_out = admit.examine(proposal, scoping.everything(holdings), record.scope)
    if isinstance(kept_out, Refusal):
        return Fate(kept_out.reason, kept_out.detail)
    if is_found:
        return Fate("not-selected", f"the best {k} are selected")
    if record.failure == "bad-request":
        return Fate("not-selected", f"the prompt {NO_WORD}")
    return Fate("not-selected", "nothing ties it to the prompt")
