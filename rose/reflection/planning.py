"""What the offline reflector proposes for a store, with the quotes that it rests on.

The quotes are found before the store's lock is taken, since a transcript may be long.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rose.check.checks import Draft
from rose.hosts import base
from rose.reflection import evidence, gates, offline
from rose.reflection.changes import Change
from rose.reflection.ties import Ties
from rose.routing import forgotten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rose.reflection.passes import Pass
    from rose.routing import table
    from rose.routing.cases import Case, Record
    from rose.routing.rules import Evidence
    from rose.store.lessons import Lesson

MOST_EVIDENCE = 6


@dataclass(frozen=True, slots=True)
class Proposed:
    """The changes that a reflector proposes, and the regions that hold their quotes.

    `operation` is the offline reflector's own; it is planned again where the record moved.
    `gates` say where each used lesson fell for which it proposed nothing.
    """

    changes: tuple[Change, ...] = ()
    quotes: evidence.Quotes = field(default_factory=evidence.Quotes)
    operation: offline.Operation | None = None
    is_offline: bool = True
    gates: tuple[gates.Gate, ...] = ()


def plan(one: Pass, case: Case, record: Record, current: table.Table) -> offline.Operation | None:
    """Return the operation that the offline reflector proposes for a case in a store."""
    return offline.propose(case, *_seen(one, case, record, current))


def _seen(
    one: Pass, case: Case, record: Record, current: table.Table
) -> tuple[list[Lesson], Ties, offline.Ground]:
    """Return what the offline reflector sees: used lessons, the ties of other cases, the ground."""
    store, settings = one.holding.store, one.holding.settings
    used = [found.lesson for found in one.facts.used if found.lesson.store == store.kind]
    past = Ties(old for old in record.cases if old.session != case.session)
    deleted = forgotten.test_of([store])
    return used, past, offline.Ground(current.rules, settings.lessons_paths, deleted, one.found)


def propose(one: Pass, case: Case, record: Record, current: table.Table) -> Proposed:
    """Return what the offline reflector proposes, ready for the check."""
    if not one.is_first:
        return Proposed()
    seen = _seen(one, case, record, current)
    operation = offline.propose(case, *seen)
    if operation is None:
        return Proposed(gates=gates.gates(case, *seen))
    spans = {found.lesson.path: found.span for found in one.facts.used}
    lines = [
        evidence.of_body(one.bodies.get(lesson.path, ""), spans[lesson.path])
        for lesson in operation.lessons
    ]
    quotes = [evidence.of_prompt(one.facts.task, operation.feature), *lines]
    found = evidence.find(one.facts.session, quotes, base.regions(one.transcript))
    rule = operation.rule
    draft = Draft(
        when=operation.when,
        then=operation.then,
        match=operation.match,
        origin="reflection",
        evidence=joined(() if rule is None else rule.evidence, found.found),
        replaces=None if rule is None else rule.id,
    )
    change = Change(
        operation.kind,
        draft,
        rule=rule,
        targets=operation.targets,
        feature=operation.feature,
    )
    return Proposed((change,), found, operation)


def joined(old: Sequence[Evidence], new: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """Return a rule's evidence with what came to it; of more than six the newest stay."""
    return (*old, *(item for item in new if item not in old))[-MOST_EVIDENCE:]
