"""What every model that we ask has in common: the question, the answer, and how asking fails.

A wrong answer is one of a few recorded kinds of failure, so every backend reads its answer through
`read` or `accept` here. An answer that does not fit is never repaired.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from rose import files, redact
from rose.errors import RoseError

if TYPE_CHECKING:
    from collections.abc import Mapping

# spent, late: a limit or the time that is left allows no further question.
FailureKind = Literal[
    "unavailable", "spent", "late", "no-answer", "plain-text", "exit", "timeout", "schema"
]
UNASKED = ("unavailable", "spent", "late")

MOST_COUNT = 10**12
QUOTED_CHARS = 120
FENCE = "```"
# Far deeper than any schema of ours, far from where Python gives up.
MOST_DEPTH = 50
TYPES = {"object": dict, "array": list, "string": str}


@dataclass(frozen=True, slots=True)
class Usage:
    """What asking has cost; tokens that the program did not tell are 0."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.seconds + other.seconds,
        )


class Look(NamedTuple):
    """One use of a tool on the way to an answer: its name, and what it was given, as text."""

    tool: str
    given: str


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer with parts of the question's schema; `model` is empty where nobody told it.

    `looks` are the uses of tools, as far as the program tells them of a question that `reads`.
    """

    value: Mapping[str, object]
    usage: Usage
    model: str
    looks: tuple[Look, ...] = ()


class BackendFailure(RoseError):
    """There is no answer: the kind of failure, what it has cost all the same, what to do."""

    def __init__(self, kind: FailureKind, message: str, usage: Usage | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.usage = usage or Usage()


@dataclass(frozen=True, slots=True)
class Subject:
    """The ended session that a question is about, which a fork forks."""

    host: str
    session: str
    transcript: str
    cwd: str


@dataclass(frozen=True, slots=True)
class Question:
    """One question: its whole text, the schema of its answer, and the session.

    The schema is strict: each object is closed and asks for all of its fields.
    One that stands `alone` holds all that is to be known: no session is forked for it, and of its
    subject only the folder in which a program runs counts. One that `reads` is to be answered by
    looking around in that folder, and is about no ended session.
    """

    text: str
    schema: Mapping[str, object]
    subject: Subject
    alone: bool = False
    reads: bool = False


class Backend(Protocol):
    """A model that can be asked. One that `forks` sees the session itself and needs no digest."""

    name: str
    forks: bool

    def hindrance(self) -> str:
        """Return why it cannot run here, empty where it can; no call is made."""

    def ask(self, question: Question, timeout_s: float) -> Answer:
        """Return the answer to a question; raises BackendFailure."""


def read(text: str, question: Question, *, name: str, usage: Usage, model: str) -> Answer:
    """Return the answer that a model gave as text; raises BackendFailure."""
    plain = text.strip()
    if not plain:
        raise BackendFailure(
            "no-answer", f"{name} ended without an answer. {again(question)}", usage
        )
    try:
        value = files.parse_json(_unfenced(plain))
    except ValueError as error:
        message = f"{name} answered in words, not in JSON: {quoted(plain)} {again(question)}"
        raise BackendFailure("plain-text", message, usage) from error
    return accept(value, question, name=name, usage=usage, model=model)


def accept(value: object, question: Question, *, name: str, usage: Usage, model: str) -> Answer:
    """Return an answer that has any of the parts that were asked for; raises BackendFailure.

    The items in the parts are for their reader to judge: one bad item spoils no other.
    """
    fault = _fault(value, question.schema)
    if fault or not isinstance(value, dict):
        message = f"{name} answered in another form than asked: {fault} {again(question)}"
        raise BackendFailure("schema", message, usage)
    return Answer(value, usage, model)


def again(question: Question) -> str:
    """Return the sentence that says how to ask once more."""
    if question.alone or question.reads:
        return "Ask again, or another model."
    return f"`rose reflect --session {question.subject.session}` asks again."


def quoted(text: str) -> str:
    """Return the beginning of what a program said, on one line and without secrets."""
    plain = " ".join(redact.beginning(text, QUOTED_CHARS * 20).split())
    shown = "".join(char if char.isprintable() else " " for char in plain)
    return f'"{shown[:QUOTED_CHARS]}{"…" if len(shown) > QUOTED_CHARS else ""}".'


def count(value: object) -> int:
    """Return a count of tokens that a program told, 0 where it is none."""
    return value if type(value) is int and 0 <= value <= MOST_COUNT else 0


def _unfenced(text: str) -> str:
    """Return what stands in a fence, where the whole text is one fenced block."""
    if not (text.startswith(FENCE) and text.endswith(FENCE) and "\n" in text):
        return text
    return text[text.index("\n") : -len(FENCE)]


def _fault(value: object, schema: Mapping[str, Any]) -> str:
    """Return why a value is no answer by a schema at all, empty where it is one."""
    if not isinstance(value, dict):
        return "it is no object."
    if _is_deeper(value, MOST_DEPTH):
        return f"it is nested more than {MOST_DEPTH} deep."
    parts = schema["properties"]
    if any(isinstance(value.get(name), TYPES[part["type"]]) for name, part in parts.items()):
        return ""
    return f"it has none of the parts {', '.join(parts)}."


def _is_deeper(value: object, most: int) -> bool:
    inner = list(value.values()) if isinstance(value, dict) else value
    return isinstance(inner, list) and (
        most == 0 or any(_is_deeper(one, most - 1) for one in inner)
    )
