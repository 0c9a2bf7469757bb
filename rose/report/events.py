"""What happened to rules: from the log, the undo notes, the rejections, and git where it is there.

Each source tells what it knows; where git holds what the log tells too, the two are one event.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from rose import frontmatter
from rose.history import past
from rose.reflection import notes
from rose.report.learned import VERBS
from rose.routing import forgotten, table, wording
from rose.routing.rules import ID

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rose.history.past import Revision
    from rose.layout import Store
    from rose.reflection.journal import Line

DECISIONS = {
    "teach": "taught",
    "forget": "forgotten",
    "restore": "restored",
    "approve": "approved",
    "decline": "declined",
}
UNDONE, CARRIED = "taken back", "carried"
KINDS = {"A": "written", "D": "deleted"}
OWN = "rose: "
# A commit of rose's follows what it commits; the hooks of a repository may take a while.
LAG = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened to a rule; `by` and `commit` are git's, `n` is the ledger's."""

    at: str
    what: str
    rule: str
    session: str = ""
    n: int = 0
    detail: str = ""
    by: str = ""
    commit: str = ""

    def as_json(self) -> dict[str, object]:
        return {
            "at": self.at or None,
            "what": self.what,
            "rule": self.rule,
            "session": self.session or None,
            "n": self.n or None,
            "detail": self.detail,
            "by": self.by or None,
            "commit": self.commit or None,
        }


def traced(lines: Iterable[Line]) -> Iterator[Event]:
    """Yield what the lines of the log tell, in their order."""
    touched: dict[str, list[str]] = {}
    for line in lines:
        at, session, n = line.at, line.session, line.n
        if line.is_undone:
            gone = (rule for rule in touched.pop(session, []) if rule not in line.left)
            yield from (Event(at, UNDONE, rule, session, n) for rule in gone)
        elif line.carried:
            moves = ((rule, f"{old} is now {new}") for rule, old, new in line.carried)
            yield from (Event(at, CARRIED, rule, detail=detail) for rule, detail in moves)
        elif (what := DECISIONS.get(line.decided)) is not None:
            yield from (Event(at, what, rule) for rule in line.rules)
        else:
            for what, rule, detail in _changes(line):
                touched.setdefault(session, []).append(rule)
                yield Event(at, what, rule, session, n, detail)


def _changes(line: Line) -> Iterator[tuple[str, str, str]]:
    """Yield what a reflection did to which rule, and the rule's line or the reason."""
    for one in line.operations:
        rule = _text(one.get("rule"))
        if one.get("accepted") is True and rule:
            kind, why = _text(one.get("kind")), _text(one.get("why"))
            text = wording.line(_text(one.get("when")), _text(one.get("then")))
            yield VERBS.get(kind, "changed"), rule, why if kind == "retire" else text
            for other in _texts(one.get("others")):
                yield "retired", other, f"merged into {rule}"
    for one in line.retired:
        yield "retired", _text(one.get("rule")), _text(one.get("reason"))


def noted(store: Store, known: Iterable[str]) -> Iterator[Event]:
    """Yield what undo notes tell of sessions of which the log tells nothing."""
    told = frozenset(known)
    for note in reversed(notes.notes(store)):
        for rule, change in note.rules.items() if note.session not in told else ():
            what = "added" if change.before is None else "changed"
            yield Event(note.at, what, rule, note.session, note.n)


def rejected(store: Store, known: Iterable[Event]) -> Iterator[Event]:
    """Yield the forgotten rules of which the log tells nothing."""
    told = {event.rule for event in known if event.what == DECISIONS["forget"]}
    for old in forgotten.read(store)[0]:
        if old.rule not in told:
            yield Event(old.at, DECISIONS["forget"], old.rule)


def joined(events: Sequence[Event], commits: Iterable[tuple[Revision, Event]]) -> list[Event]:
    """Return events with their commits, and commits of which nothing else tells as events.

    Commits come newest first; what is returned is oldest first.
    """
    found = list(events)
    for revision, made in reversed([*commits]):
        at = next((i for i, one in enumerate(found) if _is_of(revision, made, one)), None)
        if at is None:
            found.append(made)
        else:
            found[at] = replace(found[at], by=made.by, commit=made.commit)
    return sorted(found, key=lambda event: event.at)


def _is_of(revision: Revision, made: Event, event: Event) -> bool:
    """Tell whether a commit is the one that followed an event."""
    if event.commit or event.rule != made.rule or not revision.subject.startswith(OWN):
        return False
    if revision.session or event.session:
        is_undo = "(undo of session" in revision.subject
        return revision.session == event.session and (event.what == UNDONE) == is_undo
    try:
        lag = _time(made.at) - _time(event.at)
    except ValueError:
        return False
    return timedelta(minutes=-1) < lag < LAG


def _time(at: str) -> datetime:
    return datetime.fromisoformat(at.replace("Z", "+00:00"))


def committed(store: Store, rule: str, most: int) -> Iterator[tuple[Revision, Event]]:
    """Yield the latest commits that touched a rule's file, newest first, each as an event."""
    path = os.path.relpath(table.path_of(store, rule), store.base)
    found = [one for one in past.revisions(store.base, [path], most) if one.files]
    texts = [past.text_at(store.base, one.sha, one.files[0][1]) for one in found]
    for number, revision in enumerate(found):
        older = texts[number + 1] if number + 1 < len(texts) else None
        kind = revision.files[0][0]
        what = KINDS.get(kind) or _difference(_fields(older), _fields(texts[number]))
        yield revision, _event(revision, rule, what)


def committed_lately(store: Store, most: int) -> Iterator[tuple[Revision, Event]]:
    """Yield the latest commits that touched rules, one event for each rule in them."""
    folder = os.path.relpath(store.routing, store.base) + "/"
    for revision in past.revisions(store.base, [folder], most):
        for kind, path in revision.files:
            rule = os.path.basename(path).removesuffix(".md")
            if ID.fullmatch(rule):
                yield revision, _event(revision, rule, KINDS.get(kind, "edited"))


def _event(revision: Revision, rule: str, what: str) -> Event:
    return Event(
        revision.at,
        what,
        rule,
        session=revision.session,
        detail=revision.subject,
        by=revision.who,
        commit=revision.sha,
    )


def _difference(old: Mapping[str, object], new: Mapping[str, object]) -> str:
    """Return what a commit did to a rule, as its header before and after shows it."""
    before, after = old.get("status", "active"), new.get("status", "active")
    if old and before != after:
        if after == "active":
            return "restored" if before == "retired" else "approved"
        return str(after)
    if old and old.get("approval") != new.get("approval") and new.get("approval"):
        return str(new["approval"])
    if old and any(old.get(key) != new.get(key) for key in ("when", "then", "targets", "match")):
        return "reworded"
    return "edited"


def _fields(text: str | None) -> Mapping[str, object]:
    return frontmatter.read(text or "", "the file")[0]


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: object) -> list[str]:
    items = value if isinstance(value, list) else []
    return [item for item in items if isinstance(item, str)]
