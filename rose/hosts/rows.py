"""Rows of JSON lines files that other programs write, streamed and never trusted.

A file may be hundreds of megabytes with lines of tens, so memory is bounded by the line, not by
the file: a physical line over LINE_BYTES is skipped without being held, and in a long line every
string is cut before the line is parsed.
"""

from __future__ import annotations

import heapq
import json
import math
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import BinaryIO

from rose.errors import RoseError
from rose.hosts.base import RESULT_CHARS, Tally

LINE_BYTES = 64 * 1024 * 1024
# A row that is still longer once its strings are cut would take many times its size as objects.
PARSED_BYTES = 16 * 1024 * 1024
# One character takes up to twelve bytes in JSON, so no cut touches what RESULT_CHARS would keep.
STRING_BYTES = 12 * RESULT_CHARS
HEAD_BYTES = 2048
_BUFFER = 1024 * 1024
_BACKSLASH = ord("\\")
_CONTINUATIONS = range(0x80, 0xC0)  # the bytes of UTF-8 that begin no character
_MILLISECONDS = 1e11  # a greater epoch time counts milliseconds


@dataclass(frozen=True, slots=True)
class Row:
    """One JSON object, with its line number from 1 and its size in bytes."""

    number: int
    size: int
    value: dict[str, object]


def read(path: str, tally: Tally, skip: Callable[[bytes], bool]) -> Iterator[Row]:
    """Yield the rows that are JSON objects; raise RoseError where the file cannot be read.

    `skip` sees the first HEAD_BYTES of a whole line and says whether its row is of no interest.
    """
    for number, line in _lines(path, tally):
        if line.isspace():
            continue
        tally.rows += 1
        if line.endswith((b"}\n", b"}\r\n", b"}")) and skip(line[:HEAD_BYTES]):
            continue
        value = _parse(line, tally)
        if value is not None:
            yield Row(number, len(line), value)


def skip_nothing(head: bytes) -> bool:
    """Skip no row."""
    return not head


def check_file(path: str) -> None:
    """Raise RoseError unless the path is a file that can be read; never open a pipe or device."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise RoseError(f"{path}: is no file. Name a transcript.")
        if not os.access(path, os.R_OK):
            raise RoseError(f"{path}: may not be read. Check its permissions.")
    except (OSError, ValueError) as error:
        raise RoseError(f"{path}: cannot be read ({_reason(error)}). Check the path.") from error


def _lines(path: str, tally: Tally) -> Iterator[tuple[int, bytes]]:
    check_file(path)
    try:
        with open(path, "rb", buffering=_BUFFER) as stream:
            number = 0
            while line := stream.readline(LINE_BYTES + 1):
                number += 1
                if len(line) > LINE_BYTES and not line.endswith(b"\n"):
                    _pass_over(stream)
                    tally.rows += 1
                    tally.oversized += 1
                    continue
                yield number, line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
    except OSError as error:
        raise RoseError(f"{path}: cannot be read ({_reason(error)}).") from error


def _pass_over(stream: BinaryIO) -> None:
    while (rest := stream.readline(_BUFFER)) and not rest.endswith(b"\n"):
        pass


def _reason(error: OSError | ValueError) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _parse(line: bytes, tally: Tally) -> dict[str, object] | None:
    if len(line) > STRING_BYTES:
        line = shorten(line, STRING_BYTES)
        if len(line) > PARSED_BYTES:
            tally.oversized += 1
            return None
    try:
        value = json.loads(line.decode("utf-8", "replace"))
        if b"\\ud" in line or b"\\uD" in line:
            # Half a surrogate pair can stand in JSON, but in no file that we write.
            value = json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        tally.torn += 1
        return None
    if not isinstance(value, dict):
        tally.foreign += 1
        return None
    return value


def shorten(line: bytes, limit: int) -> bytes:
    """Return a JSON line with every string of more than `limit` bytes cut, still valid JSON."""
    parts: list[bytes] = []
    done = 0
    start = line.find(b'"') + 1
    while start:
        end = _string_end(line, start)
        if end - start > limit:
            cut = _cut_place(line, start, start + limit)
            parts.append(line[done:cut])
            done = end
        start = line.find(b'"', end + 1) + 1
    parts.append(line[done:])
    return b"".join(parts)


def _string_end(line: bytes, start: int) -> int:
    """Return the place of the quote that closes the string, or the line's end."""
    end = line.find(b'"', start)
    while end > start and line[end - 1] == _BACKSLASH:
        first = end - 1
        while first > start and line[first - 1] == _BACKSLASH:
            first -= 1
        if (end - first) % 2 == 0:
            break
        end = line.find(b'"', end + 1)
    return end if end >= 0 else len(line)


def _cut_place(line: bytes, start: int, cut: int) -> int:
    """Return the nearest place before `cut` that splits no escape and no character."""
    escape = line.rfind(b"\\", max(start, cut - 6), cut)
    cut = escape if escape >= 0 else cut
    while cut > start and line[cut - 1] == _BACKSLASH:
        cut -= 1
    while cut > start and line[cut] in _CONTINUATIONS:
        cut -= 1
    return cut


def seconds(stamp: object) -> float | None:
    """Return a row's timestamp as epoch seconds: ISO 8601 text, seconds or milliseconds."""
    if isinstance(stamp, str):
        try:
            moment = datetime.fromisoformat(_plain(stamp))
            return moment.replace(tzinfo=moment.tzinfo or timezone.utc).timestamp()
        except (ValueError, OverflowError):
            return None
    if isinstance(stamp, bool) or not isinstance(stamp, (int, float)):
        return None
    try:
        number = float(stamp)
    except OverflowError:
        return None
    if not math.isfinite(number):
        return None
    return number / 1000 if abs(number) > _MILLISECONDS else number


def _plain(stamp: str) -> str:
    """Return the timestamp in the form that the oldest supported Python reads."""
    if stamp.endswith(("Z", "z")):
        stamp = stamp[:-1] + "+00:00"
    head, dot, tail = stamp.partition(".")
    if not dot:
        return stamp
    digits = len(tail) - len(tail.lstrip("0123456789"))
    return f"{head}.{tail[:digits][:6]:0<6}{tail[digits:]}"


@dataclass(frozen=True, slots=True)
class Source:
    """A file of rows: who it belongs to, when it begins, and how to read it."""

    agent: str | None
    begins: float
    open: Callable[[], Iterable[Row]]


_Active = list[tuple[float, int, str | None, Row, Iterator[Row]]]


def merge(main: Source, others: Iterable[Source]) -> Iterator[tuple[str | None, Row]]:
    """Yield the rows of all files by time, each file's own order kept.

    A file is opened when its first row is due, so few are open at once however many there are.
    """
    waiting = sorted(others, key=lambda source: source.begins, reverse=True)
    active: _Active = []
    _activate(active, main, 0)
    count = 0
    while active or waiting:
        while waiting and (not active or waiting[-1].begins < active[0][0]):
            count += 1
            _activate(active, waiting.pop(), count)
        if not active:
            continue
        at, place, agent, row, rest = heapq.heappop(active)
        yield agent, row
        _push(active, at, place, agent, rest)


def _activate(active: _Active, source: Source, place: int) -> None:
    _push(active, source.begins, place, source.agent, iter(source.open()))


def _push(active: _Active, at: float, place: int, agent: str | None, rest: Iterator[Row]) -> None:
    row = next(rest, None)
    if row is not None:
        stamp = seconds(row.value.get("timestamp"))
        # A row may be stamped a little before the one above it; the file's order stands.
        later = at if stamp is None else max(at, stamp)
        heapq.heappush(active, (later, place, agent, row, rest))
