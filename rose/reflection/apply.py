"""Applies a reflection to one store: rules, then one ledger line, under the store's lock.

The order makes a killed run harmless: until the ledger line is there a second run does what is
missing, and what is there already is found and left alone. From then on it changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rose import files, layout, redact, refresh
from rose.check import accept, checks
from rose.check import context as contexts
from rose.errors import Unwritable
from rose.findings import Finding, Refused, errors
from rose.hosts import base
from rose.reflection import evidence, offline, rows, undo
from rose.routing import cases, forgotten, ledger, retire, table
from rose.routing import evidence as standing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rose.hosts.base import Transcript
    from rose.reflection.observe import Facts
    from rose.routing.cases import Case, Record
    from rose.routing.rules import Rule
    from rose.store.lessons import Holding

MOST_EVIDENCE = 6


@dataclass(frozen=True, slots=True)
class Step:
    """One operation and what became of it: the rule's id, or the findings that refused it."""

    operation: offline.Operation
    rule: str | None
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Applied:
    """What a reflection changed in one store; `n` is None where it was there already."""

    n: int | None
    step: Step | None = None
    retired: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Pass:
    """One session on its way into a store.

    `bodies` are the texts of the used lessons by store path, `elsewhere` the ids of the rules of
    the other store. Only the first store learns rules; the other keeps the record of its own.
    """

    holding: Holding
    facts: Facts
    transcript: Transcript
    bodies: Mapping[str, str]
    at: str
    elsewhere: frozenset[str] = frozenset()
    is_first: bool = True

    @property
    def name(self) -> str:
        return layout.session_name(self.facts.host, self.facts.session)


@dataclass(frozen=True, slots=True)
class Prepared:
    """An operation with its quotes, found before the lock is taken: a transcript may be long."""

    operation: offline.Operation
    quotes: evidence.Quotes


def is_recorded(record: Record, facts: Facts) -> bool:
    """Tell whether a session's line stands already, with as many rows or more."""
    return any(case.session == facts.session and case.rows >= facts.rows for case in record.cases)


def case_of(one: Pass, n: int, own: frozenset[str], active: int) -> Case:
    """Return the case of a session in one store: only that store's rules and lessons.

    `own` are the ids of the store's rules. What no present store knows any more goes to the
    first store's record.
    """
    facts, kind = one.facts, one.holding.store.kind
    settings = one.holding.settings

    def is_ours(rule: str) -> bool:
        return rule not in one.elsewhere if one.is_first else rule in own

    def ours(ids: Sequence[str]) -> tuple[str, ...]:
        return tuple(rule for rule in ids if is_ours(rule))

    keeps_task = settings.ledger_share == "local" or settings.privacy_task_text == "shared"
    return cases.Case(
        session=facts.session,
        n=n,
        rows=facts.rows,
        at=one.at,
        host=facts.host,
        task=facts.task if keeps_task else "",
        kinds=facts.kinds,
        sent=ours(facts.sent),
        delivered=None if facts.delivered is None else ours(facts.delivered),
        opened=tuple(
            cases.Opened(found.lesson.id, found.version, found.how, found.turn)
            for found in facts.opened
            if found.lesson.store == kind
        ),
        listed=tuple(lesson.id for lesson in facts.listed if lesson.store == kind),
        used=tuple(found.lesson.id for found in facts.used if found.lesson.store == kind),
        verdicts={rule: said for rule, said in facts.verdicts.items() if is_ours(rule)},
        store_rules=active,
        store_lessons=len(one.holding.shelf.active()),
    )


def plan(one: Pass, record: Record, current: table.Table) -> offline.Operation | None:
    """Return the operation that the offline reflector proposes for a store."""
    store, settings = one.holding.store, one.holding.settings
    case = case_of(one, record.next_n, current.ids(), 0)
    kept = [found.lesson for found in one.facts.used if found.lesson.store == store.kind]
    past = [old for old in record.cases if old.session != case.session]
    ground = offline.Ground(current.rules, settings.lessons_paths, forgotten.test_of([store]))
    return offline.propose(case, kept, past, ground)


def prepare(one: Pass, record: Record, current: table.Table) -> Prepared | None:
    """Return the proposed operation with the quotes that it rests on."""
    operation = plan(one, record, current) if one.is_first else None
    if operation is None:
        return None
    spans = {found.lesson.path: found.span for found in one.facts.used}
    lines = [
        evidence.of_body(one.bodies.get(lesson.path, ""), spans[lesson.path])
        for lesson in operation.lessons
    ]
    quotes = [evidence.of_prompt(one.facts.task, operation.feature), *lines]
    source = (text for _, _, text in base.regions(one.transcript))
    return Prepared(operation, evidence.find(one.facts.session, quotes, source))


