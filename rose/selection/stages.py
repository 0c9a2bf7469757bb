"""Stages: how much of a lesson a session had seen when it turned the lesson down.

Worked out from the record of the call that showed it, never typed: `scope` needs no text, `search`
is one window, `evidence` passages or the whole lesson, and all else is `unrecorded`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from rose import redact
from rose.selection.trace import items

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rose.selection.rejections import Rejection
    from rose.selection.trace import Row

Stage = Literal["scope", "search", "evidence", "unrecorded"]

# What recall put before the model of a lesson's text; a line about a lesson shows none of it.
_WINDOW = ("part",)
_PASSAGES = ("whole", "shortened")
_QUOTE = "> "


@dataclass(frozen=True, slots=True)
class Sight:
    """What one record showed of a lesson; `chars` is None where all that is known is an opening."""

    trace: str
    stage: Stage
    chars: int | None
    version: str
    query: str


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
    is_own = row is not None and row.get("session") == redact.redact(one.session)
    seen = sight(row, one.node) if row is not None and is_own else None
    if one.scope is not None:
        chars = 0 if seen is None else seen.chars
        query = "" if seen is None else seen.query
        return Sight(one.trace, "scope", chars, one.version, query)
    return seen or Sight(one.trace, "unrecorded", 0, one.version, "")


def _looked_at(row: Row, node: str) -> tuple[Stage, int | None, str] | None:
    windows = [
        (one["window"], str(one.get("version")))
        for one in items(row, "candidates")
        if one.get("node") == node and isinstance(one.get("window"), dict)
    ]
    if not windows:
        return None
    chars = sum(len(str(window.get("text") or "")) for window, _ in windows)
    return "search" if row.get("kind") == "search" else "evidence", chars, windows[0][1]


def _served(row: Row, node: str) -> tuple[Stage, int | None, str] | None:
    admitted = items(row, "admitted")
    texts = _texts(str(row.get("text") or ""))
    for at, one in enumerate(admitted):
        if one.get("node") != node or one.get("form") not in (*_WINDOW, *_PASSAGES):
            continue
        chars = sum(map(len, texts[at])) if at < len(texts) else None
        stage: Stage = "search" if one.get("form") in _WINDOW else "evidence"
        return stage, chars, str(one.get("version"))
    return None


def _texts(pack: str) -> list[list[str]]:
    """Return what each lesson of a served text says, in order: it stands behind `> `."""
    found: list[list[str]] = []
    for line in pack.split("\n"):
        if line.startswith("- "):
            found.append([])
        elif line.startswith(_QUOTE) and found:
            found[-1].append(line[len(_QUOTE) :])
    return found


def _version(row: Row, node: str) -> str:
    named: Sequence[Mapping[str, Any]] = [
        one
        for name in ("admitted", "candidates")
        for one in items(row, name)
        if one.get("node") == node
    ]
    return str(named[0].get("version")) if named else ""
