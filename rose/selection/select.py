"""Selection that learns: which lessons a task may need, from text, past tasks and rules.

A memory is folded from the record: each case first moves the weights by how they would have
chosen for it, then becomes part of the past. With an empty record the order is that of BM25.
docs/selection.md.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from rose import text as texts
from rose.selection import features, weights
from rose.selection import terms as wording
from rose.selection.past import Past, Task, task_of, task_of_case
from rose.selection.weights import Weights

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rose.routing.cases import Case
    from rose.selection.features import Found, Ground

# What a rule of full precision gives: twice what the best text does.
RULES = 4.0
TOGETHER = weights.NAMES.index("together")
BEST = 3
# What ties a lesson to a task; the rest only weighs what is tied.
ABOUT = ("text", "path", "shape", "tasks", "ties", "votes", "together", "rules")
# What is served: at most three, each with this share of all that speaks for any candidate; and
# without a record those whose text comes this near to the best. docs/measurements.md.
MOST_SERVED = 3
LEAST_SHARE = 0.17
NEAR = 0.6


class Choice(NamedTuple):
    """A lesson, what it is worth for a task, and its share of all that speaks for any.

    `why` says what each feature gave to the score.
    """

    lesson: str
    score: float
    share: float
    why: Mapping[str, float]


class Memory:
    """What selection has learned from the cases folded so far."""

    def __init__(self) -> None:
        self.past = Past()
        self.weights = Weights()

    def select(self, prompt: str, ground: Ground, k: int) -> list[Choice]:
        """Return the k best lessons for a prompt, best first, ties by id."""
        scene = _Scene(self, task_of(prompt), self._query(prompt), ground)
        shares = _shares(scene.scores)
        ordered = sorted(scene.scores, key=lambda one: (-scene.scores[one], one))
        found = (
            Choice(one, scene.scores[one], shares[one], scene.why(one))
            for one in ordered
            if scene.is_about(one)
        )
        return [choice for _, choice in zip(range(k), found, strict=False)]

    def served(self, choices: Sequence[Choice]) -> list[Choice]:
        """Return the choices that are served where nothing speaks against one; may be none."""
        return self.worth(choices)[:MOST_SERVED]

    def worth(self, choices: Sequence[Choice]) -> list[Choice]:
        """Return the choices that are worth serving, however many."""
        if self.past.count:
            return [choice for choice in choices if choice.share >= LEAST_SHARE]
        return [choice for choice in choices if choice.score >= NEAR * choices[0].score]

    def add(self, case: Case, ground: Ground) -> None:
        """Learn from one more case, as the lessons are now."""
        task = task_of_case(case)
        used = list(dict.fromkeys(case.used))
        there = [lesson for lesson in used if lesson in ground.names]
        words = _words(task)
        if there:
            query = self._query(case.task) if case.task else list(task.words)
            scene = _Scene(self, task, query, ground)
            wanted = [lesson for lesson in there if lesson in scene.scores]
            if wanted:
                errors = _errors(scene.scores, wanted)
                self.weights.learn(words, errors, scene.found.rows, scene.found.folders)
        for lesson in used:
            if lesson not in ground.names:
                self.weights.meet(words, lesson, features.name_of(lesson).folders)
        self.past.add(task, used)

    def _query(self, prompt: str) -> list[str]:
        """Return the words that text is searched for; without a record all, as `rose search`."""
        words = list(dict.fromkeys(texts.words(prompt)))
        telling = list(dict.fromkeys(wording.query_words(prompt)))
        return telling or words if self.past.count else words

    def recollect(self, case: Case) -> None:
        """Take a case into the past whose lesson the weights have learned already."""
        self.past.add(task_of_case(case), list(dict.fromkeys(case.used)))


def fold(cases: Iterable[Case], ground: Ground, memory: Memory | None = None) -> Memory:
    """Return what some cases teach, in the order of the record; a memory is gone on with."""
    learned = Memory() if memory is None else memory
    for case in cases:
        learned.add(case, ground)
    return learned


def _words(task: Task) -> list[str]:
    """Return the words that have weights of their own; the first one also by its place."""
    return [*task.words, *([f"^{task.first}"] if task.first else [])]


class _Scene:
    """The candidates of one task, scored."""

    def __init__(self, memory: Memory, task: Task, query: Sequence[str], ground: Ground) -> None:
        self.memory = memory
        self.ground = ground
        self.found: Found = features.find(task, query, memory.past, ground)
        self.by_words = memory.weights.word_scores(_words(task))
        self.scores = {one: self._score(one) for one in self.found.rows}
        self._bring_together()

    def _score(self, lesson: str) -> float:
        rows, known = self.found.rows[lesson], self.memory.weights.of
        return sum(w * x for w, x in zip(known, rows, strict=True)) + sum(self._others(lesson))

    def _others(self, lesson: str) -> tuple[float, float, float]:
        """Return what words, folders and rules give to a lesson."""
        by_words = self.by_words
        own = by_words.get(lesson, 0.0) + self.memory.weights.bias(lesson)
        folders = sum(by_words.get(folder, 0.0) for folder in self.found.folders[lesson])
        return own, folders, RULES * self.ground.rules.get(lesson, 0.0)

    def _bring_together(self) -> None:
        """Give each candidate what it was used together with one of the best for."""
        past, shares = self.memory.past, _shares(self.scores)
        best = sorted(self.scores, key=lambda one: (-self.scores[one], one))[:BEST]
        for top in best:
            for other, times in past.together.get(top, {}).items():
                if other in self.scores:
                    row = self.found.rows[other]
                    given = shares[top] * times / (past.uses[top] + 1)
                    row[TOGETHER] = max(row[TOGETHER], given)
        for other, row in self.found.rows.items():
            if row[TOGETHER]:
                self.scores[other] += self.memory.weights.of[TOGETHER] * row[TOGETHER]

    def is_about(self, lesson: str) -> bool:
        """Tell whether anything ties a lesson to the task: not its use alone, at whatever time."""
        given = self.why(lesson)
        return any(given.get(name) for name in ABOUT)

    def why(self, lesson: str) -> dict[str, float]:
        rows = self.found.rows[lesson]
        given = {
            name: weight * value
            for name, weight, value in zip(weights.NAMES, self.memory.weights.of, rows, strict=True)
        }
        own, folders, rules = self._others(lesson)
        # Both say how well the text fits: beside the best, and as such.
        given["text"] += given.pop("depth")
        given |= {"words": own, "folders": folders, "rules": rules}
        return {name: value for name, value in given.items() if value}


def _shares(scores: Mapping[str, float]) -> dict[str, float]:
    """Return the softmax of some scores."""
    top = max(scores.values(), default=0.0)
    given = {one: math.exp(score - top) for one, score in scores.items()}
    whole = sum(given.values())
    return {one: part / whole for one, part in given.items()}


def _errors(scores: Mapping[str, float], wanted: Sequence[str]) -> dict[str, float]:
    """Return how far each candidate's share was from what it should have been.

    Each used lesson is held against those that were not used, never against another used one.
    """
    top = max(scores.values())
    given = {one: math.exp(score - top) for one, score in scores.items()}
    rest = sum(given.values()) - sum(given[one] for one in wanted)
    errors = dict.fromkeys(scores, 0.0)
    parts = [1 / (max(rest, 0.0) + given[one]) for one in wanted]
    each = sum(parts) / len(wanted)
    for one, part in given.items():
        errors[one] = -part * each
    for one, part in zip(wanted, parts, strict=True):
        errors[one] = (1 - given[one] * part) / len(wanted)
    return errors
