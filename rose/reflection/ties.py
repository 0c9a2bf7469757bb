"""Ties: which features of tasks came with which lessons, in numbered cases of the record.

Added up case by case, so that a stream of sessions costs no more than its length.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from rose.routing import features

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rose.routing.cases import Case

MIN_TIES = 2
MIN_PRECISION = 0.2
# A feature that more cases than this share says too little; the slack is for young records.
COMMON_SHARE = 4
COMMON_SLACK = 3
# What leading a session astray costs beside what leading it right is worth. A reader loses
# little by a rule that does not hold this once (docs/measurements.md).
WASTE = 0.3
# How many of a task's features may seem tied to a lesson by chance. A long prompt has many, and
# some of them always came with something before.
CHANCE = 0.05
# As if so many more tasks without a feature had not used the lesson: a young record has few.
CHANCE_SLACK = 40


class Claim(NamedTuple):
    """What some features say of a lesson: the cases that meet one, and those that used it."""

    hits: int
    cases: int

    @property
    def is_precise(self) -> bool:
        return self.hits >= MIN_TIES and self.hits >= MIN_PRECISION * self.cases

    @property
    def worth(self) -> float:
        return self.hits - WASTE * (self.cases - self.hits)


class Ties:
    """The cases added so far, by feature and by lesson used."""

    def __init__(self, cases: Iterable[Case] = ()) -> None:
        self._kinds: list[frozenset[str]] = []
        self._met: dict[str, set[int]] = {}
        self._used: dict[str, set[int]] = {}
        for case in cases:
            self.add(case)

    def add(self, case: Case) -> None:
        """Count one more case."""
        number = len(self._kinds)
        kinds = frozenset(features.widened(case.kinds))
        self._kinds.append(kinds)
        for feature in kinds:
            self._met.setdefault(feature, set()).add(number)
        for lesson in case.used:
            self._used.setdefault(lesson, set()).add(number)

    def with_case(self, case: Case) -> Now:
        """Return the record with a case that is not yet part of it."""
        return Now(self, frozenset(features.widened(case.kinds)), case.used)

    def size(self) -> int:
        return len(self._kinds)

    def meeting(self, feature: str) -> set[int]:
        return self._met.get(feature, set())

    def using(self, lesson: str) -> set[int]:
        return self._used.get(lesson, set())

    def kinds(self, number: int) -> frozenset[str]:
        return self._kinds[number]


class Now:
    """The record and the present case, which has the number after the last one."""

    def __init__(self, past: Ties, kinds: frozenset[str], used: Sequence[str]) -> None:
        self._past = past
        self.kinds = kinds
        self._lessons = frozenset(used)

    def claim(self, lesson: str, match: Iterable[str]) -> Claim:
        """Return what any of some features says of a lesson."""
        met: set[int] = set()
        for feature in match:
            met |= self._meeting(features.slashed(feature))
        return Claim(len(met & self._using(lesson)), len(met))

    def uses(self, lesson: str) -> int:
        """Return in how many cases a lesson was used."""
        return len(self._using(lesson))

    def is_common(self, feature: str) -> bool:
        limit = (self._past.size() + 1) / COMMON_SHARE + COMMON_SLACK
        return len(self._meeting(feature)) > limit

    def is_chance(self, lesson: str, feature: str) -> bool:
        """Tell whether a tie is what chance may bring among as many features as the case has.

        Chance is how often the lesson is used where the feature is missing.
        """
        hits, cases = self.claim(lesson, [feature])
        elsewhere = self._past.size() + 1 - cases + CHANCE_SLACK
        rate = (len(self._using(lesson)) - hits) / elsewhere
        return _at_least(hits, cases * rate) * len(self.kinds) > CHANCE

    def beside(self, lesson: str) -> list[str]:
        """Return every feature that came with a lesson, sorted."""
        past = (self._past.kinds(number) for number in self._past.using(lesson))
        return sorted(self.kinds.union(*past))

    def _meeting(self, feature: str) -> set[int]:
        known = self._past.meeting(feature)
        return known | {self._past.size()} if feature in self.kinds else known

    def _using(self, lesson: str) -> set[int]:
        known = self._past.using(lesson)
        return known | {self._past.size()} if lesson in self._lessons else known


def _at_least(times: int, expected: float) -> float:
    """Return the probability that something rare happens so often, by Poisson's law."""
    term, below = math.exp(-expected), 0.0
    for number in range(times):
        below += term
        term *= expected / (number + 1)
    return max(0.0, 1 - below)
