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
STATES = ("pending", "working", "failed")
MAX_TRIES = 3
LEASE_S = 900
# A transcript may still be on its way when its session ends.
RETRY_S = 60
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
    return files.lock(store.queue_lock, wait_s)


def working_lock(store: layout.Store, wait_s: float) -> files.lock:
    """Return the lock that a worker holds from its first claim to its last."""
    return files.lock(store.worker_lock, wait_s)


def next_lock(store: layout.Store) -> files.lock:
    """Return the lock of the one worker that may wait for its turn; the others have no work."""
    return files.lock(store.next_worker_lock, 0)


def _path(store: layout.Store, host: str, session: str) -> str:
    return os.path.join(store.queue, layout.session_name(host, session) + ".json")


def entries(store: layout.Store) -> list[dict[str, object]]:
    """Return every readable entry, oldest first."""
    read = [_read(path) for path in _paths(store)]
    found = [entry for entry in read if entry is not None]
    return sorted(found, key=lambda entry: (str(entry["at"]), str(entry["session"])))


def broken(store: layout.Store) -> list[str]:
    """Return the files among the entries that are none, which no worker ever takes."""
    return [path for path in _paths(store) if _read(path) is None and os.path.lexists(path)]


def _paths(store: layout.Store) -> list[str]:
    try:
        names = sorted(os.listdir(store.queue))
    except OSError:
        return []
    return [os.path.join(store.queue, name) for name in names if name.endswith(".json")]


def _read(path: str) -> dict[str, object] | None:
    """Return an entry, None where the file is none or is gone."""
    try:
        entry = files.parse_json(files.read_text(path))
    except (OSError, ValueError):
        return None
    return entry if isinstance(entry, dict) and _is_sound(entry, os.path.basename(path)) else None


def _is_sound(entry: Mapping[str, object], name: str) -> bool:
    """Tell whether an entry is one that `put` or a worker wrote, under its own name."""
    texts = ("host", "session", "transcript", "cwd", "at", "state", "reason")
    if entry.get("v") != VERSION or not all(type(entry.get(key)) is str for key in texts):
        return False
    tries, lease = entry.get("tries"), entry.get("lease_until")
    own = layout.session_name(str(entry["host"]), str(entry["session"])) + ".json"
    return (
        type(tries) is int
        and 0 <= tries <= MAX_TRIES
        and type(lease) is int
        and entry["state"] in STATES
        and own == name
    )


def pending(store: layout.Store) -> bool:
    """Tell whether some entry waits for a worker, or is in the hands of one."""
    return any(_is_open(entry) for entry in entries(store))


def _is_open(entry: Mapping[str, object]) -> bool:
    return entry["state"] in ("pending", "working")


def claim(
    store: layout.Store, now: float, done: Container[str], *, early: bool = False
) -> dict[str, object] | None:
    """Take the oldest open entry and count a try, holding `working_lock`; None where none is.

    `done` names the sessions that this run has tried already; `early` also takes those that
    failed a moment ago and wait. An entry whose tries are used up
    turns to `failed` with its reason and is never taken again.
    """
    with _table_lock(store, LOCK_WAIT_S):
        for entry in entries(store):
            if not _is_open(entry) or entry["session"] in done:
                continue
            # No worker writes a longer wait: a clock was wrong, or somebody else wrote it.
            waits = now < int(str(entry["lease_until"])) <= now + LEASE_S
            if entry["state"] == "pending" and waits and not early:
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
            files.delete(_path(store, str(claimed["host"]), str(claimed["session"])))


def give_back(store: layout.Store, claimed: Mapping[str, object], reason: str, now: float) -> None:
    """Put an entry back after a failure, to wait a little, or mark it failed after its last try."""
    with _table_lock(store, LOCK_WAIT_S):
        if not _is_current(store, claimed):
            return
        tries = int(str(claimed["tries"]))
        fate = {
            "state": "failed" if tries >= MAX_TRIES else "pending",
            "lease_until": int(now) + RETRY_S * tries,
            "reason": reason[:500],
        }
        _write(store, {**claimed, **fate})


def take_gone(store: layout.Store) -> list[dict[str, object]]:
    """Remove the failed entries whose transcript is there no more, and return them."""
    with _table_lock(store, LOCK_WAIT_S):
        failed = [entry for entry in entries(store) if entry["state"] == "failed"]
        gone = [entry for entry in failed if not has_transcript(entry)]
        for entry in gone:
            files.delete(_path(store, str(entry["host"]), str(entry["session"])))
    return gone


def has_transcript(entry: Mapping[str, object]) -> bool:
    """Tell whether an entry's transcript is there, or may be where we cannot look."""
    try:
        os.stat(str(entry["transcript"]))
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError):
        return True
    return True


def _is_current(store: layout.Store, claimed: Mapping[str, object]) -> bool:
    now = _read(_path(store, str(claimed["host"]), str(claimed["session"])))
    return now is not None and all(now[name] == claimed[name] for name in ("at", "tries"))


def _write(store: layout.Store, entry: Mapping[str, object]) -> None:
    path = _path(store, str(entry["host"]), str(entry["session"]))
    files.replace(path, files.dump_json(dict(entry)))
