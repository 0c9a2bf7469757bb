"""Orders texts by how related a judge finds them to a query."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rose.selection import judge as judging

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rose.selection.judge import Judge, Passage


class Judged(NamedTuple):
    """A passage by its place in the input, and the judge's score."""

    at: int
    score: float


def rerank(judge: Judge, query: str, passages: Sequence[Passage]) -> list[Judged]:
    """Return every passage, the highest score first, ties in the order of the input.

    Raises JudgeFailure. Without a passage no judge is asked.
    """
    scores = judging.score_passages(judge, "rerank", query, passages)
    return by_score(scores)


def by_score(scores: Sequence[float]) -> list[Judged]:
    """Return the scores with their places, the highest first, ties in their order."""
    return sorted((Judged(at, score) for at, score in enumerate(scores)), key=lambda x: -x.score)
