"""Scores lessons for some terms: BM25 over one or more indexes, as if they were one.

Terms are read from the rarest on. Those that would go beyond a number of postings choose no
lesson any more; they only add to the score of the best that the rarer ones found. What that
costs in recall: docs/measurements.md.
"""

from __future__ import annotations

import heapq
import itertools
import math
from array import array
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Container, Iterable, Iterator, Sequence

K1 = 1.2
B = 0.75
MOST_TERMS = 256
MOST_POSTINGS = 100_000
# How many of the best are looked at again for the terms that were not read through.
LOOKS = 256
_CHUNK = 500
_FREQUENCY = "SELECT doc FROM temp.text_rows WHERE term = ?"
_POSTINGS = "SELECT doc FROM temp.text_places WHERE term = ?"
_WORDS = "SELECT words FROM text WHERE rowid = ?"
_SIZES = "SELECT number, size FROM lessons"
_VIEWS = (
    "CREATE VIRTUAL TABLE IF NOT EXISTS temp.text_rows USING fts5vocab(main, text, row)",
    "CREATE VIRTUAL TABLE IF NOT EXISTS temp.text_places USING fts5vocab(main, text, instance)",
)


class Term(NamedTuple):
    """One term with the number of lessons that hold it, and what it is worth."""

    frequency: int
    word: str
    worth: float


class Pool(NamedTuple):
    """The scores of one index, and the numbers that may have one where not all may."""

    scores: dict[int, float]
    passing: Container[int] | None


class Scored(NamedTuple):
    """A lesson with its score, and where it is: which volume, and its number there."""

    score: float
    id: str
    volume: int
    number: int


class Volume:
    """One open index as scoring reads it. What it has loaded holds until the index changes."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._sizes = array("I")
        self._counts: tuple[int, int] | None = None
        for statement in _VIEWS:
            connection.execute(statement)

    def numbers(self, passes: Callable[[str], bool]) -> frozenset[int]:
        """Return the numbers of the lessons whose id passes."""
        rows = self._connection.execute("SELECT number, id FROM lessons")
        return frozenset(number for number, name in rows if passes(name))

    def load(self) -> tuple[int, int]:
        """Return how many lessons there are, and how many words they have together."""
        if self._counts is None:
            last = self._connection.execute("SELECT max(number) FROM lessons").fetchone()[0] or 0
            sizes = array("I", bytes(array("I").itemsize * (last + 1)))
            count = 0
            for number, size in self._connection.execute(_SIZES):
                sizes[number] = size
                count += 1
            self._sizes = sizes
            self._counts = count, sum(sizes)
        return self._counts

    def frequency(self, word: str) -> int:
        row = self._connection.execute(_FREQUENCY, (word,)).fetchone()
        return row[0] if row else 0

    def add(self, pool: Pool, term: Term, average: float) -> None:
        """Add what a term gives to each lesson of the pool that holds it."""
        times: dict[int, int] = {}
        for (number,) in self._connection.execute(_POSTINGS, (term.word,)):
            times[number] = times.get(number, 0) + 1
        sizes, scores, passing = self._sizes, pool.scores, pool.passing
        base, slope, worth = K1 * (1 - B), K1 * B / average, term.worth * (K1 + 1)
        for number, n in times.items():
            if passing is None or number in passing:
                given = worth * n / (n + base + slope * sizes[number])
                scores[number] = scores.get(number, 0.0) + given

    def closer(self, number: int, score: float, terms: Iterable[Term], average: float) -> float:
        """Return a lesson's score with what some further terms give it."""
        words = self._connection.execute(_WORDS, (number,)).fetchone()[0].split(" ")
        base, slope = K1 * (1 - B), K1 * B / average
        for term in terms:
            n = words.count(term.word)
            if n:
                worth = term.worth * (K1 + 1)
                score += worth * n / (n + base + slope * self._sizes[number])
        return score

    def ids(self, numbers: Sequence[int]) -> Iterator[tuple[int, str]]:
        """Yield some numbers, each with its lesson's id."""
        for start in range(0, len(numbers), _CHUNK):
            chunk = numbers[start : start + _CHUNK]
            marks = ",".join("?" * len(chunk))
            sql = f"SELECT number, id FROM lessons WHERE number IN ({marks})"  # noqa: S608 - marks
            yield from self._connection.execute(sql, chunk)


def best(
    volumes: Sequence[Volume],
    passing: Sequence[Container[int] | None],
    terms: Sequence[str],
    k: int,
) -> list[tuple[str, float]]:
    """Return the k best lessons with their scores, best first, ties by id.

    `passing` says for each volume which numbers may be among them.
    """
    counts = [volume.load() for volume in volumes]
    lessons = sum(count for count, _ in counts)
    if not lessons or k < 1:
        return []
    average = sum(words for _, words in counts) / lessons or 1.0
    read, rest = _bounded(_weighed(volumes, terms, lessons))
    if any(numbers is not None for numbers in passing):
        # The rarest terms may choose nothing of what passes, and the others all of it.
        read, rest = [*read, *rest], []
    pools = [Pool({}, numbers) for numbers in passing]
    for term in read:
        for volume, pool in zip(volumes, pools, strict=True):
            volume.add(pool, term, average)
    found = _top(volumes, pools, max(k, LOOKS) if rest else k)
    if rest:
        again = [
            one._replace(score=volumes[one.volume].closer(one.number, one.score, rest, average))
            for one in found
        ]
        found = sorted(again, key=_order)
    return [(one.id, one.score) for one in found[:k]]


def _weighed(volumes: Sequence[Volume], terms: Sequence[str], lessons: int) -> list[Term]:
    """Return the terms that some lesson holds, the rarest first."""
    found = []
    for word in itertools.islice(dict.fromkeys(terms), MOST_TERMS):
        n = sum(volume.frequency(word) for volume in volumes)
        if n:
            found.append(Term(n, word, math.log(1 + (lessons - n + 0.5) / (n + 0.5))))
    return sorted(found)


def _bounded(terms: Sequence[Term]) -> tuple[Sequence[Term], Sequence[Term]]:
    """Part the terms into those that are read through, at least one, and the rest."""
    totals = itertools.accumulate(term.frequency for term in terms)
    within = sum(total <= MOST_POSTINGS for total in totals)
    return terms[: max(within, 1)], terms[max(within, 1) :]


def _top(volumes: Sequence[Volume], pools: Sequence[Pool], k: int) -> list[Scored]:
    """Return the k best of all pools, ties by id."""
    scores = itertools.chain.from_iterable(pool.scores.values() for pool in pools)
    least = min(heapq.nlargest(k, scores), default=0.0)
    found = []
    for at, (volume, pool) in enumerate(zip(volumes, pools, strict=True)):
        numbers = [number for number, score in pool.scores.items() if score >= least]
        named = volume.ids(numbers)
        found += [Scored(pool.scores[number], name, at, number) for number, name in named]
    return sorted(found, key=_order)[:k]


def _order(one: Scored) -> tuple[float, str]:
    return -one.score, one.id
