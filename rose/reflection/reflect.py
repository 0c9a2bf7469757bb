"""The pass: one session's transcript becomes facts, changes of rules, and credit.

Nothing is locked while the transcript is read, however long it is; what follows is short and
happens under the lock of each store, the project's first.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from rose import files, layout, redact, refresh, session
from rose.errors import RoseError
from rose.hosts import registry
from rose.reflection import (
    apply,
    attribution,
    commits,
    delivery,
    judged,
    recalls,
    renames,
    rows,
    steps,
)
from rose.reflection.ask import Unanswered, forget
from rose.reflection.consult import consult, standing_of
from rose.reflection.library import body_of
from rose.reflection.minted import mint
from rose.reflection.observe import Facts, observe
from rose.reflection.passes import Pass, is_recorded
from rose.reflection.planning import Proposed
from rose.routing import ledger, table
from rose.selection import pipeline, requests, trace
from rose.store import lessons

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rose.hosts.base import Transcript
    from rose.layout import Stores
    from rose.reflection.apply import Applied
    from rose.reflection.ask import Asked, Reflector
    from rose.reflection.changes import Step
    from rose.reflection.gates import Gate
    from rose.reflection.minted import Minted
    from rose.routing.cases import Record
    from rose.selection.trace import Row
    from rose.store.lessons import Holding


State = Literal["reflected", "already", "nothing", "dry-run"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one session. `reason` is a sentence where nothing was recorded.

    `steps` are the changes to rules with their findings, `retired` pairs of rule id and reason,
    `lessons` what a model found missing, `gates` where each used lesson fell for which the
    record proposed nothing, `commit` what git said, empty where it was not asked,
    `asked` the model that was asked.
    """

    state: State
    facts: Facts
    n: int | None = None
    steps: tuple[Step, ...] = ()
    retired: tuple[tuple[str, str], ...] = ()
    lessons: tuple[Minted, ...] = ()
    gates: tuple[Gate, ...] = ()
    reason: str = ""
    commit: str = ""
    asked: Asked | None = None

    @property
    def learned(self) -> tuple[str, ...]:
        """Return the ids of the rules that were written or changed."""
        return tuple(step.rule for step in self.steps if step.rule is not None)


@dataclass(frozen=True, slots=True)
class _Reading:
    """What was read before any lock is taken."""

    transcript: Transcript
    holdings: tuple[Holding, ...]
    tables: tuple[table.Table, ...]
    facts: Facts
    row_ids: tuple[str, ...]
    recalled: tuple[Row, ...]

    def passes(self, at: str) -> list[Pass]:
        """Return the session's way into each store that it has to do with."""
        found = []
        bodies = _bodies(self.holdings[0], self.facts)
        for number, holding in enumerate(self.holdings):
            others = [rows.ids() for at_, rows in enumerate(self.tables) if at_ != number]
            one = Pass(
                holding,
                self.facts,
                self.transcript,
                bodies,
                at,
                frozenset[str]().union(*others),
                is_first=number == 0,
            )
            if number == 0 or _concerns(self.facts, holding, self.tables[number].ids()):
                found.append(one)
        return found


def reflect_on(
    stores: Stores,
    transcript_path: str,
    *,
    at: str,
    host: str | None = None,
    dry_run: bool = False,
    reflector: Reflector | None = None,
) -> Outcome:
    """Learn from one session's transcript and return what became of it.

    `at` is the time as it is recorded, `host` the program that wrote the transcript where that
    is known, `reflector` says which model is asked; without one none is. A session that is
    recorded already, with as many rows, changes nothing. Raises RoseError where the transcript
    cannot be read or the store refuses, and Unanswered where the reflector says so.
    """
    stores.first()
    holdings = [lessons.hold(store, cache=not dry_run) for store in stores.present()]
    if not dry_run:
        for holding in holdings:
            renames.carry(holding, at)
    reading = _read(holdings, transcript_path, host, cache=not dry_run)
    facts = reading.facts
    record = ledger.read(reading.holdings[0].store, cache=not dry_run)
    nothing = _nothing(reading, transcript_path, record)
    if nothing is not None:
        return nothing
    try:
        plan = _plan(reading, at, record, reflector)
    except Unanswered as failure:
        if not dry_run:
            apply.trace_failure(reading.passes(at)[0], failure.asked)
        raise
    if dry_run:
        checked = steps.check(plan.passes[0], plan.proposed)
        told = Outcome("dry-run", facts, record.next_n, checked, gates=plan.proposed.gates)
        return replace(told, lessons=plan.minted, asked=plan.asked)
    applied = _apply(plan, reading)
    if plan.asked is not None:
        forget(plan.asked)
    if applied.n is None:
        return Outcome("already", facts, reason=_already(facts))
    refresh.everything(stores)
    told = Outcome("reflected", facts, applied.n, applied.steps, applied.retired)
    commit = _commit(reading.holdings[0], facts, applied)
    told = replace(told, lessons=applied.lessons, gates=applied.gates, asked=plan.asked)
    return replace(told, commit=commit)


