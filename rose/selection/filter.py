"""Keeps the texts that a judge finds to hold something to act on. Nothing is filled up again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rose.selection import judge as judging
from rose.selection.rerank import Judged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rose.selection.judge import Judge, Passage

THRESHOLD = 0.5


def keep(
    judge: Judge, query: str, passages: Sequence[Passage], threshold: float = THRESHOLD
) -> list[Judged]:
    """Return the passages at or above a threshold in the order of the input; none is an answer.

    Raises JudgeFailure. Without a passage no judge is asked.
    """
    scores = judging.score_passages(judge, "filter", query, passages)
    return [Judged(at, score) for at, score in enumerate(scores) if score >= threshold]
