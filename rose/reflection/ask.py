"""Asks a model about one session, within what may be spent, and reads its answer.

An answer is kept until its session is recorded, so that a run that was killed after the call does
not pay twice. What a failure leads to: docs/decisions/023.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from rose import derived, files, redact
from rose.backends import spend
from rose.backends.base import BackendFailure, Question, Subject, Usage
from rose.errors import RoseError, Unwritable
from rose.reflection import proposal as proposals
from rose.reflection import question, schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rose.backends.base import Answer, Backend, FailureKind
    from rose.config import Settings
    from rose.layout import Store
    from rose.reflection.proposal import Proposal

OnFailure = Literal["raise", "retry", "observe"]
# Asking again mends neither a missing program nor a limit that is spent.
FINAL = ("unavailable", "spent")
# There was an answer, in another shape than was asked for.
MISSHAPEN = ("plain-text", "schema")


@dataclass(frozen=True, slots=True)
class Reflector:
    """Who is asked, and what follows where no answer comes.

    `choose` gives the backend for a session's host, None for none; `settings` hold the limits;
    `now` is the time in seconds since the epoch. `on_failure`: raise always, raise where another
    try may help, or go on with what was observed.
    """

    choose: Callable[[str], Backend | None]
    settings: Settings
    now: Callable[[], float]
    on_failure: OnFailure = "observe"


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of asking: an answer, or why there is none. `trace` is what the trace keeps.

    `path` is where the answer is kept.
    """

    backend: str
    proposal: Proposal | None = None
    kind: FailureKind | Literal[""] = ""
    reason: str = ""
    model: str = ""
    is_kept: bool = False
    path: str = ""
    usage: Usage = field(default_factory=Usage)

    @property
    def is_invalid(self) -> bool:
        """Tell whether what was said of the lessons that were used could not be read."""
        if self.proposal is None:
            return self.kind in MISSHAPEN
        return any(item.is_shape_of("used") for item in self.proposal.malformed)

    def trace(self) -> dict[str, object]:
        """Return what the trace of the session says of the model."""
        asked: dict[str, object] = {
            "backend": self.backend,
            "model": self.model,
            "prompt": question.fingerprint(),
            "kept": self.is_kept,
            "calls": self.usage.calls,
            "input_tokens": self.usage.input_tokens,
            "output_tokens": self.usage.output_tokens,
            "seconds": round(self.usage.seconds, 3),
        }
        if self.proposal is None:
            return {"asked": asked, "failed": {"kind": self.kind, "reason": self.reason}}
        aside = [
            {"where": item.where, "item": item.item, "findings": item.lines()}
            for item in self.proposal.malformed
        ]
        return {"by": self.backend, "asked": asked, "set_aside": aside}


class Unanswered(RoseError):
    """A session about which a model was asked in vain; nothing of it was recorded."""

    def __init__(self, asked: Asked) -> None:
        super().__init__(asked.reason)
        self.asked = asked


def ask(reflector: Reflector, backend: Backend, store: Store, subject: Subject, text: str) -> Asked:
    """Ask a question about a session and return what came of it.

    Raises Unanswered where the reflector says that a failure ends the run.
    """
    path = _path(reflector, backend.name, store, subject, text)
    kept = derived.load(path)
    if kept:
        found = proposals.parse(kept.get("value"))
        return Asked(backend.name, found, model=str(kept.get("model", "")), is_kept=True, path=path)
    asked = _put(reflector, backend, store, Question(text, schema.SCHEMA, subject), path)
    asked = replace(asked, path=path)
    if asked.proposal is None and _ends(reflector.on_failure, asked.kind):
        raise Unanswered(asked)
    return asked


def forget(asked: Asked) -> None:
    """Delete the kept answer about a session that is recorded: nobody asks about it again."""
    # Where the disk refuses, prune comes by later.
    with contextlib.suppress(Unwritable):
        files.delete(asked.path)


def _ends(on_failure: OnFailure, kind: str) -> bool:
    return on_failure == "raise" or (on_failure == "retry" and kind not in FINAL)


def _put(
    reflector: Reflector, backend: Backend, store: Store, asking: Question, path: str
) -> Asked:
    """Put the question to the model, once; its answer is kept before anything else can fail."""
    purse = spend.Purse(
        store,
        reflector.settings,
        spend.wait_of(reflector.settings),
        asking.subject.session,
        reflector.now,
    )

    def keep(answer: Answer) -> None:
        if not _holds_secret(answer.value):
            derived.save(path, {"value": answer.value, "model": answer.model}, mode=0o600)

    try:
        answer = purse.ask(backend, asking, keep)
    except BackendFailure as failure:
        return Asked(backend.name, kind=failure.kind, reason=str(failure), usage=failure.usage)
    found = proposals.parse(answer.value)
    return Asked(backend.name, found, model=answer.model, usage=answer.usage)


def _holds_secret(value: object) -> bool:
    """Tell whether an answer repeats a secret: then it is not kept, and another run pays again."""
    return redact.holds_secret("\n".join(_texts(value)))


def _texts(value: object) -> Iterator[str]:
    """Yield each text, behind its name where it has one: that can make a secret of it."""
    if isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        for name, item in value.items():
            yield f"{name}: {item}" if isinstance(item, str) else name
            yield from _texts(item)
    elif isinstance(value, str):
        yield value


def _path(reflector: Reflector, name: str, store: Store, subject: Subject, text: str) -> str:
    """Return where the answer to a question is kept: by its text, session, backend and model."""
    whole = f"{subject.host} {subject.session}\n{text}"
    key = question.cache_key(whole, name, reflector.settings.openai_model)
    return os.path.join(store.answers, key + ".json")