def _nothing(reading: _Reading, path: str, record: Record) -> Outcome | None:
    """Return the outcome of a session that teaches nothing, None for any other.

    Raises RoseError where it is no session at all.
    """
    facts, store = reading.facts, reading.holdings[0].store
    if facts.rows == 0:
        raise RoseError(f"{path}: is empty. Name the transcript of a session.")
    if facts.prompts == 0 and reading.transcript.tally.is_foreign:
        raise RoseError(f"{path}: holds no session that rose can read.")
    if is_recorded(record, facts):
        return Outcome("already", facts, reason=_already(facts))
    if facts.prompts == 0:
        reason = "nobody typed a prompt in it, so there is nothing to learn."
        return Outcome("nothing", facts, reason=f"Session {facts.session}: {reason}")
    note = session.note_path(store.sessions, layout.session_name(facts.host, facts.session))
    if session.is_off(session.read(note)):
        reason = f"Session {facts.session}: rose was off for it, so nothing is learned."
        return Outcome("nothing", facts, reason=reason)
    return None


def _found(reading: _Reading) -> frozenset[str]:
    """Return what the embedded search puts first for the task; nothing where it serves nobody."""
    if reading.holdings[0].settings.recall_serve == "off" or not reading.facts.task:
        return frozenset()
    picks = pipeline.SELECTOR.pick(reading.facts.task, reading.holdings, (), requests.K)
    return frozenset(pick.lesson.id for pick in picks)


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is about to be applied, and what a model was asked for it."""

    passes: tuple[Pass, ...]
    proposed: Proposed
    minted: tuple[Minted, ...] = ()
    asked: Asked | None = None
    said: Mapping[str, object] = field(default_factory=dict)


def _plan(reading: _Reading, at: str, record: Record, reflector: Reflector | None) -> _Plan:
    """Return what the session teaches: by a model's word where one answers, else by the record."""
    found = _found(reading)
    passes = tuple(replace(one, found=found) for one in reading.passes(at))
    asked = None
    if reflector is not None:
        asked = consult(reflector, passes[0], record, reading.holdings, reading.tables)
    if asked is None or asked.proposal is None:
        proposed = apply.propose(passes[0], record, reading.tables[0])
        return _Plan(passes, proposed, asked=asked, said={} if asked is None else asked.trace())
    said = asked.proposal
    rules = [rule for rows_of in reading.tables for rule in rows_of.rules]
    claims = attribution.attribute(reading.facts, said.used, said.rules, rules)
    passes = tuple(replace(one, judged=claims) for one in passes)
    ground = judged.Ground(
        reading.tables[0].rules,
        standing_of(reading.holdings[0], reading.tables[0]),
        reading.holdings[0].settings.lessons_paths,
    )
    proposed = judged.propose(passes[0], said, ground)
    minted = mint(passes[0], said.lessons, proposed)
    refused = [redact.redact(finding.line()) for finding in claims.findings]
    return _Plan(passes, proposed, minted, asked, {**asked.trace(), "claims_refused": refused})


def _already(facts: Facts) -> str:
    return f"Session {facts.session} is recorded already, with all of its {facts.rows} rows."


def _read(holdings: list[Holding], path: str, host: str | None, *, cache: bool) -> _Reading:
    """Read the rules and the transcript; no lock is held."""
    transcript = registry.open_transcript(path, host)
    head = transcript.head()
    tables = [table.read(h.store, h.settings.lessons_paths, cache=cache) for h in holdings]
    first = holdings[0].store
    ids = transcript.uuids()
    seen = rows.credited_elsewhere(first, layout.session_name(head.host, head.session), ids)
    rules = [
        (holding.store, rule)
        for holding, of_store in zip(holdings, tables, strict=True)
        for rule in of_store.rules
    ]
    sent = delivery.read_sent(first, head.host, head.session)
    recalled = trace.of_session(first, head.session)
    facts = observe(transcript, holdings, rules, sent, seen, recalled=recalled)
    own = tuple(row for row in ids if row not in seen)
    return _Reading(transcript, tuple(holdings), tuple(tables), facts, own, tuple(recalled))


def _bodies(holding: Holding, facts: Facts) -> Mapping[str, str]:
    """Return the bodies of a store's used lessons, by store path."""
    ours = [used.lesson for used in facts.used if used.lesson.store == holding.store.kind]
    return {lesson.path: body_of(holding.store, lesson) for lesson in ours}


def _concerns(facts: Facts, holding: Holding, own: frozenset[str]) -> bool:
    """Tell whether a session has to do with a store's lessons or rules at all."""
    seen = [*(found.lesson for found in facts.opened), *facts.listed, *facts.looked]
    return bool(own.intersection(facts.sent)) or any(
        lesson.store == holding.store.kind for lesson in seen
    )


def _apply(plan: _Plan, reading: _Reading) -> Applied:
    """Apply the session to each store, all of them locked; the first store's result counts.

    The first store comes last: its line is what says that the session is done.
    """
    with contextlib.ExitStack() as stack:
        for one in plan.passes:
            stack.enter_context(files.lock(one.holding.store.lock))
        for one in plan.passes[1:]:
            apply.apply(one, reading.row_ids, Proposed())
        first, row_ids = plan.passes[0], reading.row_ids
        applied = apply.apply(first, row_ids, plan.proposed, plan.minted, plan.said)
        if applied.n is not None:
            recalls.conclude(first, reading.recalled, plan.asked)
        return applied


def _commit(holding: Holding, facts: Facts, applied: Applied) -> str:
    """Commit what was written to the first store, where the settings say so."""
    name = layout.session_name(facts.host, facts.session)
    return commits.of_reflection(holding, name, applied.steps, applied.retired)
