"""A backend that answers what a test tells it to, and counts how often it was asked."""

from __future__ import annotations

from typing import Any

from rose.backends.base import Answer, BackendFailure, Usage
from rose.config import Settings
from rose.reflection.ask import Reflector

RUN_TESTS = "Run the integration tests and tell me what is broken"


class Scripted:
    """Answers with the values it was given, in order; the last one stays."""

    name = "command"

    def __init__(self, *answers: Any, forks: bool = False, hindrance: str = "") -> None:
        self.answers = list(answers)
        self.forks = forks
        self.questions: list[str] = []
        self._hindrance = hindrance

    def hindrance(self) -> str:
        return self._hindrance

    def ask(self, question, _timeout_s):
        self.questions.append(question.text)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        usage = Usage(1, 100, 10, 2.0)
        if isinstance(answer, BackendFailure):
            raise BackendFailure(answer.kind, str(answer), usage)
        return Answer(answer, usage, "a-model")

    def reflector(self, on_failure="observe", **settings) -> Reflector:
        return Reflector(lambda _: self, Settings(**settings), lambda: 1_796_000_000.0, on_failure)


def said(**parts: Any) -> dict[str, Any]:
    """Return an answer with some of its parts filled."""
    return {"used": [], "rules": [], "operations": [], "lessons": [], **parts}


def an_operation(**fields: Any) -> dict[str, Any]:
    """Return an operation: a new rule that the first captured session bears out."""
    return {
        "kind": "add",
        "rule": "",
        "others": [],
        "when": "the task runs the integration tests",
        "then": "read nodes/testing/integration-db.md before pytest",
        "effect": "prefer",
        "match": ["command:pytest"],
        "quotes": [{"quote": RUN_TESTS, "region": 0, "lines": []}],
        "restates": "",
        "why": "The address of the database is there.",
        **fields,
    }
