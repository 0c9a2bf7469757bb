"""The sessions that began and have not ended yet: one small file each, until their end is told.

A host that is killed, or whose session-end hook is, never tells it. Once nothing has been heard of
such a session for an hour it is put into the queue; if it goes on after all, its end puts it there
again, and the longer reading wins. Kept light: the session-end hook imports it.
"""

from __future__ import annotations

import os

from rose import files, layout, session
from rose.errors import Unwritable
from rose.reflection import queue

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

VERSION = 1
SILENT_S = 3600
_TEXTS = ("host", "session", "transcript", "cwd", "at")


def note(
    store: layout.Store, *, host: str, session: str, transcript: str, cwd: str, at: str
) -> None:
    """Note that a session began, in one atomic replace; raises Unwritable."""
    entry = {"host": host, "session": session, "transcript": transcript, "cwd": cwd, "at": at}
    files.replace(_path(store, host, session), files.dump_json({"v": VERSION, **entry}))


def forget(store: layout.Store, host: str, session: str) -> None:
    """Forget a session, whose end was told."""
    _discard(_path(store, host, session))


def queue_silent(store: layout.Store, now: float) -> None:
    """Put the sessions that fell silent into the queue, and forget them; raises Unwritable."""
    for path, entry in _entries(store):
        if now - _last_heard(path, entry) < SILENT_S:
            continue
        # Queued before it is forgotten: killed in between, it is queued twice and recorded once.
        if queue.has_transcript(entry) and not _is_off(store, entry):
            queue.put(store, **{name: entry[name] for name in _TEXTS})
        _discard(path)


def _path(store: layout.Store, host: str, name: str) -> str:
    return os.path.join(store.begun, layout.session_name(host, name) + ".json")


def _entries(store: layout.Store) -> Iterator[tuple[str, dict[str, str]]]:
    try:
        names = sorted(name for name in os.listdir(store.begun) if name.endswith(".json"))
    except OSError:
        return
    for name in names:
        path = os.path.join(store.begun, name)
        try:
            read = files.parse_json(files.read_text(path))
        except (OSError, ValueError):
            # Another hook took it, or it is none of ours.
            continue
        if not isinstance(read, dict) or read.get("v") != VERSION:
            continue
        entry = {key: value for key in _TEXTS if isinstance(value := read.get(key), str)}
        if len(entry) == len(_TEXTS) and _path(store, entry["host"], entry["session"]) == path:
            yield path, entry


def _last_heard(path: str, entry: Mapping[str, str]) -> float:
    """Return when a session's transcript was written last, or when it began."""
    return max(_mtime(path), _mtime(entry["transcript"]))


def _mtime(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except (OSError, ValueError):
        # No transcript yet, or no path at all.
        return 0.0


def _is_off(store: layout.Store, entry: Mapping[str, str]) -> bool:
    name = layout.session_name(entry["host"], entry["session"])
    return session.is_off(session.read(session.note_path(store.sessions, name)))


def _discard(path: str) -> None:
    try:
        files.delete(path)
    except Unwritable:
        # Not to be deleted: then the session is read once more, to no effect.
        return
