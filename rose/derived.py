"""Derived files: versioned JSON under its digest, which only saves time and may be deleted at will.

A cache that somebody cut, edited or mixed up is no cache: the digest is checked before a value
is believed.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from rose import files
from rose.errors import Unwritable

if TYPE_CHECKING:
    from collections.abc import Mapping

VERSION = 4


def load(path: str) -> dict[str, Any]:
    """Return what was saved; nothing where it is missing, broken or of another version."""
    try:
        head, _, body = files.read_bytes(path).partition(b"\n")
        stored = files.parse_json(body.decode("ascii")) if head == _head(body) else None
    except (OSError, ValueError):
        return {}
    return stored if isinstance(stored, dict) else {}


def save(path: str, fields: Mapping[str, Any], *, mode: int = 0o644) -> str:
    """Save fields for the next reading; return the reason where the disk refuses, else nothing.

    Most callers have no use for it: whatever must be written says so by itself.
    """
    body = files.dump_json(fields).encode("ascii")
    try:
        files.replace(path, _head(body) + b"\n" + body, mode=mode)
    except Unwritable as error:
        return str(error)
    return ""


def _head(body: bytes) -> bytes:
    return f"rose {VERSION} {hashlib.sha256(body).hexdigest()}".encode("ascii")
