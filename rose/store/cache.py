"""The cache of parsed lessons, `.rose/local/lessons.json`: derived, may be deleted at any time.

A row holds for as long as its file's stamp does.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from rose import derived
from rose.findings import Finding
from rose.store.parse import Parsed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rose.layout import Store

# Raised whenever `parse` reads a file differently.
VERSION = 3
_NAMES = tuple(field.name for field in fields(Parsed))
_LISTS = (_NAMES.index("tags"), _NAMES.index("evidence"))


def load(store: Store) -> dict[str, Any]:
    """Return the rows by store path, `[stamp, fields]`; nothing where there is no sound cache."""
    stored = derived.load(store.lessons_cache)
    rows = stored.get("files") if stored.get("v") == VERSION else None
    return rows if isinstance(rows, dict) else {}


def save(store: Store, rows: Mapping[str, Any]) -> None:
    derived.save(store.lessons_cache, {"v": VERSION, "files": rows})


def pack(stamp: list[int], parsed: Parsed) -> list[Any]:
    values = [getattr(parsed, name) for name in _NAMES[:-1]]
    faults = [[f.rule, f.where, f.message, f.repair, f.severity] for f in parsed.findings]
    return [stamp, [*values, faults]]


def unpack(row: object, stamp: list[int]) -> Parsed | None:
    """Return the cached reading of a file, None where the row is not of this stamp."""
    if not isinstance(row, list) or len(row) != 2 or row[0] != stamp:  # noqa: PLR2004 - see load
        return None
    try:
        values = [*row[1]]
        if len(values) != len(_NAMES):
            return None
        for at in _LISTS:
            values[at] = tuple(values[at])
        values[-1] = tuple(Finding(*fault) for fault in values[-1]) if values[-1] else ()
        return Parsed(*values)
    except TypeError:
        return None
