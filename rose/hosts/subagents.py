"""The files of a session's subagents, which lie in a folder named after the session.

The folder comes from whoever wrote the transcript, so nothing outside it is ever read.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from rose import files
from rose.errors import RoseError
from rose.hosts import rows
from rose.hosts.base import Tally

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_FOLDER = "subagents"
_PREFIX = "agent-"
# Compaction runs an agent of its own over a copy of the conversation.
_COMPACTION = "agent-acompact-"
_SUFFIX = ".jsonl"
_FIRST_ROWS = 50


def sources(
    transcript: str, tally: Tally, skip: Callable[[bytes], bool], begins: float
) -> list[rows.Source]:
    """Return the subagents of a session, each with the time of its first row (or `begins`)."""
    found = []
    for agent, path in _files(transcript, tally):
        stamp = _first_stamp(path, tally)
        if stamp is not None:
            reading = _Reading(path, tally, skip)
            found.append(rows.Source(agent, max(stamp, begins), reading))
    return found


class _Reading:
    """A file of a subagent, whose failure is counted and does not end the session's pass."""

    def __init__(self, path: str, tally: Tally, skip: Callable[[bytes], bool]) -> None:
        self._path, self._tally, self._skip = path, tally, skip

    def __call__(self) -> Iterator[rows.Row]:
        try:
            yield from rows.read(self._path, self._tally, self._skip)
        except RoseError:
            self._tally.unread += 1


def _files(transcript: str, tally: Tally) -> Iterator[tuple[str, str]]:
    """Yield (agent, path) in order of name."""
    if not transcript.endswith(_SUFFIX):
        return
    session = os.path.abspath(transcript).removesuffix(_SUFFIX)
    own = os.path.join(os.path.realpath(os.path.dirname(session)), os.path.basename(session))
    folder = os.path.join(session, _FOLDER)
    try:
        names = sorted(os.listdir(folder))
    except FileNotFoundError:
        return
    except OSError:
        tally.unread += 1
        return
    for name in names:
        if not name.startswith(_PREFIX) or not name.endswith(_SUFFIX):
            continue
        if name.startswith(_COMPACTION):
            continue
        path = os.path.join(folder, name)
        if files.is_below(os.path.realpath(path), own):
            yield name.removeprefix(_PREFIX).removesuffix(_SUFFIX), path
        else:
            tally.unread += 1


def _first_stamp(path: str, tally: Tally) -> float | None:
    """Return the first timestamp among the first rows, 0 without one, None if unreadable."""
    try:
        for row in rows.read(path, Tally(), rows.skip_nothing):
            stamp = rows.seconds(row.value.get("timestamp"))
            if stamp is not None or row.number >= _FIRST_ROWS:
                return stamp or 0.0
    except RoseError:
        tally.unread += 1
        return None
    return 0.0
