"""The queue of sessions to reflect on: one small file a session, worked at least once.

`{v, host, session, transcript, cwd, store, at, tries, state, lease_until, reason}`; a newer
entry replaces a pending one. One worker a store holds `working_lock`, so an entry that is left
`working` belongs to a worker that died. Kept light: the session-end hook imports it.
"""

from __future__ import annotations

import os

from rose import files, layout
from rose.errors import Locked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Mapping

VERSION = 1
MAX_TRIES = 3
LEASE_S = 900
PUT_WAIT_S = 0.2
LOCK_WAIT_S = 5.0


def put(
    store: layout.Store, *, host: str, session: str, transcript: str, cwd: str, at: str
) -> None:
    """Write an entry in one atomic replace; raises Unwritable."""
    entry = {
        "v": VERSION,
        "host": host,
        "session": session,
        "transcript": transcript,
        "cwd": cwd,
        "store": store.dot,
        "at": at,
        "tries": 0,
        "state": "pending",
        "lease_until": 0,
        "reason": "",
    }
    try:
        with _table_lock(store, PUT_WAIT_S):
            _write(store, entry)
    except Locked:
        # The host waits for this hook; an entry written unlocked is only worked twice at worst.
        _write(store, entry)


def _table_lock(store: layout.Store, wait_s: float) -> files.lock:
    return files.lock(os.path.join(store.local, "queue.lock"), wait_s)


def working_lock(store: layout.Store, wait_s: float) -> files.lock:
    """Return the lock that a worker holds from its first claim to its last."""
    return files.lock(os.path.join(store.local, "worker.lock"), wait_s)


def _path(store: layout.Store, host: str, session: str) -> str:
    return os.path.join(store.queue, layout.session_name(host, session) + ".json")


def entries(store: layout.Store) -> list[dict[str, object]]:
    """Return every readable entry, oldest first."""
    found = []
    try:
        names = sorted(name for name in os.listdir(store.queue) if name.endswith(".json"))
    except OSError:
        return []
    for name in names:
        entry = _read(os.path.join(store.queue, name))
        if entry is not None:
            found.append(entry)
    return sorted(found, key=lambda entry: (str(entry["at"]), str(entry["session"])))


def _read(path: str) -> dict[str, object] | None:
    """Return an entry, None where the file is none or is gone."""
    try:
        entry = files.parse_json(files.read_text(path))
    except (OSError, ValueError):
        return None
    if not isinstance(entry, dict) or entry.get("v") != VERSION:
        return None
    texts = ("host", "session", "transcript", "cwd", "at", "state", "reason")
    numbers = ("tries", "lease_until")
    typed = all(isinstance(entry.get(name), str) for name in texts) and all(
        isinstance(entry.get(name), int) for name in numbers
    )
    return entry if typed else None


def pending(store: layout.Store) -> bool:
    """Tell whether some entry waits for a worker, or is in the hands of one."""
    return any(_is_open(entry) for entry in entries(store))


def _is_open(entry: Mapping[str, object]) -> bool:
    return entry["state"] in ("pending", "working")


def claim(store: layout.Store, now: float, done: Container[str]) -> dict[str, object] | None:
    """Take the oldest open entry and count a try, holding `working_lock`; None where none is.

    `done` names the sessions that this run has tried already. An entry whose tries are used up
    turns to `failed` with its reason and is never taken again.
    """
    with _table_lock(store, LOCK_WAIT_S):
        for entry in entries(store):
            if not _is_open(entry) or entry["session"] in done:
                continue
            tries = int(str(entry["tries"])) + 1
            if tries > MAX_TRIES:
                reason = str(entry["reason"]) or "the worker died each time"
                _write(store, {**entry, "state": "failed", "reason": reason})
                continue
            claimed = {
                **entry,
                "tries": tries,
                "state": "working",
                "lease_until": int(now) + LEASE_S,
            }
            _write(store, claimed)
            return claimed
    return None


def finish(store: layout.Store, claimed: Mapping[str, object]) -> None:
    """Remove a worked entry, unless a newer one took its place meanwhile."""
    with _table_lock(store, LOCK_WAIT_S):
        if _is_current(store, claimed):
            os.unlink(_path(store, str(claimed["host"]), str(claimed["session"])))


def give_back(store: layout.Store, claimed: Mapping[str, object], reason: str) -> None:
    """Put an entry back after a failure, or mark it failed after its last try."""
    with _table_lock(store, LOCK_WAIT_S):
        if not _is_current(store, claimed):
            return
        last = int(str(claimed["tries"])) >= MAX_TRIES
        state = "failed" if last else "pending"
        _write(store, {**claimed, "state": state, "lease_until": 0, "reason": reason[:500]})


def _is_current(store: layout.Store, claimed: Mapping[str, object]) -> bool:
    now = _read(_path(store, str(claimed["host"]), str(claimed["session"])))
    return now is not None and all(now[name] == claimed[name] for name in ("at", "tries"))


def _write(store: layout.Store, entry: Mapping[str, object]) -> None:
    path = _path(store, str(entry["host"]), str(entry["session"]))
    files.replace(path, files.dump_json(dict(entry)))
