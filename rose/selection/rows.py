"""A JSON array of objects whose fields go through as they are written, but for one.

A value is kept as its text, so a number of any size and any precision stays what it was. What is
wrong is said by item and field and never by its content (docs/cli.md).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rose.findings import Finding, Refused
from rose.selection.judge import Passage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

SOURCE = "standard input"
MOST_FINDINGS = 20
_SPACE = re.compile(r"[ \t\n\r]*")
_ARRAY = "Give one JSON array of objects."


class _Number:
    """What a number is read as: it is never converted."""

    def __init__(self, _text: str) -> None:
        pass


def _refuse_constant(name: str) -> object:
    # Python reads NaN and the infinities, JSON has none of them.
    raise ValueError(name)


_DECODER = json.JSONDecoder(parse_int=_Number, parse_float=_Number, parse_constant=_refuse_constant)


@dataclass(frozen=True, slots=True)
class Row:
    """One object of the array: its members by name, each as it was written."""

    members: Mapping[str, str]

    def value(self, name: str) -> object:
        """Return a member's value, None where it is absent or null."""
        return _DECODER.decode(self.members[name]) if name in self.members else None

    def written(self, name: str, value: object) -> str:
        """Return the object as JSON with one member put in its place."""
        members = {**self.members, name: _dumped(value)}
        return "{" + ", ".join(f"{_dumped(key)}: {raw}" for key, raw in members.items()) + "}"


class _Malformed(ValueError):
    """The text is no JSON from a place on."""

    def __init__(self, at: int) -> None:
        super().__init__(at)
        self.at = at


def read(data: bytes) -> list[Row]:
    """Return the objects of an array; raises Refused."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _refused("rows-encoding", f"byte {error.start} is no UTF-8.") from error
    try:
        return _read(text)
    except _Malformed as error:
        line = text.count("\n", 0, error.at) + 1
        column = error.at - text.rfind("\n", 0, error.at)
        message = f"it is no JSON from line {line}, column {column} on."
        raise _refused("rows-json", message) from error
    except RecursionError as error:
        raise _refused("rows-json", "it is nested too deeply.") from error


def passages(rows: Sequence[Row], text_field: str, context: Sequence[str]) -> list[Passage]:
    """Return what each object gives to judge; raises Refused with every fault found."""
    findings: list[Finding] = []
    found = []
    for number, row in enumerate(rows):
        where = f"{SOURCE}, {_item(number, len(rows))}"
        text = row.value(text_field)
        if not isinstance(text, str):
            what = "is no string" if text_field in row.members else "is missing"
            message = f"the text field `{text_field}` {what}."
            findings.append(Finding("rows-text", where, message, "--text-field names another."))
        lines = []
        for name in context:
            value = row.value(name)
            if isinstance(value, str):
                lines.append(f"{name}: {value}")
            elif value is not None:
                message = f"the context field `{name}` is neither a string nor null."
                findings.append(Finding("rows-context", where, message, "Leave it out."))
        found.append(Passage(text if isinstance(text, str) else "", tuple(lines)))
    if findings:
        raise Refused(_few(findings))
    return found


def write(objects: Sequence[str]) -> bytes:
    """Return an array of objects that are JSON already, and a line feed."""
    return f"[{', '.join(objects)}]\n".encode()


def _read(text: str) -> list[Row]:
    """Return the objects of an array; raises _Malformed or Refused."""
    rows: list[Row] = []
    others: list[int] = []

    def element(at: int) -> int:
        if text[at : at + 1] != "{":
            others.append(len(rows) + len(others))
            return _value(text, at)[1]
        row, end = _row(text, at)
        rows.append(row)
        return end

    at = _skip(text, 0)
    is_array = text[at : at + 1] == "["
    end = _skip(text, _container(text, at, "]", element) if is_array else _value(text, at)[1])
    if end != len(text):
        raise _Malformed(end)
    if not is_array:
        raise _refused("rows-array", "it is no array.")
    if others:
        of = len(rows) + len(others)
        places = [f"{SOURCE}, {_item(number, of)}" for number in others]
        found = [Finding("rows-object", place, "it is no object.", _ARRAY) for place in places]
        raise Refused(_few(found))
    return rows


def _row(text: str, at: int) -> tuple[Row, int]:
    members: dict[str, str] = {}

    def member(at: int) -> int:
        name, end = _value(text, at)
        colon = _skip(text, end)
        if not isinstance(name, str) or text[colon : colon + 1] != ":":
            raise _Malformed(colon if isinstance(name, str) else at)
        start = _skip(text, colon + 1)
        _, end = _value(text, start)
        members[name] = text[start:end]
        return end

    end = _container(text, at, "}", member)
    return Row(members), end


def _container(text: str, at: int, close: str, read_one: Callable[[int], int]) -> int:
    """Read what stands between brackets, one by one; the offset after the closing bracket."""
    at = _skip(text, at + 1)
    if text[at : at + 1] == close:
        return at + 1
    while True:
        at = _skip(text, read_one(at))
        mark = text[at : at + 1]
        if mark == close:
            return at + 1
        if mark != ",":
            raise _Malformed(at)
        at = _skip(text, at + 1)


def _value(text: str, at: int) -> tuple[object, int]:
    try:
        value, end = _DECODER.raw_decode(text, at)
    except json.JSONDecodeError as error:
        raise _Malformed(error.pos) from error
    except ValueError as error:
        raise _Malformed(at) from error
    return value, end


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return at if found is None else found.end()


def _dumped(value: object) -> str:
    shown = json.dumps(value, ensure_ascii=False)
    # Lone surrogates are JSON as escapes alone.
    return json.dumps(value) if any("\ud800" <= char <= "\udfff" for char in shown) else shown


def _item(number: int, of: int) -> str:
    return f"item {number + 1} of {of} (index {number})"


def _few(findings: Sequence[Finding]) -> list[Finding]:
    """Return the first findings, and how many more there are."""
    rest = len(findings) - MOST_FINDINGS
    if rest <= 0:
        return list(findings)
    more = Finding("rows-more", SOURCE, f"{rest} more fields or items are not as they must be.", "")
    return [*findings[:MOST_FINDINGS], more]


def _refused(rule: str, message: str) -> Refused:
    return Refused([Finding(rule, SOURCE, message, _ARRAY)])
