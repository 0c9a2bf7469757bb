"""What judges have in common: what they are asked, in batches, and which answers count.

A judge gives each item a score from 0 to 1. Its answer counts whole or not at all: a score for
each item that was asked about, and for nothing else. Nothing stands in for a judge that fails;
whoever asked decides what to do without one (docs/judges.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from rose.errors import RoseError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# How related a text is; whether it holds something to act on; whether a part of it must stay.
Mode = Literal["rerank", "filter", "compress"]

MOST_ITEMS = 30


class JudgeFailure(RoseError):
    """There is no judgement: no judge, or one whose answer does not count."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A text to judge, and the lines that are known of it besides, such as its title."""

    text: str
    context: tuple[str, ...] = ()

    def document(self) -> str:
        """Return the whole text below what is known of it."""
        return "\n".join([*self.context, self.text])


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to score: a text or a part of one, and the document that it stands in."""

    id: str
    text: str
    document: str


class Judge(Protocol):
    """Who scores. `name` is what a trace and the command line say of it."""

    name: str

    def score(self, mode: Mode, query: str, items: Sequence[Item]) -> Mapping[str, object]:
        """Return a score for each of at most MOST_ITEMS items; raises JudgeFailure."""


def score(judge: Judge, mode: Mode, query: str, items: Sequence[Item]) -> dict[str, float]:
    """Return the score of every item by its id, asked for in batches; raises JudgeFailure."""
    found: dict[str, float] = {}
    for start in range(0, len(items), MOST_ITEMS):
        batch = items[start : start + MOST_ITEMS]
        found |= _checked(judge.score(mode, query, batch), batch, judge.name)
    return found


def score_passages(
    judge: Judge, mode: Mode, query: str, passages: Sequence[Passage]
) -> list[float]:
    """Return the score of each passage, in their order; raises JudgeFailure."""
    items = [
        Item(str(number), passage.text, passage.document())
        for number, passage in enumerate(passages)
    ]
    scores = score(judge, mode, query, items)
    return [scores[item.id] for item in items]


def _checked(scores: Mapping[str, object], batch: Sequence[Item], name: str) -> dict[str, float]:
    """Return the scores of a batch; raises JudgeFailure unless they are exactly what was asked."""
    asked = {item.id for item in batch}
    missing, surplus = len(asked - scores.keys()), len(scores.keys() - asked)
    if missing or surplus:
        raise JudgeFailure(
            f"{name} left out {missing} of {len(asked)} ids and named {surplus} that it was not "
            "asked about. A judge scores each id of its input once, and no other."
        )
    found = {}
    for item in batch:
        given = scores[item.id]
        # A truth value is a number to Python, and no score.
        if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given <= 1:
            raise JudgeFailure(
                f"{name} gave id {item.id} no number from 0 to 1. No score of this run counts."
            )
        found[item.id] = given
    return found
