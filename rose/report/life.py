"""A rule's life: all that is known to have happened to it, and the latest changes of all rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rose.history import program
from rose.reflection import journal
from rose.report import events, rulebook
from rose.report.events import Event
from rose.routing import ledger
from rose.routing.evidence import UNKNOWN
from rose.routing.rules import ID

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rose.report.sources import Sources
    from rose.routing.cases import Case
    from rose.routing.survey import Place
    from rose.store.lessons import Holding

# A reflection leaves about a thousand bytes, with a model several times that.
LATEST_BYTES = 1 << 19
MOST_BYTES = 1 << 26
MOST_COMMITS = 30
MOST_SESSIONS = 20
MOST_EVENTS = 20
ENDS = {"retired": "retired", "declined": "declined"}


@dataclass(frozen=True, slots=True)
class Life:
    """What happened to a rule, oldest first; `sessions` are those that were sent it.

    `earlier` counts the sessions before those, `place` is the rule as it is now, None for one
    that is gone or cannot be read. `unknown` says what no source tells.
    """

    rule: str
    place: Place | None
    happened: tuple[Event, ...]
    sessions: tuple[Event, ...]
    earlier: int
    quotes: dict[str, list[str]]
    unknown: tuple[str, ...]

    def as_json(self, sources: Sources) -> dict[str, object]:
        place = self.place
        return {
            "id": self.rule,
            "rule": None if place is None else rulebook.rule_json(place, sources.source_of(place)),
            "events": [event.as_json() for event in self.happened],
            "sessions": [event.as_json() for event in self.sessions],
            "earlier_sessions": self.earlier,
            "evidence": self.quotes,
            "unknown": list(self.unknown),
        }


def latest(sources: Sources) -> tuple[list[Event], str]:
    """Return the latest changes of rules, newest first, and what no source tells."""
    found: list[Event] = []
    has_commits = False
    for source in sources.each:
        told = list(events.traced(journal.read(source.store, LATEST_BYTES)))
        known = {event.session for event in told}
        told += events.noted(source.store, known)
        told += events.rejected(source.store, told)
        commits = list(events.committed_lately(source.store, MOST_EVENTS))
        has_commits = has_commits or bool(commits)
        found += events.joined(told, commits)
    found.sort(key=lambda event: event.at)
    return found[: -MOST_EVENTS - 1 : -1], "" if has_commits else _without_git("any rule")


def _without_git(what: str) -> str:
    why = f"Git holds no commit of {what}" if program.version() else "Git is not installed"
    return f"{why}, so changes by hand are not told."


def of_rule(sources: Sources, wanted: str) -> Life:
    """Return the life of the rule that an id, or an unambiguous part of one, names.

    A rule whose file is gone counts as long as something tells of it. Raises RoseError.
    """
    traced = {source.store.kind: _told(source) for source in sources.each}
    source, rule = _resolve(sources, traced, wanted)
    place = rulebook.place_of(sources, rule)
    own = [event for event in traced[source.store.kind] if event.rule == rule]
    commits = list(events.committed(source.store, rule, MOST_COMMITS))
    happened = events.joined(own, commits)
    if not any(event.what in ("added", "taught", "written") for event in happened) and place:
        origin = "written by reflection" if place.rule.origin == "reflection" else "written by hand"
        happened.insert(0, Event(place.rule.created, "written", rule, detail=origin))
    sessions = [
        event
        for case in ledger.read(source.store).cases
        if (event := _credited(case, rule, place)) is not None
    ]
    quotes: dict[str, list[str]] = {}
    for item in () if place is None else place.rule.evidence:
        quotes.setdefault(item.session, []).append(item.quote)
    return Life(
        rule,
        place,
        tuple(happened),
        tuple(sessions[-MOST_SESSIONS:]),
        max(0, len(sessions) - MOST_SESSIONS),
        quotes,
        tuple(_unknown(place, happened, has_commits=bool(commits))),
    )


def _told(source: Holding) -> list[Event]:
    told = list(events.traced(journal.read(source.store, MOST_BYTES)))
    told += events.noted(source.store, {event.session for event in told})
    return [*told, *events.rejected(source.store, told)]


def _resolve(sources: Sources, traced: dict[str, list[Event]], wanted: str) -> tuple[Holding, str]:
    known = rulebook.files_of(sources)
    for source in sources.each:
        # Of a file that is gone, what was told of it still names it.
        for event in traced[source.store.kind]:
            known.setdefault(event.rule, source)
    part = rulebook.part_of(wanted)
    if ID.fullmatch(part) and part not in known:
        # Only git may know of it.
        for source in sources.each:
            if any(True for _ in events.committed(source.store, part, 1)):
                return source, part
    return rulebook.choose(known, part)


def _credited(case: Case, rule: str, place: Place | None) -> Event | None:
    """Return what a session says of a rule, None where it was not sent to it."""
    verdict = case.verdicts.get(rule)
    if verdict is None and rule not in (case.delivered or ()):
        return None
    details = ["by a model's word"] if rule in case.judged_rules else []
    if place is not None and case.n <= place.rule.born:
        details.append("before its record begins")
    what = "delivered" if verdict in (None, UNKNOWN) else str(verdict)
    return Event(case.at, what, rule, case.session, case.n, ", ".join(details))


def _unknown(place: Place | None, happened: Iterable[Event], *, has_commits: bool) -> Iterator[str]:
    told = {event.what for event in happened}
    if place is not None:
        rule = place.rule
        if rule.approval == "approved" and not told & {"approved", "restored"}:
            yield "A person approved it; when is not recorded."
        if rule.status in ENDS and rule.status not in told:
            yield f"It is {rule.status}; since when is not recorded."
    if not has_commits:
        yield _without_git("its file")
