"""Picks: the lessons that a selector chooses for a prompt, and the plain selector.

What learns from the record chooses through the same protocol, and agrees with the plain one as
long as there is no record.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, NamedTuple, Protocol

from rose import text as texts
from rose.selection import index
from rose.selection import scope as scoping

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


class ByWords:
    """Picks by BM25 alone, in the order of `rose search`."""

    def pick(
        self, prompt: str, holdings: Sequence[Holding], scope: Sequence[str], k: int
    ) -> Sequence[Pick]:
        known = scoping.active(holdings)
        words = list(dict.fromkeys(texts.words(prompt)))
        if not words or not known:
            return []
        with contextlib.closing(index.open_index(holdings)) as opened:
            hits = opened.hits(words, k, within=scoping.within(known, scope))
        # Another process may have indexed a lesson that was not there when this one looked.
        found = [(known[name][1], score) for name, score in hits if name in known]
        return [Pick(lesson, score, {"text": score}) for lesson, score in found]