def _draft(one: Pass, prepared: Prepared) -> tuple[checks.Draft, checks.Context]:
    """Return the draft of an operation, and what it is checked against."""
    operation, found = prepared.operation, prepared.quotes.found
    holding = one.holding
    kept = () if operation.rule is None else operation.rule.evidence
    draft = checks.Draft(
        when=operation.when,
        then=operation.then,
        match=operation.match,
        origin="reflection",
        evidence=(*kept, *(item for item in found if item not in kept))[-MOST_EVIDENCE:],
        replaces=None if operation.rule is None else operation.rule.id,
    )
    context = contexts.of_store(holding, holding.settings.routing_max_tokens)
    return draft, replace(context, regions={one.facts.session: prepared.quotes.regions})


def apply(one: Pass, row_ids: Sequence[str], prepared: Prepared | None) -> Applied:
    """Write what a session teaches a store, and its ledger line. The caller holds the lock.

    Raises Unwritable, and then a second run goes on where this one stopped.
    """
    store, settings = one.holding.store, one.holding.settings
    record = ledger.read(store)
    if is_recorded(record, one.facts):
        return Applied(None)
    current = table.read(store, settings.lessons_paths)
    if prepared is None or plan(one, record, current) != prepared.operation:
        # Another session was recorded meanwhile, or a person taught a rule.
        prepared = prepare(one, record, current)
    changing = None if prepared is None else prepared.operation.rule
    case = case_of(one, record.next_n, current.ids(), 0)
    due = [found for found in _due(one, record, case, current.rules) if found.rule != changing]
    fresh = table.new_id(current.ids())
    touched = [found.rule.id for found in due]
    if prepared is not None:
        touched.append(fresh if changing is None else changing.id)
    note = undo.Note(one.name, one.facts.session, one.facts.host, case.n, one.at, {})
    begun = undo.begin(store, note, touched)
    for found in due:
        table.update(store, found.rule.id, {"status": "retired"}, settings.lessons_paths)
    step = None if prepared is None else _accept(one, prepared, fresh, case.n)
    undo.finish(store, begun)
    active = sum(r.status == "active" for r in table.read(store, settings.lessons_paths).rules)
    rows.write(store, one.name, row_ids)
    final = replace(case, store_rules=active)
    ledger.append_locked(store, settings.ledger_share, lambda _: cases.line_of(final))
    applied = Applied(case.n, step, tuple((found.rule.id, found.reason) for found in due))
    _trace(one, applied)
    return applied


def _due(one: Pass, record: Record, case: Case, rules: Sequence[Rule]) -> list[retire.Retirement]:
    ground = refresh.ground_of(one.holding)
    others = [old for old in record.cases if old.session != case.session]
    found = standing.standings(rules, [*others, case], ground.lesson_path)
    return retire.due(rules, found)


def _accept(one: Pass, prepared: Prepared, fresh: str, n: int) -> Step:
    """Put an operation through the checks that every rule passes, and write it if it stands."""
    draft, context = _draft(one, prepared)
    try:
        accepted = accept.accept_locked(
            one.holding.store, draft, context, born=n, created=one.at, new_id=lambda _: fresh
        )
    except Refused as refused:
        return Step(prepared.operation, None, refused.findings)
    return Step(prepared.operation, accepted.rule.id, accepted.warnings)


def check(one: Pass, prepared: Prepared) -> Step:
    """Say what would become of an operation; nothing is written."""
    draft, context = _draft(one, prepared)
    findings = tuple(checks.check_rule(draft, context))
    known = "new" if prepared.operation.rule is None else prepared.operation.rule.id
    return Step(prepared.operation, None if errors(findings) else known, findings)


def _trace(one: Pass, applied: Applied) -> None:
    line = {
        "v": 1,
        "at": one.at,
        "session": one.facts.session,
        "host": one.facts.host,
        "n": applied.n,
        "rows": one.facts.rows,
        "by": "offline",
        "operations": [] if applied.step is None else [step_json(applied.step)],
        "retired": [{"rule": rule, "reason": reason} for rule, reason in applied.retired],
    }
    try:
        files.append_line(one.holding.store.trace, files.dump_json(line))
    except Unwritable:
        # The record stands; a trace that the disk refuses is no reason to reflect again.
        return


def step_json(step: Step) -> dict[str, object]:
    """Return a step as it stands in traces and in `--json`."""
    operation = step.operation
    return {
        "kind": operation.kind,
        "feature": operation.feature,
        "match": list(operation.match),
        "targets": list(operation.targets),
        "when": operation.when,
        "then": operation.then,
        "rule": step.rule,
        "accepted": step.rule is not None,
        "findings": [redact.redact(finding.line()) for finding in step.findings],
    }
