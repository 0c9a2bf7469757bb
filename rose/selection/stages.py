"""Stages: how much of a lesson a session had seen when it turned the lesson down.

Worked out from the record of the call that showed it, never typed: `scope` needs no text, `search`
is one window or as little, `evidence` passages or the whole lesson, and all else is `unrecorded`.
What showed no character of what the lesson says showed nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from rose.selection import pack, search, session_id
from rose.selection.trace import items

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rose.selection.rejections import Rejection
    from rose.selection.trace import Row

Stage = Literal["scope", "search", "evidence", "unrecorded"]

# How much of a lesson each rests on; the task alone needs none of it.
_ORDER: tuple[Stage, ...] = ("unrecorded", "search", "evidence", "scope")


@dataclass(frozen=True, slots=True)
class Sight:
    """What one record showed of a lesson; `chars` is None where they were not counted."""

    trace: str
    stage: Stage
    chars: int | None
    version: str
    query: str

    def is_less_than(self, other: Sight) -> bool:
        """Tell whether another sight is of a higher stage."""
        return _ORDER.index(self.stage) < _ORDER.index(other.stage)


def sight(row: Row, node: str) -> Sight | None:
    """Return what a record showed of a lesson's text, None where that is nothing."""
    shown = _served(row, node) if row.get("kind") == "recall" else _looked_at(row, node)
    output = row.get("output")
    opened = output.get("opened") if isinstance(output, dict) else None
    if isinstance(opened, list) and node in opened and (shown is None or shown[0] == "search"):
        # Read beside what the record itself shows: reflection saw it in the transcript.
        shown = ("evidence", None, _version(row, node))
    if shown is None:
        return None
    stage, chars, version = shown
    return Sight(str(row["id"]), stage, chars, version, str(row.get("query") or ""))


def best(rows: Iterable[Row], node: str, version: str) -> Sight | None:
    """Return the sight of a lesson that a rejection rests on: of its version, most, latest."""
    found = [one for row in rows if (one := sight(row, node)) is not None]
    rank = [(one.version == version, one.stage == "evidence", at) for at, one in enumerate(found)]
    return found[max(rank)[-1]] if found else None


def of_rejection(one: Rejection, rows: Mapping[str, Row]) -> Sight:
    """Return what a rejection rests on; `rows` holds the records of its store by id.

    A record of another session shows nothing of this one.
    """
    row = rows.get(one.trace)
    is_own = row is not None and row.get("session") == session_id.kept(one.session)
    return rests_on(one, sight(row, one.node) if row is not None and is_own else None)


def rests_on(one: Rejection, seen: Sight | None) -> Sight:
    """Return what a rejection rests on, given what its record showed of the lesson."""
    if one.scope is not None:
        chars = 0 if seen is None else seen.chars
        query = "" if seen is None else seen.query
        return Sight(one.trace, "scope", chars, one.version, query)
    return seen or Sight(one.trace, "unrecorded", 0, one.version, "")


def _looked_at(row: Row, node: str) -> tuple[Stage, int | None, str] | None:
    shown = [
        (len(str(one["window"].get("text") or "").strip()), str(one.get("version")))
        for one in items(row, "candidates")
        if one.get("node") == node and isinstance(one.get("window"), dict)
    ]
    chars = sum(length for length, _ in shown)
    if not chars:
        return None
    is_window = row.get("kind") == "search" or _is_narrow(row, chars)
    return "search" if is_window else "evidence", chars, shown[0][1]


def _is_narrow(row: Row, chars: int) -> bool:
    """Tell whether a look at passages or lines could show no more than a search does.

    Of a lesson that is shorter than that, passages may be all there is.
    """
    limits = row.get("budget")
    if not isinstance(limits, dict):
        return False
    if "first" in limits:
        return chars < search.CHARS and limits.get("whole") is not True
    width, count = limits.get("chars"), limits.get("windows")
    return isinstance(width, int) and isinstance(count, int) and width * count < search.CHARS


def _served(row: Row, node: str) -> tuple[Stage, int | None, str] | None:
    for one in items(row, "admitted"):
        # A line about a lesson shows none of its text.
        if one.get("node") == node and one.get("form") in pack.BODIES:
            stage: Stage = "search" if one.get("form") in pack.WINDOWS else "evidence"
            chars = one["chars"] if type(one.get("chars")) is int else None
            return None if chars == 0 else (stage, chars, str(one.get("version")))
    return None


def _version(row: Row, node: str) -> str:
    named: Sequence[Mapping[str, Any]] = [
        one
        for name in ("admitted", "candidates")
        for one in items(row, name)
        if one.get("node") == node
    ]
    return str(named[0].get("version")) if named else ""
