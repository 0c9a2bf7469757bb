"""Which stores this person trusts: a store may have come with a cloned repository.

Remembered by real path, outside of every repository, in the person's state folder. On the prompt
hook's path. Where no such folder can be named (no HOME, or one that is no folder) nothing is asked.
"""

from __future__ import annotations

import os

from rose import files
from rose.errors import RoseError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from rose.layout import Store

VERSION = 1
MOST_BYTES = 1 << 20


def state_folder(environ: Mapping[str, str]) -> str | None:
    """Return the person's own folder for what no repository may hold, None without a HOME."""
    named, home = environ.get("XDG_STATE_HOME", ""), environ.get("HOME", "")
    if not os.path.isabs(named):
        if not os.path.isabs(home) or not os.path.isdir(home):
            return None
        named = os.path.join(home, ".local", "state")
    return os.path.realpath(os.path.join(named, "rose"))


def is_trusted(store: Store, environ: Mapping[str, str]) -> bool:
    """Tell whether a store may reach an agent unasked; the home store always may."""
    folder = state_folder(environ)
    if store.kind == "home" or folder is None:
        return True
    try:
        return os.path.realpath(store.dot) in _read(folder)
    except (OSError, ValueError):
        # Nobody can say what was trusted: then nothing is.
        return False


def add(store: Store, environ: Mapping[str, str]) -> bool:
    """Remember a store; False where it was known or nothing can be remembered.

    Raises Locked, Unwritable, or RoseError where the memory cannot be read.
    """
    folder = state_folder(environ)
    return folder is not None and _change(folder, {os.path.realpath(store.dot)}, set())


def remove(store: Store, environ: Mapping[str, str]) -> bool:
    """Forget a store; False where it was not known. Raises as `add` does."""
    folder = state_folder(environ)
    return folder is not None and _change(folder, set(), {os.path.realpath(store.dot)})


def _change(folder: str, more: set[str], less: set[str]) -> bool:
    with files.lock(os.path.join(folder, "trusted.lock")):
        try:
            known = _read(folder)
        except (OSError, ValueError) as error:
            raise RoseError(
                f"{_place(folder)}: not changed, as it is unreadable: {error}."
            ) from error
        wanted = sorted((known | more) - less)
        if known == set(wanted):
            return False
        text = files.dump_json({"v": VERSION, "stores": wanted})
        # The folder is the person's own: a link in it into their other files stays one.
        files.replace(_place(folder), text + "\n", follow=os.sep)
    return True


def _place(folder: str) -> str:
    return os.path.join(folder, "trusted.json")


def _read(folder: str) -> set[str]:
    """Return the trusted paths; raises OSError or ValueError where they cannot be read."""
    try:
        held = files.parse_json(files.read_bytes(_place(folder), MOST_BYTES).decode("utf-8"))
    except FileNotFoundError:
        return set()
    stores = held.get("stores") if isinstance(held, dict) and held.get("v") == VERSION else None
    if not isinstance(stores, list):
        raise ValueError("no list of stores that this version reads")  # noqa: TRY004 - see above
    return {path for path in stores if isinstance(path, str)}
