"""The log of what changed rules besides reflections: undone, carried along, decided by a person.

It lies beside the traces of reflections, in one file, so that what became of a rule can be told
in order. A trace is no record: where the disk refuses it, nothing else fails.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from rose import files
from rose.errors import Unwritable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rose.layout import Store

VERSION = 1


def undone(store: Store, session: str, n: int, left: Sequence[str], at: str) -> None:
    """Note that a reflection was taken back, but for what was left."""
    _write(store, {"at": at, "session": session, "n": n, "undone": True, "left": list(left)})


def carried(store: Store, moves: Mapping[str, Mapping[str, str]], at: str) -> None:
    """Note which rules followed their lessons: new targets by old ones, by rule."""
    _write(store, {"at": at, "carried": {rule: dict(paths) for rule, paths in moves.items()}})


def decided(store: Store, action: str, rules: Sequence[str], at: str) -> None:
    """Note what a person decided: teach, forget, restore, approve or decline."""
    _write(store, {"at": at, "decided": action, "rules": list(rules)})


def _write(store: Store, fields: Mapping[str, object]) -> None:
    with contextlib.suppress(Unwritable):
        files.append_line(store.trace, files.dump_json({"v": VERSION, **fields}))
