"""Asks models within what a store may spend, whose record is `.rose/local/spend.jsonl`.

One line a call, failed calls included. A call is allowed by what was spent before it, so the last
one may go over a limit, and of two workers each may make a last one. A day is the last 24 hours.
"""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from rose import files, tail
from rose.backends.base import MOST_COUNT, BackendFailure, FailureKind, Usage, count
from rose.errors import RoseError
from rose.session import TIME

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rose.backends.base import Answer, Backend, Question
    from rose.config import Settings
    from rose.layout import Store

Outcome = Literal["answer", "interrupted"] | FailureKind

VERSION = 1
DAY_S = 86_400
# Longer than any id that a host gives; a line stays short whatever came with a payload.
ID_CHARS = 128
# Holds as many lines as calls can be allowed in a day (rose.values.MOST_CALLS).
TAIL_BYTES = 4 << 20


class Wait(NamedTuple):
    """How long an answer may take: the seconds left, at least so many, and what allows more."""

    left: Callable[[], float]
    setting: str = "reflection.timeout_s"
    least_s: float = 0.0

    def more(self) -> str:
        """Return the sentence that says how to give an answer more time."""
        return f"`rose config {self.setting} N` gives it more."


def wait_of(settings: Settings) -> Wait:
    """Return how long an answer may take where nobody waits for it at a prompt."""
    return Wait(lambda: float(settings.reflection_timeout_s))


@dataclass(frozen=True, slots=True)
class Purse:
    """Asks models within the limits of a store, and writes down what each question has cost.

    Questions are about a session, or about none, which has the limits of the day alone. `now` is
    the time in seconds since the epoch; `lock_s` bounds the wait for the record's lock.
    """

    store: Store
    settings: Settings
    wait: Wait
    session: str = ""
    now: Callable[[], float] = time.time
    lock_s: float | None = None

    def ask(
        self, backend: Backend, question: Question, keep: Callable[[Answer], None] | None = None
    ) -> Answer:
        """Return the answer to a question; raises BackendFailure, and Locked or Unwritable.

        `keep` is given the answer before anything else can fail, since it is paid for.
        """
        left_s = self._allowed(backend)
        began = time.monotonic()
        try:
            answer = backend.ask(question, left_s)
        except BackendFailure as failure:
            self._note(backend, failure.usage, failure.kind)
            if failure.kind == "timeout":
                said = f"{failure} {self.wait.more()}"
                raise BackendFailure(failure.kind, said, failure.usage) from failure
            raise
        except BaseException:
            # Ctrl-C, the end of the process: what was begun may have been paid for. What ends us
            # must not be replaced by a record that cannot be written, which others would survive.
            with contextlib.suppress(RoseError):
                cost = Usage(1, seconds=time.monotonic() - began)
                self._note(backend, cost, "interrupted")
            raise
        if keep is not None:
            keep(answer)
        self._note(backend, answer.usage, "answer")
        return answer

    def _allowed(self, backend: Backend) -> float:
        """Return how long an answer may take; raises BackendFailure where none may be begun."""
        if reason := backend.hindrance():
            raise BackendFailure("unavailable", reason)
        if reason := left(self.store, self.settings, self.session, self.now()):
            raise BackendFailure("spent", reason)
        left_s = self.wait.left()
        if left_s < self.wait.least_s:
            reason = f"{max(left_s, 0):.1f} s are left, it needs {self.wait.least_s}."
            raise BackendFailure("late", f"{reason} {self.wait.more()}")
        return left_s

    def _note(self, backend: Backend, usage: Usage, outcome: Outcome) -> None:
        note(
            self.store,
            self.session,
            backend=backend.name,
            usage=usage,
            outcome=outcome,
            now=self.now(),
            wait_s=self.lock_s,
        )


def of_day(store: Store, now: float) -> Usage:
    """Return what the last 24 hours have cost; what cannot be read counts as nothing."""
    try:
        return _totals(store, "", now)[0]
    except OSError:
        # `left` says so, where it matters.
        return Usage()


def left(store: Store, settings: Settings, session: str, now: float) -> str:
    """Return why no further call about a session may be made, empty where one may.

    A call about no session, an empty name, has the limits of the day alone. `now` is in seconds
    since the epoch.
    """
    try:
        day, alone = _totals(store, session, now)
    except OSError as error:
        return f"{store.spend}: not read: {error.strerror or error}. Nothing is asked until it is."
    of_session = (
        ("spend.calls_per_session", alone.calls, settings.spend_calls_per_session),
        ("spend.tokens_per_session", _tokens(alone), settings.spend_tokens_per_session),
        ("spend.seconds_per_session", int(alone.seconds), settings.spend_seconds_per_session),
    )
    limits = (
        *(of_session if session else ()),
        ("spend.calls_per_day", day.calls, settings.spend_calls_per_day),
        ("spend.tokens_per_day", _tokens(day), settings.spend_tokens_per_day),
        ("spend.seconds_per_day", int(day.seconds), settings.spend_seconds_per_day),
    )
    for name, spent, most in limits:
        if spent >= most:
            return f"`{name}` is {most}, and {spent} are spent. `rose config {name} N` allows more."
    return ""


def note(
    store: Store,
    session: str,
    *,
    backend: str,
    usage: Usage,
    outcome: Outcome,
    now: float,
    wait_s: float | None = None,
) -> None:
    """Record what one question has cost, answered or not; one that cost nothing is not recorded.

    Raises Locked or Unwritable.
    """
    if usage == Usage():
        return
    line = {
        "v": VERSION,
        "at": _stamp(now),
        "session": session[:ID_CHARS],
        "backend": backend,
        "calls": usage.calls,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "seconds": round(usage.seconds, 3),
        "outcome": outcome,
    }
    with files.lock(store.spend_lock, wait_s):
        files.append_line(store.spend, files.dump_json(line))


def _totals(store: Store, session: str, now: float) -> tuple[Usage, Usage]:
    """Return what the last 24 hours and a session have cost; raises OSError."""
    day = alone = Usage()
    # A clock may go wrong by a little. What it wrote in a year to come must not block till then.
    since, until = _stamp(now - DAY_S), _stamp(now + DAY_S)
    for at, of, usage in _read(store):
        day += usage if since < at <= until else Usage()
        alone += usage if of == session[:ID_CHARS] else Usage()
    return day, alone


def _stamp(now: float) -> str:
    return time.strftime(TIME, time.gmtime(now))


def _tokens(usage: Usage) -> int:
    return usage.input_tokens + usage.output_tokens


def _read(store: Store) -> Iterator[tuple[str, str, Usage]]:
    """Yield when, about which session, and how much; lines that nobody wrote are passed over."""
    for line in tail.rows(store.spend, TAIL_BYTES):
        if line.get("v") != VERSION:
            continue
        at, session, seconds = line.get("at"), line.get("session"), line.get("seconds")
        if not (isinstance(at, str) and isinstance(session, str)):
            continue
        if isinstance(seconds, int | float) and 0 <= seconds <= MOST_COUNT:
            calls, read, written = (
                count(line.get(key)) for key in ("calls", "input_tokens", "output_tokens")
            )
            yield at, session, Usage(calls, read, written, seconds)
