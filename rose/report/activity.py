"""What happened around the sessions: what arrived, what waits, what failed, what it costs."""

from __future__ import annotations

import calendar
import time
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rose import files, session
from rose.hosts import wire
from rose.reflection import journal, queue

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rose.layout import Store
    from rose.reflection.delivery import Arrival
    from rose.report.sources import Sources
    from rose.routing.cases import Case


# What failed longer ago than this says little about how things are.
FRESH_S = 7 * 86_400


@dataclass(frozen=True, slots=True)
class Arrivals:
    """How the layer arrived in the sessions in which a host was sent it at an event, newest first.

    It arrived whole, cut or not at all (none), or nothing is left to tell by (unknown).
    """

    host: str
    event: str
    each: tuple[Arrival, ...]

    def counts(self) -> dict[str, int]:
        """Return how many blocks came to each end."""
        ends = [one.counts() for one in self.each]
        return {end: sum(counts[end] for counts in ends) for end in ends[0]}

    def line(self) -> str:
        """Return the counts as one line for a person."""
        said = [f"{end} {number}" for end, number in self.counts().items() if number]
        return f"{self.host} {self.event}: {', '.join(said)}"

    def as_json(self) -> dict[str, object]:
        sessions = len(self.each)
        return {"host": self.host, "event": self.event, "sessions": sessions, **self.counts()}


def arrivals(store: Store) -> tuple[Arrivals, ...]:
    """Return the matrix host by event, as the end of the log of reflections has it."""
    found: dict[tuple[str, str], list[Arrival]] = {}
    known = set()
    # From the end: the latest reading of a session saw the most of it.
    for line in reversed([*journal.read(store)]):
        key = line.host, line.session
        if line.arrivals is None or line.host not in wire.HOSTS or key in known:
            continue
        known.add(key)
        for one in line.arrivals:
            if any(one.counts().values()):
                found.setdefault((line.host, one.event), []).append(one)
    return tuple(Arrivals(*key, tuple(each)) for key, each in sorted(found.items()))


def never(matrix: Sequence[Arrivals]) -> list[str]:
    """Return the hosts that were sent the layer, and in which nothing of it ever arrived."""
    ends: dict[str, Counter[str]] = {}
    for row in matrix:
        ends.setdefault(row.host, Counter()).update(row.counts())
    return [host for host, of in ends.items() if of["none"] and not of["whole"] + of["cut"]]


@dataclass(frozen=True, slots=True)
class Delivery:
    """How many recorded sessions were sent rules, and whether they arrived.

    `unknown` are sessions of which nothing is left to tell by; they count as nothing.
    """

    sessions: int
    unsent: int
    delivered: int
    missing: int
    unknown: int
    matrix: tuple[Arrivals, ...] = ()

    def as_json(self) -> dict[str, object]:
        return {
            "sessions": self.sessions,
            "sent": self.sessions - self.unsent,
            "delivered": self.delivered,
            "not_delivered": self.missing,
            "unknown": self.unknown,
            "events": [each.as_json() for each in self.matrix],
            "never_delivered": never(self.matrix),
        }


def delivery(cases: Iterable[Case], matrix: tuple[Arrivals, ...] = ()) -> Delivery:
    """Return what the record, and the log with its matrix, say about the delivery of the layer."""
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
    return Delivery(sessions, unsent, delivered, missing, unknown, matrix)


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
    """The latest line of the hook's log; `age` says in words how long ago that was.

    `is_log` marks a log that cannot be read itself.
    """

    at: str
    event: str
    host: str
    problem: str
    age: str = ""
    is_log: bool = False

    def line(self) -> str:
        """Return the failure as one line for a person."""
        where = " ".join(filter(None, (self.event, self.host)))
        when = f"{self.at} ({self.age})" if self.age else self.at
        return f"{' '.join(filter(None, ('last failure', when, where)))}: {self.problem}"

    def as_json(self) -> dict[str, str]:
        return {"at": self.at, "event": self.event, "host": self.host, "problem": self.problem}


def latest_failure(stores: Sequence[Store], now: float) -> Failure | None:
    """Return the latest failure that the hook logged in the last week, None where all went well.

    A log that cannot be read, and a line without a time, come first: nobody can call them old.
    """
    found = [failure for store in stores for failure in _failures(store)]
    current = [one for one in found if one.is_log or now - _when(one, now) <= FRESH_S]
    latest = max(current, key=lambda one: (one.is_log, _when(one, now)), default=None)
    if latest is None or _time(latest) is None:
        return latest
    return replace(latest, age=_age(now - _when(latest, now)))


def _when(failure: Failure, now: float) -> float:
    found = _time(failure)
    return now if found is None else found


def _time(failure: Failure) -> float | None:
    try:
        return calendar.timegm(time.strptime(failure.at, session.TIME))
    except ValueError:
        return None


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
        problem = f"{store.log} cannot be read: {error.strerror or error}"
        return [Failure("", "", "", problem, is_log=True)]
    if last is None:
        return []
    at, event, host, problem = (
        str(last.get(name, "")) for name in ("at", "event", "host", "problem")
    )
    return [Failure(at, event, host, problem)]


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
