"""Reads the end of a file that may be long, as JSON rows, the first cut one left out."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from rose import files

if TYPE_CHECKING:
    from collections.abc import Iterator


def rows(path: str, most_bytes: int) -> Iterator[dict[str, object]]:
    """Yield the objects in the end of a JSON-lines file, in order; a missing file holds none.

    Torn and foreign lines are passed over. Raises OSError where it cannot be read.
    """
    for line in end(path, most_bytes).split(b"\n"):
        try:
            value = files.parse_json(line.decode("utf-8"))
        except ValueError:
            continue
        if isinstance(value, dict):
            yield value


def end(path: str, most_bytes: int) -> bytes:
    """Return the last bytes of a file, none of a missing one; raises OSError."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except FileNotFoundError:
        return b""
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(files.BAD_DATA, "no regular file", path)
        return os.pread(descriptor, most_bytes, max(0, found.st_size - most_bytes))
    finally:
        os.close(descriptor)
