"""Lexical search as selection asks for it, and the same search held in memory.

The index on disk answers for a store; the one in memory is for replaying a stream of tasks, with
the same constants.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

K1 = 1.2
B = 0.75


class Lexical(Protocol):
    """Finds lessons by words."""

    def hits(self, terms: Sequence[str], k: int) -> Sequence[tuple[str, float]]:
        """Return the ids and scores of the k best lessons, best first, ties by id."""
        ...


class Bm25:
    """BM25 over some texts by id; what each term gives to each text is computed once."""

    def __init__(self, texts: Mapping[str, Sequence[str]]) -> None:
        count = len(texts)
        average = sum(map(len, texts.values())) / max(count, 1) or 1.0
        rows: dict[str, list[tuple[str, float]]] = {}
        for name in sorted(texts):
            slope = K1 * (1 - B + B * len(texts[name]) / average)
            for term, times in Counter(texts[name]).items():
                rows.setdefault(term, []).append((name, times * (K1 + 1) / (times + slope)))
        self._given: dict[str, list[tuple[str, float]]] = {}
        for term, given in rows.items():
            worth = math.log(1 + (count - len(given) + 0.5) / (len(given) + 0.5))
            self._given[term] = [(name, worth * part) for name, part in given]

    def hits(
        self, terms: Sequence[str], k: int, *, within: Container[str] | None = None
    ) -> list[tuple[str, float]]:
        """Return the k best texts; what a term is worth stays that of all of them."""
        scores: dict[str, float] = {}
        for term in sorted(set(terms)):
            for name, given in self._given.get(term, ()):
                scores[name] = scores.get(name, 0.0) + given
        found = (
            (name, score) for name, score in scores.items() if within is None or name in within
        )
        return heapq.nsmallest(k, found, key=lambda hit: (-hit[1], hit[0]))
