"""Asks a model of the reflection backends to judge: the question, its bounds and its answer.

What is judged stands in the question as JSON, one object a line, so that no text can end its
section (docs/decisions/016), and without secrets. The wording is in prompts/.
"""

from __future__ import annotations

import functools
import json
import os
import re
import tempfile
import time
from typing import TYPE_CHECKING, Any, Literal, Protocol

from rose import files, redact
from rose.backends.base import BackendFailure, Question, Subject, Usage
from rose.selection.judge import JudgeFailure

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rose.backends.base import Backend, FailureKind
    from rose.selection.judge import Item, Mode

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
_PROMPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "prompts")
_SLOT = re.compile(r"\{\{([a-z]+)\}\}")
# What ends a line for some readers and is no escape in JSON.
_LINE_ENDS = {0x85: "\\u0085", 0x2028: "\\u2028", 0x2029: "\\u2029"}


class Meter(Protocol):
    """What may still be asked, and where each call is written down."""

    def left(self) -> str:
        """Return why nothing more may be asked, empty where it may."""

    def note(self, usage: Usage, outcome: Literal["answer", "interrupted"] | FailureKind) -> None:
        """Record what one question has cost."""


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
        began = time.monotonic()
        try:
            with tempfile.TemporaryDirectory(prefix="rose-") as empty:
                folder = os.path.realpath(empty) if self._backend.forks else self._cwd
                question = Question(text, SCHEMA, Subject("", "", "", folder), alone=True)
                answer = self._backend.ask(question, self._timeout_s)
        except BackendFailure as failure:
            self._meter.note(failure.usage, failure.kind)
            raise JudgeFailure(str(failure)) from failure
        except BaseException:
            # Ctrl-C, or an end of the process: what was begun may have been paid for.
            self._meter.note(Usage(1, seconds=time.monotonic() - began), "interrupted")
            raise
        self._meter.note(answer.usage, "answer")
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
        return [_json({"id": item.id, "text": _clean(item.document)})]
    part = _json({"id": item.id, "part": _clean(item.text)})
    return [part] if item.document == shown else [_json({"document": _clean(item.document)}), part]


def _text(mode: Mode, query: str, lines: Sequence[str]) -> str:
    filled = {
        "question": _prompt(mode).rstrip(),
        "query": _json(_clean(query)),
        "lines": "\n".join(lines),
    }
    return _SLOT.sub(lambda slot: filled[slot[1]], _prompt("judge"))


@functools.cache
def _prompt(name: str) -> str:
    return files.read_text(os.path.join(_PROMPTS, f"{name}.md"))


def _clean(text: str) -> str:
    """Return a text without secrets and without what is no UTF-8."""
    return redact.redact(text).encode("utf-8", "replace").decode("utf-8")


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False).translate(_LINE_ENDS)


def _scores(value: Mapping[str, object], name: str) -> list[tuple[str, object]]:
    found = []
    given = value.get("scores")
    for one in given if isinstance(given, list) else ():
        named = one.get("id") if isinstance(one, dict) else None
        if not isinstance(named, str):
            raise JudgeFailure(f"{name} gave a score in another form than asked. Ask again.")
        found.append((named, one.get("score")))
    return found
