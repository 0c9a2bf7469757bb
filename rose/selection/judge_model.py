"""Asks a model of the reflection backends to judge: the question, its bounds and its answer.

What is judged stands in the question one object a line, and without secrets (`prompting`).
"""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Any

from rose.backends.base import BackendFailure, Question, Subject
from rose.selection import metered
from rose.selection.judge import JudgeFailure
from rose.selection.prompting import clean, fill, line, wording

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rose.backends.base import Backend
    from rose.selection.judge import Item, Mode
    from rose.selection.metered import Meter

# As much as one question holds, unless a single document is longer.
MOST_CHARS = 80_000
SCORE: dict[str, Any] = {
    "type": "object",
    "properties": {"id": {"type": "string"}, "score": {"type": "number"}},
    "required": ["id", "score"],
    "additionalProperties": False,
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"scores": {"type": "array", "items": SCORE}},
    "required": ["scores"],
    "additionalProperties": False,
}


class ModelJudge:
    """A judge that is a backend. One that forks sessions is asked in an empty folder instead."""

    def __init__(self, backend: Backend, *, cwd: str, timeout_s: float, meter: Meter) -> None:
        self.name = backend.name
        self._backend = backend
        self._cwd = cwd
        self._timeout_s = timeout_s
        self._meter = meter

    def score(self, mode: Mode, query: str, items: Sequence[Item]) -> Mapping[str, object]:
        found: dict[str, object] = {}
        for lines in _questions(mode, items):
            for name, given in self._ask(_text(mode, query, lines)):
                if name in found:
                    raise JudgeFailure(f"{self.name} scored an id twice. Ask again.")
                found[name] = given
        return found

    def _ask(self, text: str) -> list[tuple[str, object]]:
        if reason := self._meter.left() or self._backend.hindrance():
            raise JudgeFailure(reason)
        try:
            with tempfile.TemporaryDirectory(prefix="rose-") as empty:
                folder = os.path.realpath(empty) if self._backend.forks else self._cwd
                question = Question(text, SCHEMA, Subject("", "", "", folder), alone=True)
                answer = metered.ask(self._backend, question, self._timeout_s, self._meter)
        except BackendFailure as failure:
            raise JudgeFailure(str(failure)) from failure
        return _scores(answer.value, self.name)


def _questions(mode: Mode, items: Sequence[Item]) -> Iterator[list[str]]:
    """Yield the lines of each question: as many items as it holds, in their order."""
    lines: list[str] = []
    size, shown = 0, ""
    for item in items:
        new = _lines(mode, item, shown)
        if lines and size + sum(map(len, new)) > MOST_CHARS:
            yield lines
            lines, size = [], 0
            new = _lines(mode, item, "")
        lines += new
        size += sum(map(len, new))
        shown = item.document
    if lines:
        yield lines


def _lines(mode: Mode, item: Item, shown: str) -> list[str]:
    """Return what a question says of an item; a document that it shows already is not repeated."""
    if mode != "compress":
        return [line({"id": item.id, "text": clean(item.document)})]
    part = line({"id": item.id, "part": clean(item.text)})
    return [part] if item.document == shown else [line({"document": clean(item.document)}), part]


def _text(mode: Mode, query: str, lines: Sequence[str]) -> str:
    filled = {
        "question": wording(mode).rstrip(),
        "query": line(clean(query)),
        "lines": "\n".join(lines),
    }
    return fill("judge", filled)


def _scores(value: Mapping[str, object], name: str) -> list[tuple[str, object]]:
    found = []
    given = value.get("scores")
    for one in given if isinstance(given, list) else ():
        named = one.get("id") if isinstance(one, dict) else None
        if not isinstance(named, str):
            raise JudgeFailure(f"{name} gave a score in another form than asked. Ask again.")
        found.append((named, one.get("score")))
    return found
