"""The past: what the recorded tasks were about and which lessons they used.

Counts only, folded from the record case by case, so that a replayed record gives the same past.
A lesson is known here by its id, whatever the store holds of it now.
"""

from __future__ import annotations

import heapq
import itertools
import math
from typing import TYPE_CHECKING, NamedTuple

from rose.selection import lexical
from rose.selection import terms as wording

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from rose.routing.cases import Case

# How many of the most similar cases vote, and over how many cases a vote fades to a third.
VOTERS = 25
FADING_CASES = 2000
# A word of more cases than this share says too little to tell cases apart.
COMMON_SHARE = 0.2
COMMON_SLACK = 20
MOST_POSTINGS = 1000
# Votes and associations are smoothed: one case alone is no proof.
LEAST_VOTE = 0.15
SMOOTHING = 1.5
MOST_TIE = 0.95


class Task(NamedTuple):
    """A task in terms: `words` each once and in order, `pairs` of neighbours, the first word."""

    words: tuple[str, ...]
    pairs: tuple[str, ...]
    first: str


def task_of(prompt: str) -> Task:
    found = wording.terms(prompt)
    pairs = {f"{one} {other}" for one, other in itertools.pairwise(found)}
    return Task(tuple(sorted(set(found))), tuple(sorted(pairs)), found[0] if found else "")


def task_of_case(case: Case) -> Task:
    """Return a recorded task; where its text was not kept, the words that were observed."""
    if case.task:
        return task_of(case.task)
    kept = (kind.partition(":") for kind in case.kinds)
    return task_of(" ".join(value for kind, _, value in kept if kind == "word"))._replace(
        pairs=(), first=""
    )


class Past:
    """Which words came with which lessons, case by case."""

    def __init__(self) -> None:
        self.count = 0
        self.frequency: dict[str, int] = {}
        self.cases_of: dict[str, list[int]] = {}
        self.norms: list[float] = []
        self.used: list[tuple[str, ...]] = []
        self.ties: dict[str, dict[str, int]] = {}
        self.words_of: dict[str, int] = {}
        self.uses: dict[str, int] = {}
        self.last: dict[str, int] = {}
        self.together: dict[str, dict[str, int]] = {}

    def add(self, task: Task, used: Sequence[str]) -> None:
        """Count one more case."""
        number, self.count = self.count, self.count + 1
        for term in (*task.words, *task.pairs):
            self.frequency[term] = self.frequency.get(term, 0) + 1
            self.cases_of.setdefault(term, []).append(number)
        self.norms.append(math.sqrt(self._weight(task)) or 1.0)
        lessons = tuple(dict.fromkeys(used))
        self.used.append(lessons)
        for lesson in lessons:
            self.uses[lesson] = self.uses.get(lesson, 0) + 1
            self.last[lesson] = number
            self.words_of[lesson] = self.words_of.get(lesson, 0) + len(task.words)
            beside = self.together.setdefault(lesson, {})
            for other in lessons:
                if other != lesson:
                    beside[other] = beside.get(other, 0) + 1
            for word in task.words:
                tied = self.ties.setdefault(word, {})
                tied[lesson] = tied.get(lesson, 0) + 1

    def _weight(self, task: Task) -> float:
        return sum(self._worth(term) ** 2 for term in (*task.words, *task.pairs))

    def _worth(self, term: str) -> float:
        """Return how much a term tells cases apart."""
        seen = self.frequency.get(term, 0)
        return math.log(1 + (self.count - seen + 0.5) / (seen + 0.5))

    def tasks(self, task: Task) -> tuple[dict[str, float], dict[str, float]]:
        """Return, by lesson, BM25 over the tasks that used it, and how the words came with it."""
        scores: dict[str, float] = {}
        missing: dict[str, float] = {}
        average = sum(self.words_of.values()) / max(len(self.words_of), 1) or 1.0
        base, slope = lexical.K1 * (1 - lexical.B), lexical.K1 * lexical.B / average
        for word in task.words:
            worth = self._worth(word) * (lexical.K1 + 1)
            seen = self.frequency.get(word, 0) + SMOOTHING
            for lesson, times in self.ties.get(word, {}).items():
                given = worth * times / (times + base + slope * self.words_of[lesson])
                scores[lesson] = scores.get(lesson, 0.0) + given
                missing[lesson] = missing.get(lesson, 1.0) * (1 - min(times / seen, MOST_TIE))
        return scores, {lesson: 1 - left for lesson, left in missing.items()}

    def votes(self, task: Task, present: Container[str]) -> dict[str, float]:
        """Return what the most similar cases give to the present lessons that they used."""
        likeness: dict[int, float] = {}
        for term in (*task.words, *task.pairs):
            places = self.cases_of.get(term, ())
            if len(places) > COMMON_SHARE * self.count + COMMON_SLACK:
                continue
            worth = self._worth(term) ** 2
            for number in places[-MOST_POSTINGS:]:
                likeness[number] = likeness.get(number, 0.0) + worth
        own = math.sqrt(self._weight(task)) or 1.0
        # A case of the first days was measured when every word was common: it is no liker than one.
        alike = ((min(shared / (self.norms[at] * own), 1.0), at) for at, shared in likeness.items())
        given: dict[str, float] = {}
        for nearness, at in heapq.nlargest(VOTERS, alike):
            vote = nearness**2 * math.exp((at - self.count) / FADING_CASES)
            for lesson in self.used[at]:
                if lesson in present:
                    given[lesson] = given.get(lesson, 0.0) + vote
        most = max(max(given.values(), default=0.0), LEAST_VOTE)
        return {lesson: vote / most for lesson, vote in given.items()}
