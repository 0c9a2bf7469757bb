"""Clears away what no later reading needs: old notes, blocks that nobody was sent, torn leftovers.

The worker calls it after its last session. Nothing of people's is touched: only files under
`.rose/local/` and temporary files that a killed write left in rose's folders or beside a lesson.
"""

from __future__ import annotations

import contextlib
import os
import re
from typing import TYPE_CHECKING

from rose import config, files, session
from rose.errors import Locked, Unwritable
from rose.routing import compiled
from rose.selection import trace
from rose.store import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rose.layout import Store

DAY_S = 86_400
# A session that nobody has come back to for this long is not resumed in practice.
NOTE_DAYS = 60
# An answer is needed only until its session is recorded, which three tries decide.
ANSWER_DAYS = 7
KEPT_ROWS = 500
KEPT_UNDOS = 200
# A temporary file as `files.replace` names it: process and nanoseconds.
_BESIDE_LESSON = re.compile(r".+\.mdc?\.[0-9]+\.[0-9a-f]+\.tmp", re.DOTALL)


def prune(store: Store, now: float) -> int:
    """Delete what is no longer needed and return how many files went."""
    doomed = [
        *_older(store.sessions, ".jsonl", now - NOTE_DAYS * DAY_S),
        *_older(store.answers, ".json", now - ANSWER_DAYS * DAY_S),
        *_beyond(store.sessions, ".rows", KEPT_ROWS),
        *_beyond(store.undo, ".json", KEPT_UNDOS),
        *_leftovers(store, now - DAY_S),
    ]
    # What cannot be shortened now is as long the next time.
    with contextlib.suppress(OSError, Locked, Unwritable):
        trace.shorten(store)
    gone = sum(_unlink(path) for path in doomed)
    return gone + sum(_unlink(path) for path in _unsent_blocks(store, now - DAY_S))


def _files(folder: str, suffix: str) -> list[tuple[float, str]]:
    """Return (mtime, path) of the files of a folder, newest first."""
    try:
        with os.scandir(folder) as entries:
            found = [
                (entry.stat(follow_symlinks=False).st_mtime, entry.path)
                for entry in entries
                if entry.name.endswith(suffix) and entry.is_file(follow_symlinks=False)
            ]
    except OSError:
        # No such folder yet, or a file went while we looked: the next run finds the rest.
        return []
    return sorted(found, reverse=True)


def _older(folder: str, suffix: str, before: float) -> Iterator[str]:
    return (path for mtime, path in _files(folder, suffix) if mtime < before)


def _beyond(folder: str, suffix: str, kept: int) -> Iterator[str]:
    return (path for _, path in _files(folder, suffix)[kept:])


def _leftovers(store: Store, before: float) -> Iterator[str]:
    for folder in (
        store.dot,
        store.routing,
        store.local,
        store.sessions,
        store.queue,
        store.blocks,
        os.path.dirname(store.selections),
    ):
        yield from _older(folder, ".tmp", before)
    for folder in _lesson_folders(store):
        for path in _older(folder, ".tmp", before):
            if _BESIDE_LESSON.fullmatch(os.path.basename(path)):
                yield path


def _lesson_folders(store: Store) -> Iterator[str]:
    """Yield the folders that may hold lessons, no link among them."""
    for root in config.read(store)[0].lessons_paths:
        for folder, folders, _ in os.walk(os.path.join(store.base, root)):
            folders[:] = [name for name in folders if name[0] != "." and name not in walk.SKIPPED]
            yield folder


def _unsent_blocks(store: Store, before: float) -> list[str]:
    """Return the blocks that no note names and that are not the present layer's."""
    layer = compiled.read(store.layer)
    named = {str(layer["digest"])} if layer is not None else set()
    for _, path in _files(store.sessions, ".jsonl"):
        named.update(str(line["block"]) for line in session.read(path) if "block" in line)
    blocks = _older(store.blocks, ".txt", before)
    return [path for path in blocks if os.path.basename(path)[: -len(".txt")] not in named]


def _unlink(path: str) -> bool:
    try:
        return files.delete(path)
    except Unwritable:
        return False
