"""Asks a backend one question whose cost is written down, whatever comes of it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Literal, Protocol

from rose.backends.base import BackendFailure, Usage

if TYPE_CHECKING:
    from rose.backends.base import Answer, Backend, FailureKind, Question


class Meter(Protocol):
    """What may still be asked, and where each call is written down."""

    def left(self) -> str:
        """Return why nothing more may be asked, empty where it may."""

    def note(self, usage: Usage, outcome: Literal["answer", "interrupted"] | FailureKind) -> None:
        """Record what one question has cost."""


def ask(backend: Backend, question: Question, timeout_s: float, meter: Meter) -> Answer:
    """Return the answer to a question; raises BackendFailure."""
    began = time.monotonic()
    try:
        answer = backend.ask(question, timeout_s)
    except BackendFailure as failure:
        meter.note(failure.usage, failure.kind)
        raise
    except BaseException:
        # Ctrl-C, the end of the process, a hook's deadline: what was begun may have been paid for.
        meter.note(Usage(1, seconds=time.monotonic() - began), "interrupted")
        raise
    meter.note(answer.usage, "answer")
    return answer
