"""The search index over the lessons of one or more stores, for whoever ranks them.

Each store has an index of its own; a query is answered from all of them as if they were one.
"""

from __future__ import annotations

import contextlib
import sqlite3
from typing import TYPE_CHECKING

from rose import files
from rose.selection import index_file, index_score
from rose.selection.index_score import Volume

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

    from rose.selection.index_file import Book
    from rose.selection.index_rows import Progress
    from rose.store.lessons import Holding


def open_index(holdings: Sequence[Holding], progress: Progress | None = None) -> Index:
    """Return the index over the active lessons of some stores, brought up to date.

    An id that two stores share is the first one's. `progress` is told how many of the changed
    lessons are done. Nothing makes it fail but a SQLite without full-text search.
    """
    shelves: list[_Shelf] = []
    try:
        for number, holding in enumerate(holdings):
            before = [other.shelf.lessons for other in holdings[:number]]
            hidden = frozenset(lesson.id for known in before for lesson in known)
            shelves.append(_Shelf(holding, hidden, progress))
    except BaseException:
        Index(shelves).close()
        raise
    return Index(shelves)


class Index:
    """The active lessons of some stores; whoever opens it closes it."""

    def __init__(self, shelves: Sequence[_Shelf]) -> None:
        self._shelves = shelves

    def hits(
        self,
        terms: Sequence[str],
        k: int,
        *,
        within: Container[str] | None = None,
    ) -> list[tuple[str, float]]:
        """Return the ids and scores of the k best lessons for any of the terms, ties by id.

        `terms` are tokens as `text.words` returns them. With `within` only those ids are
        returned; what a term is worth stays that of all lessons.
        """
        try:
            return self._best(terms, k, within)
        except sqlite3.Error:
            # A file that was sound when it was opened, and is not any more.
            for shelf in self._shelves:
                shelf.leave_file()
            return self._best(terms, k, within)

    def _best(
        self, terms: Sequence[str], k: int, within: Container[str] | None
    ) -> list[tuple[str, float]]:
        with contextlib.ExitStack() as stack:
            volumes = [stack.enter_context(shelf.reading()) for shelf in self._shelves]
            passing = [shelf.passing(within) for shelf in self._shelves]
            return index_score.best(volumes, passing, terms, k)

    def close(self) -> None:
        for shelf in self._shelves:
            shelf.close()


class _Shelf:
    """One store's index, and the ids in it that a store before it hides."""

    def __init__(self, holding: Holding, hidden: frozenset[str], progress: Progress | None) -> None:
        self._holding = holding
        own = (lesson.id for lesson in holding.shelf.lessons if lesson.id in hidden)
        self._hidden = frozenset(own) if hidden else hidden
        self._open(index_file.open_book(holding, progress))

    def _open(self, book: Book) -> None:
        self._book = book
        self._volume: Volume | None = None
        self._visible: frozenset[int] | None = None

    @contextlib.contextmanager
    def reading(self) -> Iterator[Volume]:
        """Give the index in one state, whatever other processes write meanwhile."""
        if not self._begin():
            self.close()
            self._open(
                index_file.reopen(self._holding.store) or index_file.in_memory(self._holding)
            )
            if not self._begin():
                self.leave_file()
                self._begin()
        try:
            self._volume = self._volume or Volume(self._book.connection)
            yield self._volume
        finally:
            self._book.connection.commit()

    def _begin(self) -> bool:
        """Begin to read; tell whether the file is still the one that was opened."""
        self._book.connection.execute("BEGIN")
        self._book.connection.execute("SELECT number FROM lessons LIMIT 1").fetchone()
        stamp = self._book.stamp
        return stamp is None or stamp == files.stat_stamp(self._holding.store.search)

    def passing(self, within: Container[str] | None) -> frozenset[int] | None:
        """Return the numbers that may be found, None for all; for use while reading."""
        if self._volume is None or (within is None and not self._hidden):
            return None
        if within is not None:
            return self._volume.numbers(lambda name: name in within and name not in self._hidden)
        if self._visible is None:
            self._visible = self._volume.numbers(lambda name: name not in self._hidden)
        return self._visible

    def leave_file(self) -> None:
        """Go on with an index in memory, and let the next call make a new file."""
        self.close()
        index_file.discard(self._holding.store)
        self._open(index_file.in_memory(self._holding))

    def close(self) -> None:
        self._book.connection.close()
