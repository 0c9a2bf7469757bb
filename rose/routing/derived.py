"""Derived files of routing: versioned JSON that only saves time and may be deleted at will."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rose import files
from rose.errors import Unwritable

if TYPE_CHECKING:
    from collections.abc import Mapping

VERSION = 1


def load(path: str) -> dict[str, Any]:
    """Return what was saved; nothing where it is missing, broken or of another version."""
    try:
        stored = files.parse_json(files.read_text(path))
    except (OSError, ValueError):
        return {}
    return stored if isinstance(stored, dict) and stored.get("v") == VERSION else {}


def save(path: str, fields: Mapping[str, Any]) -> str:
    """Save fields for the next reading; return the reason where the disk refuses, else nothing.

    Most callers have no use for it: whatever must be written says so by itself.
    """
    try:
        files.replace(path, files.dump_json({"v": VERSION, **fields}))
    except Unwritable as error:
        return str(error)
    return ""
