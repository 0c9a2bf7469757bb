"""Clears away what no later reading needs: old notes, blocks that nobody was sent, torn leftovers.

The worker calls it after its last session. Nothing of people's is touched: only files under
`.rose/local/` and temporary files that a killed write left in rose's own folders.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from rose import files, session
from rose.errors import Unwritable
from rose.routing import compiled

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


def prune(store: Store, now: float) -> int:
    """Delete what is no longer needed and return how many files went."""
    doomed = [
        *_older(store.sessions, ".jsonl", now - NOTE_DAYS * DAY_S),
        *_older(store.answers, ".json", now - ANSWER_DAYS * DAY_S),
        *_beyond(store.sessions, ".rows", KEPT_ROWS),
        *_beyond(store.undo, ".json", KEPT_UNDOS),
        *_leftovers(store, now - DAY_S),
    ]
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
    ):
        yield from _older(folder, ".tmp", before)


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
