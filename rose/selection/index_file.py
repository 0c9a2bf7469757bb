"""The file of the search index, `.rose/local/search.db`: derived, may be deleted at any time.

It is believed under the stamp that its own writer left beside it, and under no other: whatever
else touched the file (a crash, another program, a clone, a copy) makes it no index, and it is
built again. So it needs no journal. docs/decisions/021.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import sqlite3
from typing import TYPE_CHECKING, Any, NamedTuple

from rose import derived, files, racy
from rose.errors import Locked, Unwritable
from rose.selection import index_rows
from rose.store import cache

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rose.layout import Store
    from rose.selection.index_rows import Progress
    from rose.store.lessons import Holding, Lesson

    Parts = Mapping[str, Sequence[Lesson]]

VERSION = f"{index_rows.VERSION}.{cache.VERSION}"
# All of it together a small part of what a prompt waits: an index in memory must still be made.
LOCK_WAIT_S = 0.2
BUSY_WAIT_S = 0.2
# One version in 256, which is a digest in hex.
_PART_ENDS_BELOW = "01"
# SQLite's own codes, which Python names from 3.11 on.
_BUSY, _LOCKED = 5, 6
# What SQLite would read beside the file without asking who wrote it.
SIDE_FILES = ("-journal", "-wal", "-shm")


class Book(NamedTuple):
    """An open index; `stamp` is that of its file, None where it lies in memory."""

    connection: sqlite3.Connection
    stamp: list[int] | None


def open_book(holding: Holding, progress: Progress | None = None) -> Book:
    """Return the index of a store's active lessons, brought up to date.

    Where the file cannot be read, written or waited for, its like is made in memory.
    """
    store, parts = holding.store, parts_of(holding.shelf.active())
    book = reopen(store, parts)
    if book is None:
        # A file that cannot be had costs time and no result.
        with contextlib.suppress(Locked, Unwritable, OSError, sqlite3.Error):
            with files.lock(store.search_lock, LOCK_WAIT_S):
                _refresh(store, parts, progress)
            book = reopen(store, parts)
    return book or _from_copy(holding, progress) or _in_memory(_empty(), holding, progress)


def parts_of(lessons: Sequence[Lesson]) -> Parts:
    """Return the lessons in parts, each under the digest of what the index is made from.

    Every lesson decides by its own content whether a part ends with it, so a change moves only
    the borders beside it: all other parts are known by their digests not to have changed.
    """
    lines = [f"{lesson.path}\0{lesson.id}\0{lesson.version}" for lesson in lessons]
    ends = [at for at, lesson in enumerate(lessons, 1) if lesson.version < _PART_ENDS_BELOW]
    parts = {}
    for start, end in itertools.pairwise([0, *ends, len(lessons)]):
        digest = hashlib.sha256("\n".join(lines[start:end]).encode()).hexdigest()[:16]
        parts[digest] = lessons[start:end]
    return parts


def reopen(store: Store, parts: Parts | None = None) -> Book | None:
    """Return the index as its file holds it, None where the file is not to be believed.

    With parts the file must be that of those lessons.
    """
    state = _state(store)
    if state is None or (parts is not None and state["parts"] != [*parts]):
        return None
    place = store.search.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    try:
        connection = sqlite3.connect(
            f"file:{place}?mode=ro", timeout=BUSY_WAIT_S, isolation_level=None, uri=True
        )
    except sqlite3.Error:
        return None
    return Book(connection, state["stamp"])


def in_memory(holding: Holding) -> Book:
    """Return an index of a store's active lessons that owes nothing to the file."""
    return _in_memory(_empty(), holding, None)


def _in_memory(connection: sqlite3.Connection, holding: Holding, progress: Progress | None) -> Book:
    lessons = holding.shelf.active()
    for _ in index_rows.bring(connection, holding.store, [lessons], lessons, progress):
        continue
    return Book(connection, None)


def _empty() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    index_rows.create(connection)
    return connection


def _from_copy(holding: Holding, progress: Progress | None) -> Book | None:
    """Return the index made from what the file holds, however old; None where that fails."""
    book = reopen(holding.store)
    if book is None:
        return None
    copy = sqlite3.connect(":memory:", isolation_level=None)
    with contextlib.closing(book.connection) as file:
        try:
            file.backup(copy, progress=_do_not_wait)
            return _in_memory(copy, holding, progress)
        except sqlite3.Error:
            copy.close()
            return None


def _do_not_wait(status: int, _remaining: int, _total: int) -> None:
    """Give a copy up where another program holds the file: it would be tried again for ever."""
    if status in (_BUSY, _LOCKED):
        raise sqlite3.OperationalError("database is locked")


def _state(store: Store) -> Mapping[str, Any] | None:
    """Return what the last writer left beside the file, None where the file has changed since."""
    state = derived.load(store.search_state)
    if state.get("v") != VERSION or not isinstance(state.get("stamp"), list):
        return None
    has_changed = state["stamp"] != files.stat_stamp(store.search)
    is_alone = not any(os.path.lexists(store.search + suffix) for suffix in SIDE_FILES)
    is_whole = isinstance(state.get("parts"), list)
    return state if is_whole and is_alone and not has_changed else None


def _refresh(store: Store, parts: Parts, progress: Progress | None) -> None:
    """Bring the file up to date, under its lock; one that resists is made anew."""
    state = _state(store)
    if state is not None:
        if state["parts"] == [*parts]:
            return
        racy.wait_since(state["stamp"][1])
        with contextlib.suppress(sqlite3.Error):
            _write(store, parts, frozenset(state["parts"]), progress)
            return
    _discard(store)
    os.close(os.open(store.search, os.O_CREAT | os.O_EXCL | os.O_WRONLY | files.NO_FOLLOW, 0o644))
    try:
        _write(store, parts, frozenset(), progress)
    except sqlite3.Error:
        _discard(store)
        raise


def _write(store: Store, parts: Parts, known: frozenset[str], progress: Progress | None) -> None:
    suspects = [x for digest, part in parts.items() if digest not in known for x in part]
    connection = sqlite3.connect(store.search, timeout=BUSY_WAIT_S, isolation_level=None)
    with contextlib.closing(connection):
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA cache_size = -32000")
        if not os.path.getsize(store.search):
            index_rows.create(connection)
        for is_current in index_rows.bring(connection, store, parts.values(), suspects, progress):
            # What is not done yet is suspect again; what is done is found to be so at once.
            held = [*parts] if is_current else [digest for digest in parts if digest in known]
            stamp = files.stat_stamp(store.search)
            derived.save(store.search_state, {"v": VERSION, "parts": held, "stamp": stamp})


def discard(store: Store) -> None:
    """Delete a file that turned out to be broken, where that can be done."""
    with contextlib.suppress(Locked, Unwritable), files.lock(store.search_lock, LOCK_WAIT_S):
        _discard(store)


def _discard(store: Store) -> None:
    """Delete the file and all that lies beside it; raises Unwritable."""
    files.delete(store.search_state)
    for suffix in ("", *SIDE_FILES):
        files.delete(store.search + suffix)
