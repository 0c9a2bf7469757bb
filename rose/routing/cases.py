"""Cases: what one reflected session left in the ledger, and how lines fold into a record.

Of one session's lines the one with the greatest (rows, n, text) wins, and folding goes by
(n, session). Any shuffle, duplication, split or union of lines therefore folds to the same
record, and no session is credited twice (docs/architecture.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from rose import files

Line: TypeAlias = Mapping[str, object]

VERSION = 1
# A ledger may be merged in from anywhere: no line of it may cost or count without end.
MOST_NUMBER = 1 << 53
MOST_CHARS = 10_000
MOST_ITEMS = 2000
MOST_ITEM_CHARS = 500


@dataclass(frozen=True, slots=True)
class Opened:
    """A lesson that was opened in a session: `how` is read, excerpt or served."""

    lesson: str
    version: str | None = None
    how: str = "read"
    turn: int = 0


@dataclass(frozen=True, slots=True)
class Case:
    """One recorded session. `delivered` is None where the host left no transcript to tell.

    `judged_used` and `judged_rules` name what of `used` and `verdicts` rests on a model's word;
    everything else was observed.
    """

    session: str
    n: int
    rows: int = 0
    at: str = ""
    host: str = ""
    task: str = ""
    kinds: tuple[str, ...] = ()
    sent: tuple[str, ...] = ()
    delivered: tuple[str, ...] | None = None
    opened: tuple[Opened, ...] = ()
    listed: tuple[str, ...] = ()
    used: tuple[str, ...] = ()
    verdicts: Mapping[str, str] = field(default_factory=dict)
    by: str = "observed"
    judged_used: tuple[str, ...] = ()
    judged_rules: tuple[str, ...] = ()
    store_rules: int | None = None
    store_lessons: int | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """A folded ledger: the cases in order of (n, session), and the n of the next line."""

    cases: tuple[Case, ...] = ()
    next_n: int = 1
    undone: frozenset[str] = frozenset()
    # How many lines were passed over; says nothing about the state.
    foreign: int = field(default=0, compare=False)

    @property
    def greatest_n(self) -> int:
        """Return the n at which a rule that is written now is born."""
        return self.next_n - 1


@dataclass(slots=True)
class Heap:
    """Lines that may still win, by session, and the undone marks; the order of `add` is free."""

    lines: dict[str, list[Line]] = field(default_factory=dict)
    undone: dict[str, int] = field(default_factory=dict)
    greatest_n: int = 0
    foreign: int = 0

    def add(self, line: object) -> None:
        """Take one line in; what is no line of this version is counted and left out."""
        if not isinstance(line, Mapping) or not is_known(line):
            self.foreign += 1
            return
        session, n = str(line["session"]), count_of(line.get("n"))
        self.greatest_n = max(self.greatest_n, n)
        if line.get("undone") is True:
            self.undone[session] = max(self.undone.get(session, 0), n)
        elif session in self.lines:
            self.lines[session] = _undominated([*self.lines[session], line])
        else:
            self.lines[session] = [line]

    def merge(self, other: Heap) -> None:
        """Take in the lines of another heap."""
        for lines in other.lines.values():
            for line in lines:
                self.add(line)
        for session, n in other.undone.items():
            self.undone[session] = max(self.undone.get(session, 0), n)
        self.greatest_n = max(self.greatest_n, other.greatest_n)
        self.foreign += other.foreign

    def record(self) -> Record:
        """Return the folded record."""
        cases = []
        taken_back = set()
        for session, lines in self.lines.items():
            limit = self.undone.get(session, 0)
            standing = [line for line in lines if count_of(line.get("n")) >= limit]
            if standing:
                # To weigh a line it is written out, which one line alone need not be.
                one = standing[0] if len(standing) == 1 else max(standing, key=_weight)
                cases.append(case_of(one))
            else:
                taken_back.add(session)
        cases.sort(key=lambda case: (case.n, case.session))
        return Record(tuple(cases), self.greatest_n + 1, frozenset(taken_back), self.foreign)


def fold(lines: Iterable[object]) -> Record:
    """Return the record of a ledger's lines, in any order and with any repetition."""
    heap = Heap()
    for line in lines:
        heap.add(line)
    return heap.record()


