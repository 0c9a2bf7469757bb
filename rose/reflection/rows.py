"""Which rows of which session have been credited, so that a copied row counts once.

A resumed or forked session may carry its parent's rows under its own name. Each reflected session
leaves the ids of its own rows in `.rose/local/sessions/<name>.rows`, one a line.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from rose import files

if TYPE_CHECKING:
    from collections.abc import Collection

    from rose.layout import Store

SUFFIX = ".rows"
# Copies are made of sessions that are still at hand; older ones are not looked through.
MOST_SESSIONS = 500


def path_of(store: Store, name: str) -> str:
    return os.path.join(store.sessions, name + SUFFIX)


def write(store: Store, name: str, ids: Collection[str]) -> None:
    """Keep the ids of a session's own rows; raises Unwritable."""
    kept = (row for row in ids if "\n" not in row)
    data = "".join(row + "\n" for row in kept).encode("utf-8", "surrogatepass")
    files.replace(path_of(store, name), data)


def credited_elsewhere(store: Store, name: str, ids: Collection[str]) -> frozenset[str]:
    """Return which of a session's rows another reflected session was credited with."""
    wanted = {row.encode("utf-8", "surrogatepass") for row in ids}
    found: set[bytes] = set()
    for path in _others(store, name):
        found |= _common(path, wanted)
    return frozenset(row.decode("utf-8", "surrogatepass") for row in found)


def _common(path: str, wanted: set[bytes]) -> set[bytes]:
    try:
        with open(path, "rb") as stream:
            return {line for raw in stream if (line := raw.rstrip(b"\n")) in wanted}
    except OSError:
        # It is gone or unreadable: its rows count as new, which is the smaller harm.
        return set()


def forget(store: Store, name: str) -> None:
    """Drop what is kept of a session whose reflection was taken back."""
    files.delete(path_of(store, name))


def _others(store: Store, name: str) -> list[str]:
    """Return the newest files of other sessions."""
    try:
        with os.scandir(store.sessions) as entries:
            found = [
                (entry.stat().st_mtime_ns, entry.path)
                for entry in entries
                if entry.name.endswith(SUFFIX) and entry.name != name + SUFFIX
            ]
    except OSError:
        return []
    return [path for _, path in sorted(found, reverse=True)[:MOST_SESSIONS]]
