"""Reads the end of a file that may be long, as JSON rows, the first cut one left out."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from rose import files

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

MOST_MARKS = 10


def rows(path: str, most_bytes: int) -> Iterator[dict[str, object]]:
    """Yield the objects in the end of a JSON-lines file, in order; a missing file holds none.

    Torn and foreign lines are passed over. Raises OSError where it cannot be read.
    """
    yield from _parsed(end(path, most_bytes).split(b"\n"))


def holding(data: bytes, marks: Sequence[str]) -> Iterator[dict[str, object]]:
    """Yield of a file's end at least the objects whose line holds one of some texts, as JSON."""
    # To look for many takes longer than to read every line.
    yield from _parsed(data.split(b"\n") if len(marks) > MOST_MARKS else _lines(data, marks))


def _lines(data: bytes, marks: Sequence[str]) -> list[bytes]:
    """Return the lines that hold any of some texts, each once and in order."""
    places = set()
    for mark in map(str.encode, marks):
        at = data.find(mark)
        while at >= 0:
            last = data.find(b"\n", at)
            places.add((data.rfind(b"\n", 0, at) + 1, len(data) if last < 0 else last))
            at = data.find(mark, last) if last >= 0 else -1
    return [data[start:last] for start, last in sorted(places)]


def _parsed(lines: Iterable[bytes]) -> Iterator[dict[str, object]]:
    for line in lines:
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