def is_known(line: Line) -> bool:
    """Tell whether a line is of this major version and says which session and when."""
    session = line.get("session")
    version = line.get("v", VERSION)
    major = version.split(".")[0] if isinstance(version, str) else version
    known = not isinstance(major, bool) and major in (VERSION, str(VERSION))
    named = isinstance(session, str) and 0 < len(session) <= MOST_CHARS
    return known and named and count_of(line.get("n")) > 0


def _weight(line: Line) -> tuple[int, int, str]:
    return count_of(line.get("rows")), count_of(line.get("n")), files.dump_json(line)


def _undominated(lines: list[Line]) -> list[Line]:
    """Return the lines that can win under some undone mark, heaviest first.

    A mark takes back what is older than itself. A line that is lighter and no younger than
    another never wins: whatever takes back the other takes it back too.
    """
    kept: list[Line] = []
    for line in sorted(lines, key=_weight, reverse=True):
        if not kept or count_of(line.get("n")) > count_of(kept[-1].get("n")):
            kept.append(line)
    return kept


def case_of(line: Line) -> Case:
    """Return the case of a known line; a field of a wrong type counts as left out."""
    delivered = line.get("delivered")
    opened = line.get("opened")
    verdicts = line.get("rules")
    store = line.get("store")
    numbers = store if isinstance(store, Mapping) else {}
    judged = line.get("judged")
    by_model = judged if isinstance(judged, Mapping) else {}
    return Case(
        session=_text(line.get("session")),
        n=count_of(line.get("n")),
        rows=count_of(line.get("rows")),
        at=_text(line.get("at")),
        host=_text(line.get("host")),
        task=_text(line.get("task")),
        kinds=_texts(line.get("kinds")),
        sent=_texts(line.get("sent")),
        delivered=_texts(delivered) if isinstance(delivered, list | tuple) else None,
        opened=_opened(opened),
        listed=_texts(line.get("listed")),
        used=_texts(line.get("used")),
        verdicts=_verdicts(verdicts),
        by=_text(line.get("by")) or "observed",
        judged_used=_texts(by_model.get("used")),
        judged_rules=_texts(by_model.get("rules")),
        store_rules=_number(numbers.get("rules")),
        store_lessons=_number(numbers.get("lessons")),
    )


def line_of(case: Case) -> dict[str, object]:
    """Return the ledger line of a case; `case_of` gives back an equal case."""
    judged = {"used": list(case.judged_used), "rules": list(case.judged_rules)}
    return {
        "v": VERSION,
        "n": case.n,
        "session": case.session,
        "rows": case.rows,
        "at": case.at,
        "host": case.host,
        "task": case.task,
        "kinds": list(case.kinds),
        "sent": list(case.sent),
        "delivered": None if case.delivered is None else list(case.delivered),
        "opened": [
            {"lesson": o.lesson, "version": o.version, "how": o.how, "turn": o.turn}
            for o in case.opened
        ],
        "listed": list(case.listed),
        "used": list(case.used),
        "rules": dict(case.verdicts),
        "by": case.by,
        **({"judged": judged} if any(judged.values()) else {}),
        "store": {"rules": case.store_rules, "lessons": case.store_lessons},
    }


def count_of(value: object) -> int:
    """Return a whole number from 0 that others can count on from; anything else counts as 0."""
    return _number(value) or 0


def _number(value: object) -> int | None:
    return value if type(value) is int and 0 <= value < MOST_NUMBER else None


def _text(value: object) -> str:
    return value if isinstance(value, str) and len(value) <= MOST_CHARS else ""


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        return ()
    kept = value[:MOST_ITEMS]
    return tuple(item for item in kept if isinstance(item, str) and len(item) <= MOST_ITEM_CHARS)


def _verdicts(value: object) -> dict[str, str]:
    if not isinstance(value, Mapping):
        return {}
    return {rule: said for rule, said in value.items() if isinstance(said, str)}


def _opened(value: object) -> tuple[Opened, ...]:
    if not isinstance(value, list | tuple):
        return ()
    return tuple(
        Opened(
            item["lesson"],
            item["version"] if isinstance(item.get("version"), str) else None,
            _text(item.get("how")) or "read",
            count_of(item.get("turn")),
        )
        for item in value[:MOST_ITEMS]
        if isinstance(item, Mapping) and _text(item.get("lesson"))
    )
