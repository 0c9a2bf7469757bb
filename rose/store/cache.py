"""The cache of parsed lessons, `.rose/local/lessons.json`: derived, may be deleted at any time.

A row holds for as long as its file's stamp does. In a large store what changed since the file was
written stands in `lessons.changes.json` until it is much: nobody waits for 100,000 rows to be
written because of one (docs/measurements.md).
"""

from __future__ import annotations

import contextlib
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from rose import derived, files
from rose.errors import Unwritable
from rose.findings import Finding
from rose.store.parse import Parsed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rose.layout import Store

# Raised whenever `parse` reads a file differently.
VERSION = 4
# Fewer rows than this are written anew at every change, and so is a store of which a share changed.
LEAST_APART = 1_000
LARGEST_SHARE = 0.02
_NAMES = tuple(field.name for field in fields(Parsed))
_LISTS = (_NAMES.index("tags"), _NAMES.index("evidence"))


def load(store: Store) -> dict[str, Any]:
    """Return the rows by store path, `[stamp, fields]`; nothing where there is no sound cache."""
    rows = _load(store.lessons_cache)
    for path, row in _load(store.lessons_changes).items() if rows else ():
        if row is None:
            rows.pop(path, None)
        else:
            rows[path] = row
    return rows


def save(
    store: Store, known: Mapping[str, Any], rows: Mapping[str, Any], fresh: Mapping[str, Any]
) -> None:
    """Save the rows; `known` are those that were loaded, `fresh` those of the rows that were not.

    Without a change nothing is written.
    """
    added = sum(path not in known for path in fresh)
    has_lost = len(known) + added != len(rows)
    if not fresh and not has_lost:
        return
    if len(rows) >= LEAST_APART and known:
        changes = {**_load(store.lessons_changes), **fresh}
        if has_lost:
            changes |= dict.fromkeys(known.keys() - rows.keys())
        if len(changes) <= LARGEST_SHARE * len(rows):
            derived.save(store.lessons_changes, {"v": VERSION, "files": changes})
            return
    derived.save(store.lessons_cache, {"v": VERSION, "files": rows})
    # One that stays behind is harmless: its rows hold by their stamps, as all do.
    with contextlib.suppress(Unwritable):
        files.delete(store.lessons_changes)


def _load(path: str) -> dict[str, Any]:
    stored = derived.load(path)
    rows = stored.get("files") if stored.get("v") == VERSION else None
    return rows if isinstance(rows, dict) else {}


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
