"""What happened around the sessions: what arrived, what waits, what failed, what it costs."""

from __future__ import annotations

import calendar
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rose import files, session
from rose.reflection import queue

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rose.layout import Store
    from rose.report.sources import Sources
    from rose.routing.cases import Case


# What failed longer ago than this says little about how things are.
FRESH_S = 7 * 86_400


@dataclass(frozen=True, slots=True)
class Delivery:
    """How many recorded sessions were sent rules, and whether they arrived.

    `unknown` are sessions of hosts that leave no transcript to tell; they count as nothing.
    """

    sessions: int
    unsent: int
    delivered: int
    missing: int
    unknown: int

    def as_json(self) -> dict[str, int]:
        return {
            "sessions": self.sessions,
            "sent": self.sessions - self.unsent,
            "delivered": self.delivered,
            "not_delivered": self.missing,
            "unknown": self.unknown,
        }


def delivery(cases: Iterable[Case]) -> Delivery:
    """Return what the record says about the delivery of the layer."""
    sessions = unsent = delivered = missing = unknown = 0
    for case in cases:
        sessions += 1
        if not case.sent and not case.delivered:
            unsent += 1
        elif case.delivered is None:
            unknown += 1
        elif case.delivered:
            delivered += 1
        else:
            missing += 1
    return Delivery(sessions, unsent, delivered, missing, unknown)


@dataclass(frozen=True, slots=True)
class Failed:
    """A session that could not be reflected on, and the last reason."""

    host: str
    session: str
    at: str
    tries: int
    reason: str


@dataclass(frozen=True, slots=True)
class Queue:
    """The sessions that wait for reflection, and those that were given up."""

    pending: int
    working: int
    failed: tuple[Failed, ...]

    def as_json(self) -> dict[str, object]:
        failed = [
            {"host": f.host, "session": f.session, "at": f.at, "tries": f.tries, "reason": f.reason}
            for f in self.failed
        ]
        return {"pending": self.pending, "working": self.working, "failed": failed}


def read_queue(stores: Sequence[Store]) -> Queue:
    """Return the queues of the stores as one."""
    entries = [entry for store in stores for entry in queue.entries(store)]
    states = [str(entry["state"]) for entry in entries]
    failed = tuple(
        Failed(
            str(entry["host"]),
            str(entry["session"]),
            str(entry["at"]),
            int(str(entry["tries"])),
            str(entry["reason"]),
        )
        for entry in entries
        if entry["state"] == "failed"
    )
    return Queue(states.count("pending"), states.count("working"), failed)


@dataclass(frozen=True, slots=True)
class Failure:
    """The latest line of the hook's log; `age` says in words how long ago that was."""

    at: str
    event: str
    host: str
    problem: str
    age: str = ""

    def line(self) -> str:
        """Return the failure as one line for a person."""
        where = " ".join(filter(None, (self.event, self.host)))
        when = f"{self.at} ({self.age})" if self.age else self.at
        return f"last failure {' '.join(filter(None, (when, where)))}: {self.problem}"

    def as_json(self) -> dict[str, str]:
        return {"at": self.at, "event": self.event, "host": self.host, "problem": self.problem}


def latest_failure(stores: Sequence[Store], now: float) -> Failure | None:
    """Return the latest failure that the hook logged in the last week, None where all went well."""
    found = [failure for store in stores for failure in _failures(store)]
    latest = max(found, key=lambda failure: failure.at, default=None)
    try:
        when = calendar.timegm(time.strptime("" if latest is None else latest.at, session.TIME))
    except ValueError:
        # Without a time nobody can call it old.
        return latest
    if latest is None or now - when > FRESH_S:
        return None
    return replace(latest, age=_age(now - when))


def _age(seconds: float) -> str:
    for length, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        number = int(seconds // length)
        if number > 0:
            return f"{number} {unit}{'' if number == 1 else 's'} ago"
    return "just now"


def _failures(store: Store) -> list[Failure]:
    last = None
    try:
        for _, line in files.read_jsonl(store.log):
            last = line
    except OSError as error:
        return [Failure("", "", "", f"{store.log} cannot be read: {error.strerror or error}")]
    if last is None:
        return []
    texts = (str(last.get(name, "")) for name in ("at", "event", "host", "problem"))
    return [Failure(*texts)]


@dataclass(frozen=True, slots=True)
class Cost:
    """What the layer costs: tokens and bytes of the block, the cap, and who counted."""

    rules: int
    tokens: int
    max_tokens: int
    block_bytes: int
    counter: str
    counter_reason: str
    repeat: str
    is_enabled: bool

    def as_json(self) -> dict[str, object]:
        return {
            "rules": self.rules,
            "tokens": self.tokens,
            "max_tokens": self.max_tokens,
            "bytes": self.block_bytes,
            "counter": self.counter,
            "counter_reason": self.counter_reason or None,
            "repeat": self.repeat,
            "enabled": self.is_enabled,
        }


def cost(sources: Sources) -> Cost:
    """Return what the layer costs as it would be sent now."""
    settings, found = sources.first.settings, sources.survey
    return Cost(
        rules=len(found.kept()),
        tokens=found.tokens,
        max_tokens=settings.routing_max_tokens,
        block_bytes=len(found.block.encode("utf-8", "surrogatepass")),
        counter=found.counter,
        counter_reason=found.counter_reason,
        repeat=settings.routing_repeat,
        is_enabled=settings.routing_enabled,
    )
