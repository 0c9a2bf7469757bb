"""The bet in figures: how many rules stand over how many lessons, now and over time.

Rules are to grow slower than lessons. Whether they do is printed, whichever way it goes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rose.routing.cases import Case

MIN_POINTS = 2


@dataclass(frozen=True, slots=True)
class Point:
    """The size of the store when a session was recorded; `n` is the session's number."""

    n: int
    rules: int
    lessons: int

    @property
    def ratio(self) -> float:
        return self.rules / self.lessons


@dataclass(frozen=True, slots=True)
class Trend:
    """The ratio at the first session with a rule, half-way and now, and where it goes."""

    points: tuple[Point, ...]
    now: float
    direction: str

    def line(self) -> str:
        """Return the trend as one line for a person."""
        past = ", ".join(f"{ratio_text(p.ratio)} at session {p.n}" for p in self.points)
        since = f"since session {self.points[-1].n}"
        return f"{past}, {ratio_text(self.now)} now: {self.direction} {since}"

    def as_json(self) -> dict[str, object]:
        points = [
            {"n": p.n, "rules": p.rules, "lessons": p.lessons, "ratio": round(p.ratio, 4)}
            for p in self.points
        ]
        return {"points": points, "now": round(self.now, 4), "direction": self.direction}


def routing_line(rules: int, lessons: int) -> str:
    """Return the line that states the bet."""
    one = "selection rule" if rules == 1 else "selection rules"
    other = "lesson" if lessons == 1 else "lessons"
    ratio = ratio_text(rules / lessons) if lessons else "n/a"
    return (
        f"routing    {rules} {one} over {lessons} {other}  "
        f"(ratio {ratio}, should fall as the store grows)"
    )


def ratio_text(ratio: float) -> str:
    """Return a ratio with two decimals, or as many as show that it is not zero."""
    digits = 2 if ratio <= 0 else max(2, -math.floor(math.log10(ratio)))
    return f"{ratio:.{digits}f}"


def points_of(cases: Iterable[Case]) -> list[Point]:
    """Return the recorded sizes since the first rule, in order of n."""
    found = [
        Point(case.n, case.store_rules, case.store_lessons)
        for case in cases
        if case.store_rules is not None and case.store_lessons
    ]
    found.sort(key=lambda point: point.n)
    start = next((at for at, point in enumerate(found) if point.rules > 0), len(found))
    return found[start:]


def trend(points: Sequence[Point], rules: int, lessons: int) -> Trend | None:
    """Return where the ratio goes, None where too little is recorded to tell.

    The direction is now against half-way, because a store's first rules always raise it.
    """
    if len(points) < MIN_POINTS or lessons <= 0:
        return None
    middle = points[len(points) // 2]
    now = rules / lessons
    return Trend((points[0], middle), now, _direction(middle.ratio, now))


def _direction(before: float, now: float) -> str:
    if ratio_text(before) == ratio_text(now):
        return "level"
    return "falling" if now < before else "rising"
