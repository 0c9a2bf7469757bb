"""The weights of selection, learned online from which lessons a task used.

One weight a feature, and one for each word with each lesson and each folder. A step raises what
was used above what was not (softmax over the candidates); its size falls as evidence gathers
(AdaGrad). Nothing is random, so the same cases in the same order give the same weights.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

# The features in order, with the weights of an empty record: BM25 alone.
START = {
    "text": 2.0,
    "depth": 0.1,
    "path": 0.0,
    "shape": 0.0,
    "tasks": 1.0,
    "ties": 1.0,
    "votes": 2.0,
    "recent": 0.1,
    "together": 0.1,
}
NAMES = tuple(START)
RATE = 0.3
CAUTION = 0.1
WORD_CAUTION = 0.01
# An error below this changes no word: most candidates of most cases.
LEAST_ERROR = 0.001
# How much a lesson's first use says about its folder.
FOLDER_SHARE = 0.3


class Weights:
    """What each feature is worth, and each word for each lesson and folder."""

    def __init__(self) -> None:
        self.of = list(START.values())
        self.spread = [CAUTION] * len(NAMES)
        # Place (a lesson, or a folder with its slash) by word; the empty word is the place itself.
        self.words: dict[str, dict[str, list[float]]] = {}

    def word_scores(self, words: Sequence[str]) -> dict[str, float]:
        """Return what some words give to the places that they came with."""
        scale = 1 / math.sqrt(len(words) or 1)
        found: dict[str, float] = {}
        for word in words:
            for place, (weight, _) in self.words.get(word, {}).items():
                found[place] = found.get(place, 0.0) + weight * scale
        return found

    def bias(self, lesson: str) -> float:
        known = self.words.get("", {}).get(lesson)
        return known[0] if known else 0.0

    def learn(
        self,
        words: Sequence[str],
        errors: Mapping[str, float],
        rows: Mapping[str, Sequence[float]],
        folders: Mapping[str, Sequence[str]],
    ) -> None:
        """Take one step along the errors of the candidates, whose features are in `rows`."""
        for at in range(len(NAMES)):
            slope = sum(error * rows[lesson][at] for lesson, error in errors.items())
            self.spread[at] += slope * slope
            self.of[at] += RATE * slope / math.sqrt(self.spread[at])
        strong = {one: error for one, error in errors.items() if abs(error) > LEAST_ERROR}
        self._step([""], strong.items(), CAUTION)
        by_folder: dict[str, float] = {}
        for lesson, error in strong.items():
            for folder in folders[lesson]:
                by_folder[folder] = by_folder.get(folder, 0.0) + error
        self._words(words, {**strong, **by_folder})

    def meet(self, words: Sequence[str], lesson: str, folders: Sequence[str]) -> None:
        """Learn from the use of a lesson that could not be chosen yet."""
        self._words(words, {lesson: 1.0})
        self._words(words, dict.fromkeys(folders, FOLDER_SHARE))

    def _words(self, words: Sequence[str], errors: Mapping[str, float]) -> None:
        scale = 1 / math.sqrt(len(words) or 1)
        self._step(words, [(place, error * scale) for place, error in errors.items()], WORD_CAUTION)

    def _step(
        self, words: Sequence[str], slopes: Iterable[tuple[str, float]], caution: float
    ) -> None:
        found = list(slopes)
        for word in words:
            known = self.words.setdefault(word, {})
            for place, slope in found:
                pair = known.setdefault(place, [0.0, caution])
                pair[1] += slope * slope
                pair[0] += RATE * slope / math.sqrt(pair[1])
