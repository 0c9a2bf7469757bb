"""The rows of the search index: a lesson's words in a full-text table, one row a lesson.

The words come from the one tokenizer; SQLite only parts them at spaces. Those of path and title
stand among the words of the text several times. Of a header only title, gist and tags are words.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from typing import TYPE_CHECKING, NamedTuple

from rose import text as texts
from rose.errors import RoseError
from rose.store import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from rose.layout import Store
    from rose.store.lessons import Lesson

    Progress = Callable[[int, int], None]

# Raised whenever a lesson's words are others, or the tables change.
VERSION = 3
BATCH = 1000
_CHUNK = 500
# How often the words of path and title count in the text (docs/measurements.md).
NAME_WEIGHT = 3
# Every other ASCII character belongs to a token, as do all beyond ASCII.
_TOKENS = "tokenize=\"ascii tokenchars '!#$%&()*+,-./:;<=>?@[\\]^_`{|}~'\""
_LESSONS = """CREATE TABLE lessons(
    number INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, id TEXT NOT NULL, version TEXT NOT NULL,
    size INTEGER NOT NULL)"""
_SCHEMA = (_LESSONS, f"CREATE VIRTUAL TABLE text USING fts5(words, {_TOKENS})")


class Page(NamedTuple):
    """A lesson as it is indexed, with the words that it is found by."""

    path: str
    id: str
    version: str
    words: Sequence[str]


def words_of(name: str, text: str) -> list[str]:
    """Return what a lesson is found by; `name` is its path below the root and its title."""
    return texts.words(name) * NAME_WEIGHT + texts.words(text)


def create(connection: sqlite3.Connection) -> None:
    """Make the tables; raises RoseError where SQLite was built without full-text search."""
    try:
        with _transaction(connection):
            for statement in _SCHEMA:
                connection.execute(statement)
    except sqlite3.OperationalError as error:
        if "fts5" not in str(error):
            raise
        raise RoseError("The SQLite of this Python has no FTS5, which searching needs.") from error


def bring(
    connection: sqlite3.Connection,
    store: Store,
    parts: Collection[Sequence[Lesson]],
    suspects: Sequence[Lesson],
    progress: Progress | None = None,
) -> Iterator[bool]:
    """Bring the rows up to date with the lessons of all parts; only what changed is read.

    What changed is among the suspects, or gone. Yields after each batch of changes whether the
    rows are now those of the lessons as they were seen.
    """
    known = _known(connection, [lesson.path for lesson in suspects])
    changed = [x for x in suspects if known.get(x.path, (0, "", ""))[1:] != (x.id, x.version)]
    with _transaction(connection):
        rows = connection.execute("SELECT count(*) FROM lessons").fetchone()[0]
        if rows + len(suspects) - len(known) > sum(map(len, parts)):
            wanted = {lesson.path for part in parts for lesson in part}
            all_rows = connection.execute("SELECT number, path FROM lessons").fetchall()
            remove(connection, [number for number, path in all_rows if path not in wanted])
    is_sound = True
    for start in range(0, len(changed), BATCH):
        with _transaction(connection):
            for lesson in changed[start : start + BATCH]:
                page = _page(store, lesson)
                put(connection, page, known[lesson.path][0] if lesson.path in known else None)
                is_sound = is_sound and page.version == lesson.version
        done = min(start + BATCH, len(changed))
        if progress is not None:
            progress(done, len(changed))
        if done < len(changed):
            yield False
    yield is_sound


def _known(connection: sqlite3.Connection, paths: Sequence[str]) -> dict[str, tuple[int, str, str]]:
    """Return number, id and version of the rows with some paths."""
    known = {}
    for start in range(0, len(paths), _CHUNK):
        chunk = paths[start : start + _CHUNK]
        marks = ",".join("?" * len(chunk))
        sql = f"SELECT path, number, id, version FROM lessons WHERE path IN ({marks})"  # noqa: S608
        for path, *row in connection.execute(sql, chunk):
            known[path] = (row[0], row[1], row[2])
    return known


@contextlib.contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    yield
    connection.execute("COMMIT")


def _page(store: Store, lesson: Lesson) -> Page:
    """Return a lesson as its file now is; one that is gone has no words and no version."""
    try:
        part = parse.read_part(os.path.join(store.base, lesson.path))
        text, version = f"{parse.described(part.header)}\n{part.body}", part.version
    except OSError:
        text, version = "", ""
    name = f"{lesson.path[len(lesson.root) + 1 : -3]} {lesson.title}"
    return Page(lesson.path, lesson.id, version, words_of(name, text))


def put(connection: sqlite3.Connection, page: Page, number: int | None = None) -> None:
    """Write a page, in the place of the one with that number."""
    if number is not None:
        remove(connection, [number])
    number = connection.execute(
        "INSERT INTO lessons(number, path, id, version, size) VALUES(?, ?, ?, ?, ?)",
        (number, page.path, page.id, page.version, len(page.words)),
    ).lastrowid
    insert = "INSERT INTO text(rowid, words) VALUES(?, ?)"
    connection.execute(insert, (number, " ".join(page.words)))


def remove(connection: sqlite3.Connection, numbers: Iterable[int]) -> None:
    rows = [(number,) for number in numbers]
    connection.executemany("DELETE FROM text WHERE rowid = ?", rows)
    connection.executemany("DELETE FROM lessons WHERE number = ?", rows)
