"""Asks a model of the reflection backends to judge: the question, its bounds and its answer.

What is judged stands in the question one object a line, and without secrets (`prompting`).
"""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Any

from rose.backends.base import UNASKED, BackendFailure, Question, Subject
from rose.backends.command import Command
from rose.selection.judge import JudgeFailure
from rose.selection.prompting import PROMPTS, clean, line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rose.backends.base import Backend
    from rose.backends.spend import Purse
    from rose.selection.judge import Item, Mode

# A program that judges after --judge-cmd finds no items in what `reflection.command` is given.
PROTOCOL = (
    "`reflection.command` is given a `question` and its `schema`, not the `items` of --judge-cmd: "
    "docs/judges.md."
)
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

    def __init__(self, backend: Backend, *, cwd: str, purse: Purse) -> None:
        self.name = backend.name
        self._backend = backend
        self._cwd = cwd
        self._purse = purse

    def score(self, mode: Mode, query: str, items: Sequence[Item]) -> Mapping[str, object]:
        found: dict[str, object] = {}
        for lines in _questions(mode, items):
            for name, given in self._ask(_text(mode, query, lines)):
                if name in found:
                    raise JudgeFailure(f"{self.name} scored an id twice. Ask again.")
                found[name] = given
        return found

    def _ask(self, text: str) -> list[tuple[str, object]]:
        try:
            with tempfile.TemporaryDirectory(prefix="rose-") as empty:
                folder = os.path.realpath(empty) if self._backend.forks else self._cwd
                question = Question(text, SCHEMA, Subject("", "", "", folder), alone=True)
                answer = self._purse.ask(self._backend, question)
        except BackendFailure as failure:
            is_asked = failure.kind not in UNASKED
            what = "" if is_asked else "the judge was not asked: "
            told = f" {PROTOCOL}" if is_asked and self.name == Command.name else ""
            raise JudgeFailure(f"{what}{failure}{told}") from failure
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
        "question": PROMPTS.text(mode).rstrip(),
        "query": line(clean(query)),
        "lines": "\n".join(lines),
    }
    return PROMPTS.filled("judge", filled)


def _scores(value: Mapping[str, object], name: str) -> list[tuple[str, object]]:
    found = []
    given = value.get("scores")
    for one in given if isinstance(given, list) else ():
        named = one.get("id") if isinstance(one, dict) else None
        if not isinstance(named, str):
            raise JudgeFailure(f"{name} gave a score in another form than asked. Ask again.")
        found.append((named, one.get("score")))
    return found
