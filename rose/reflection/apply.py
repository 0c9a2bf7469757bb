"""Applies a reflection to one store: rules, then one ledger line, under the store's lock.

The order makes a killed run harmless: until the ledger line is there a second run does what is
missing, and what is there already is found and left alone. From then on it changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rose import refresh
from rose.reflection import delivery, journal, notes, planning, rows, steps
from rose.reflection.minted import as_it_stands
from rose.reflection.passes import case_of, is_recorded
from rose.routing import cases, ledger, retire, table
from rose.routing import evidence as standing
from rose.store import write

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rose.reflection.ask import Asked
    from rose.reflection.changes import Step
    from rose.reflection.gates import Gate
    from rose.reflection.minted import Minted
    from rose.reflection.passes import Pass
    from rose.reflection.planning import Proposed
    from rose.routing.cases import Case, Record
    from rose.routing.rules import Rule


@dataclass(frozen=True, slots=True)
class Applied:
    """What a reflection changed in one store; `n` is None where it was there already.

    `gates` say where each used lesson fell for which nothing was proposed.
    """

    n: int | None
    steps: tuple[Step, ...] = ()
    retired: tuple[tuple[str, str], ...] = ()
    lessons: tuple[Minted, ...] = ()
    gates: tuple[Gate, ...] = ()


def propose(one: Pass, record: Record, current: table.Table) -> Proposed:
    """Return what the offline reflector proposes for a store as it is now."""
    case = case_of(one, record.next_n, current.ids(), 0)
    return planning.propose(one, case, record, current)


def apply(
    one: Pass,
    row_ids: Sequence[str],
    proposed: Proposed,
    minted: Sequence[Minted] = (),
    asked: Mapping[str, object] | None = None,
) -> Applied:
    """Write what a session teaches a store, and its ledger line. The caller holds the lock.

    `minted` are lessons that a model found missing, `asked` is what the trace says of it. Raises
    Unwritable, and then a second run goes on where this one stopped.
    """
    store, settings = one.holding.store, one.holding.settings
    record = ledger.read(store)
    if is_recorded(record, one.facts):
        return Applied(None)
    current = table.read(store, settings.lessons_paths)
    case = case_of(one, record.next_n, current.ids(), 0)
    if proposed.is_offline and one.is_first:
        planned = planning.plan(one, case, record, current)
        if planned != proposed.operation:
            # Another session was recorded meanwhile, or a person taught a rule.
            proposed = planning.propose(one, case, record, current)
    changing = {rule.id for change in proposed.changes for rule in change.rules()}
    due = [
        found for found in _due(one, record, case, current.rules) if found.rule.id not in changing
    ]
    fresh = _fresh(current.ids(), len(proposed.changes))
    touched = [*(found.rule.id for found in due), *changing, *fresh]
    minted = as_it_stands(store, minted)
    stored = [new for new in minted if new.is_sound and settings.learning_lessons == "on"]
    note = notes.Note(one.name, one.facts.session, one.facts.host, case.n, one.at, {})
    begun = notes.begin(store, note, touched, [new.path for new in stored])
    for new in stored:
        write.put_locked(store, new.path, new.text)
    for found in due:
        table.update(store, found.rule.id, {"status": "retired"}, settings.lessons_paths)
    taken = steps.take(one, proposed, fresh, case.n)
    notes.finish(store, begun)
    active = sum(r.status == "active" for r in table.read(store, settings.lessons_paths).rules)
    rows.write(store, one.name, row_ids)
    final = replace(case, store_rules=active)
    ledger.append_locked(store, settings.ledger_share, lambda _: cases.line_of(final))
    retired = tuple((found.rule.id, found.reason) for found in due)
    applied = Applied(case.n, taken, retired, minted, proposed.gates)
    _trace(one, applied, asked)
    return applied


def _fresh(taken: frozenset[str], count: int) -> list[str]:
    """Return so many rule ids that no rule has."""
    found: list[str] = []
    for _ in range(count):
        found.append(table.new_id(taken.union(found)))
    return found


def _due(one: Pass, record: Record, case: Case, rules: Sequence[Rule]) -> list[retire.Retirement]:
    ground = refresh.ground_of(one.holding)
    others = [old for old in record.cases if old.session != case.session]
    found = standing.standings(rules, [*others, case], ground.lesson_path)
    return retire.due(rules, found)


def _trace(one: Pass, applied: Applied, asked: Mapping[str, object] | None) -> None:
    line: dict[str, object] = {
        **_head(one),
        "n": applied.n,
        "by": "offline",
        "operations": [step.as_json() for step in applied.steps],
        "retired": [{"rule": rule, "reason": reason} for rule, reason in applied.retired],
        "arrivals": delivery.as_json(one.facts.arrivals),
        **(asked or {}),
    }
    if applied.gates:
        line["gates"] = [gate.as_json() for gate in applied.gates]
    if applied.lessons:
        line["lessons"] = [new.as_json() for new in applied.lessons]
    journal.reflected(one.holding.store, line)


def trace_failure(one: Pass, asked: Asked) -> None:
    """Write into the trace that a model gave no answer and nothing was recorded of the session."""
    journal.reflected(one.holding.store, {**_head(one), **asked.trace()})


def _head(one: Pass) -> dict[str, object]:
    facts = one.facts
    return {
        "at": one.at,
        "session": facts.session,
        "host": facts.host,
        "rows": facts.rows,
    }
