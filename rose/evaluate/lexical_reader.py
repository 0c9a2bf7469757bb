"""The fixed lexical reader: BM25 scaled to 1, raised by the rules of a layer that a task meets.

It stands for an agent that follows the layer, and never changes, so that a change of a figure is
a change of the rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rose.routing import evidence, features
from rose.routing import targets as target

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from rose.routing.evidence import Standing
    from rose.routing.rules import Rule

LIFT = 2.0
NEAR = 0.6


def lifts(
    rules: Iterable[Rule],
    kinds: Sequence[str],
    standing: Callable[[str], Standing],
    members: Callable[[str], Iterable[str]],
) -> dict[str, float]:
    """Return, by lesson, the greatest precision of the prefer rules that a task meets.

    `members` gives the ids of the lessons that a target leads to.
    """
    found: dict[str, float] = {}
    for rule in rules:
        if rule.effect == "prefer" and features.features_meet(rule.match, kinds):
            worth = evidence.precision(standing(rule.id))
            for path in rule.targets:
                for lesson in members(path):
                    found[lesson] = max(found.get(lesson, 0.0), worth)
    return found


def rank(text: Sequence[tuple[str, float]], lifted: Mapping[str, float]) -> list[tuple[str, float]]:
    """Return lessons with their scores, best first, ties by id."""
    top = max((score for _, score in text), default=0.0) or 1.0
    scores = {lesson: score / top for lesson, score in text}
    for lesson, worth in lifted.items():
        scores[lesson] = scores.get(lesson, 0.0) + LIFT * worth
    return sorted(scores.items(), key=lambda one: (-one[1], one[0]))


def served(ranked: Sequence[tuple[str, float]], k: int) -> list[str]:
    """Return the lessons worth serving: those of the first k that are near the best."""
    return [lesson for lesson, score in ranked[:k] if score >= NEAR * ranked[0][1]]


def members_of(paths: Mapping[str, str]) -> Callable[[str], list[str]]:
    """Return what gives the ids of the lessons that a target leads to, out of all paths by id."""
    known: dict[str, list[str]] = {}

    def members(path: str) -> list[str]:
        if path not in known:
            known[path] = [one for one, at in paths.items() if target.matches(path, at)]
        return known[path]

    return members
