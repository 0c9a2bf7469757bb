"""Which stores this person trusts: a store may have come with a cloned repository.

Remembered by real path, outside of every repository, in the person's state folder. On the prompt
hook's path. Where no such folder can be named (no HOME, or one that is no folder) nothing is asked.
"""

from __future__ import annotations

import os

from rose import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from rose.layout import Store

VERSION = 1
LOCK_WAIT_S = 5.0


def state_folder(environ: Mapping[str, str]) -> str | None:
    """Return the person's own folder for what no repository may hold, None without a HOME."""
    named, home = environ.get("XDG_STATE_HOME", ""), environ.get("HOME", "")
    if not os.path.isabs(named):
        if not os.path.isabs(home) or not os.path.isdir(home):
            return None
        named = os.path.join(home, ".local", "state")
    return os.path.join(os.path.realpath(named), "rose")


def is_trusted(store: Store, environ: Mapping[str, str]) -> bool:
    """Tell whether a store may reach an agent unasked; the home store always may."""
    folder = state_folder(environ)
    return store.kind == "home" or folder is None or store.dot in _read(folder)


def add(store: Store, environ: Mapping[str, str]) -> bool:
    """Remember a store; False where it was known or nothing can be remembered.

    Raises Locked or Unwritable.
    """
    folder = state_folder(environ)
    return folder is not None and _change(folder, {store.dot}, frozenset())


def remove(store: Store, environ: Mapping[str, str]) -> bool:
    """Forget a store; False where it was not known. Raises Locked or Unwritable."""
    folder = state_folder(environ)
    return folder is not None and _change(folder, frozenset(), {store.dot})


def _change(folder: str, more: set[str] | frozenset[str], less: set[str] | frozenset[str]) -> bool:
    with files.lock(os.path.join(folder, "trusted.lock"), LOCK_WAIT_S):
        known = _read(folder)
        wanted = sorted((known | more) - less)
        if known == set(wanted):
            return False
        text = files.dump_json({"v": VERSION, "stores": wanted})
        files.replace(_place(folder), text + "\n")
    return True


def _place(folder: str) -> str:
    return os.path.join(folder, "trusted.json")


def _read(folder: str) -> set[str]:
    try:
        held = files.parse_json(files.read_text(_place(folder)))
    except (OSError, ValueError):
        # Nothing was trusted yet, or nobody can say what was: then nothing is.
        return set()
    stores = held.get("stores") if isinstance(held, dict) else None
    return {path for path in stores if isinstance(path, str)} if isinstance(stores, list) else set()
