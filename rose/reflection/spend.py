"""What asking models has cost in a store, and whether more may be asked: `.rose/local/spend.jsonl`.

One line a call, failed calls included. A call is allowed by what was spent before it, so the last
one may go over a limit, and of two workers each may make a last one. A day is the last 24 hours.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Literal

from rose import files, tail
from rose.backends.base import MOST_COUNT, Usage, count
from rose.session import TIME

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rose.backends.base import FailureKind
    from rose.config import Settings
    from rose.layout import Store

VERSION = 1
DAY_S = 86_400
# Longer than any id that a host gives; a line stays short whatever came with a payload.
ID_CHARS = 128
# Holds as many lines as calls can be allowed in a day (rose.values.MOST_CALLS).
TAIL_BYTES = 4 << 20


class Meter:
    """Counts questions that are about no session against the day's limits of a store."""

    def __init__(
        self, store: Store, settings: Settings, backend: str, wait_s: float | None = None
    ) -> None:
        self._store = store
        self._wait_s = wait_s
        self._settings = settings
        self._backend = backend

    def left(self) -> str:
        return left(self._store, self._settings, "", time.time())

    def note(self, usage: Usage, outcome: Literal["answer", "interrupted"] | FailureKind) -> None:
        note(
            self._store,
            "",
            backend=self._backend,
            usage=usage,
            outcome=outcome,
            now=time.time(),
            wait_s=self._wait_s,
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
    outcome: Literal["answer", "interrupted"] | FailureKind,
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
