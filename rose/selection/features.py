"""The features of a candidate: a handful of numbers, from its name, its text and the past alone.

docs/selection.md says what each one is, and where its constants were measured.
"""

from __future__ import annotations

import functools
import heapq
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rose.selection import terms as wording

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rose.selection.lexical import Lexical
    from rose.selection.past import Past, Task

# How many candidates each source gives at most.
LEXICAL = 100
TASKS = 100
RECENT = 50
# A BM25 score that is neither high nor low, and over how many cases a use fades.
USUAL_SCORE = 20
RECENT_CASES = 150
LETTERS = 4
LEVELS = 2


@dataclass(frozen=True, slots=True)
class Ground:
    """What can be chosen from: lexical search, and the name of each lesson in use by its id.

    A name is the lesson's path below its root, without the ending. `rules` is what the rules
    that a task meets give to a lesson, from -1 to 1.
    """

    lexical: Lexical
    names: Mapping[str, str]
    rules: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Found:
    """The candidates of a task with their features, in the order of `weights.NAMES`.

    `text` holds the lexical scores as they were.
    """

    rows: dict[str, list[float]]
    folders: dict[str, tuple[str, ...]]
    text: dict[str, float]


def find(task: Task, query: Sequence[str], past: Past, ground: Ground) -> Found:
    """Return the candidates of a task, a few hundred at most; `together` is not yet filled in."""
    text = {name: s for name, s in ground.lexical.hits(query, LEXICAL) if name in ground.names}
    tasks, ties = past.tasks(task)
    tasks = {lesson: score for lesson, score in tasks.items() if lesson in ground.names}
    votes = past.votes(task, ground.names)
    known = heapq.nsmallest(TASKS, tasks, key=lambda lesson: (-tasks[lesson], lesson))
    recent = heapq.nlargest(RECENT, ((at, one) for one, at in past.last.items()))
    sources: tuple[Iterable[str], ...] = (text, votes, known, (one for _, one in recent))
    chosen = {one: None for source in sources for one in source if one in ground.names}
    chosen.update((one, None) for one in ground.rules if one in ground.names)
    top, most = max(text.values(), default=0.0) or 1.0, max(tasks.values(), default=0.0) or 1.0
    grams = frozenset(gram for word in task.words for gram in _grams(word))
    words = frozenset(task.words)
    rows = {}
    for lesson in chosen:
        name = name_of(ground.names[lesson])
        score = text.get(lesson, 0.0)
        age = past.count - past.last[lesson] if lesson in past.last else math.inf
        rows[lesson] = [
            score / top,
            score / USUAL_SCORE,
            name.coverage(words),
            name.likeness(grams),
            tasks.get(lesson, 0.0) / most,
            ties.get(lesson, 0.0),
            votes.get(lesson, 0.0),
            math.exp(-age / RECENT_CASES),
            0.0,
        ]
    return Found(rows, {one: name_of(ground.names[one]).folders for one in chosen}, text)


@dataclass(frozen=True, slots=True)
class Name:
    """A lesson's name as it is compared: the words of each part, the last one first."""

    parts: tuple[frozenset[str], ...]
    grams: frozenset[str]
    folders: tuple[str, ...]

    def coverage(self, words: frozenset[str]) -> float:
        """Return how much of the name a task says, each folder counting half of what it holds."""
        share = whole = 0.0
        for depth, part in enumerate(self.parts):
            if part:
                share += 0.5**depth * len(part & words) / len(part)
                whole += 0.5**depth
        return share / whole if whole else 0.0

    def likeness(self, grams: frozenset[str]) -> float:
        """Return how much of the last part a task says, in runs of letters."""
        return len(self.grams & grams) / len(self.grams) if self.grams else 0.0


@functools.lru_cache(maxsize=1 << 16)
def name_of(name: str) -> Name:
    """Return a lesson's name ready to be compared."""
    parts = name.split("/")
    words = tuple(frozenset(wording.terms(part)) for part in reversed(parts))
    grams = frozenset(gram for word in words[0] for gram in _grams(word))
    folders = ("/".join(parts[:end]) + "/" for end in range(1, min(len(parts), LEVELS + 1)))
    return Name(words, grams, tuple(folders))


def _grams(word: str) -> list[str]:
    return [word[at : at + LETTERS] for at in range(max(1, len(word) - LETTERS + 1))]
