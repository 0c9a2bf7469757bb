"""Picks: the lessons that a selector chooses for a prompt, and what a selector is."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rose.store.lessons import Holding, Lesson


class Pick(NamedTuple):
    """A lesson, what it is worth for a prompt, and what each feature gave of that.

    `is_worth` says whether the selector would serve it at all.
    """

    lesson: Lesson
    score: float
    why: Mapping[str, float]
    is_worth: bool = True


class Selector(Protocol):
    """Chooses lessons for a prompt without a model."""

    def pick(
        self, prompt: str, holdings: Sequence[Holding], scope: Sequence[str], k: int
    ) -> Sequence[Pick]:
        """Return the k best active lessons within a scope, best first; raises RoseError."""
        ...
