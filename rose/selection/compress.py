"""Keeps the parts of texts that a judge finds must stay: copied in order, never rewritten."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rose.selection import judge as judging
from rose.selection import units
from rose.selection.filter import THRESHOLD
from rose.selection.judge import Item

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rose.selection.judge import Judge, Passage
    from rose.selection.units import Unit


class Compressed(NamedTuple):
    """A passage by its place in the input, and the units of it that stay."""

    at: int
    units: tuple[Unit, ...]

    def text(self) -> str:
        """Return the units that stay, one after the other."""
        return "\n".join(unit.text for unit in self.units)


def compress(
    judge: Judge, query: str, passages: Sequence[Passage], threshold: float = THRESHOLD
) -> list[Compressed]:
    """Return the passages of which a unit is at or above a threshold, in the order of the input.

    Raises JudgeFailure. Where every text is blank no judge is asked.
    """
    split = [units.split(passage.text) for passage in passages]
    items = [
        Item(_name(at, number), unit.text, document)
        for at, passage in enumerate(passages)
        for document in (passage.document(),)
        for number, unit in enumerate(split[at])
    ]
    scores = judging.score(judge, "compress", query, items)
    found = []
    for at, parts in enumerate(split):
        kept = [unit for number, unit in enumerate(parts) if scores[_name(at, number)] >= threshold]
        if kept:
            found.append(Compressed(at, tuple(kept)))
    return found


def _name(at: int, number: int) -> str:
    return f"{at}.{number}"
