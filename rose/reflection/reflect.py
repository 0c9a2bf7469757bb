"""The pass: one session's transcript becomes facts, at most one change of a rule, and credit.

Nothing is locked while the transcript is read, however long it is; what follows is short and
happens under the lock of each store, the project's first.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from rose import files, history, layout, refresh, session
from rose.errors import RoseError
from rose.hosts import registry
from rose.reflection import apply, delivery, rows
from rose.reflection.library import body_of
from rose.reflection.observe import Facts, observe
from rose.routing import ledger, table
from rose.store import lessons

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rose.hosts.base import Tally, Transcript
    from rose.layout import Stores
    from rose.reflection.apply import Applied, Step
    from rose.store.lessons import Holding


State = Literal["reflected", "already", "nothing", "dry-run"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one session. `reason` is a sentence where nothing was recorded.

    `step` is the operation on rules with its findings, `retired` pairs of rule id and reason,
    `commit` what git said, empty where it was not asked.
    """

    state: State
    facts: Facts
    n: int | None = None
    step: Step | None = None
    retired: tuple[tuple[str, str], ...] = ()
    reason: str = ""
    commit: str = ""

    @property
    def learned(self) -> tuple[str, ...]:
        """Return the ids of the rules that were written or changed."""
        return () if self.step is None or self.step.rule is None else (self.step.rule,)


@dataclass(frozen=True, slots=True)
class _Reading:
    """What was read before any lock is taken."""

    transcript: Transcript
    holdings: tuple[Holding, ...]
    tables: tuple[table.Table, ...]
    facts: Facts
    row_ids: tuple[str, ...]

    def passes(self, at: str) -> list[apply.Pass]:
        """Return the session's way into each store that it has to do with."""
        found = []
        bodies = _bodies(self.holdings[0], self.facts)
        for number, holding in enumerate(self.holdings):
            others = [rows.ids() for at_, rows in enumerate(self.tables) if at_ != number]
            one = apply.Pass(
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
) -> Outcome:
    """Learn from one session's transcript and return what became of it.

    `at` is the time as it is recorded, `host` the program that wrote the transcript where that
    is known. A session that is recorded already, with as many rows, changes nothing. Raises
    RoseError where the transcript cannot be read or the store refuses.
    """
    reading = _read(stores, transcript_path, host, cache=not dry_run)
    facts = reading.facts
    if facts.rows == 0:
        raise RoseError(f"{transcript_path}: is empty. Name the transcript of a session.")
    if facts.prompts == 0 and _is_unknown(reading.transcript.tally):
        raise RoseError(f"{transcript_path}: holds no session that rose can read.")
    first = reading.holdings[0].store
    record = ledger.read(first, cache=not dry_run)
    if apply.is_recorded(record, facts):
        return Outcome("already", facts, reason=_already(facts))
    if facts.prompts == 0:
        reason = (
            f"Session {facts.session}: nobody typed a prompt in it, so there is nothing to learn."
        )
        return Outcome("nothing", facts, reason=reason)
    note = session.note_path(first.sessions, layout.session_name(facts.host, facts.session))
    if session.is_off(session.read(note)):
        reason = f"Session {facts.session}: rose was off for it, so nothing is learned."
        return Outcome("nothing", facts, reason=reason)
    passes = reading.passes(at)
    prepared = apply.prepare(passes[0], record, reading.tables[0])
    if dry_run:
        step = None if prepared is None else apply.check(passes[0], prepared)
        return Outcome("dry-run", facts, record.next_n, step)
    applied = _apply(passes, reading.row_ids, prepared)
    if applied.n is None:
        return Outcome("already", facts, reason=_already(facts))
    refresh.everything(stores)
    return Outcome(
        "reflected",
        facts,
        applied.n,
        applied.step,
        applied.retired,
        commit=_commit(reading.holdings[0], facts, applied),
    )


def _is_unknown(tally: Tally) -> bool:
    """Tell whether no row is of a host's making."""
    return tally.torn + tally.foreign + tally.oversized >= tally.rows


def _already(facts: Facts) -> str:
    return f"Session {facts.session} is recorded already, with all of its {facts.rows} rows."


def _read(stores: Stores, path: str, host: str | None, *, cache: bool) -> _Reading:
    """Read the stores and the transcript; no lock is held."""
    stores.first()
    transcript = registry.open_transcript(path, host)
    head = transcript.head()
    holdings = [lessons.hold(store, cache=cache) for store in stores.present()]
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
    facts = observe(transcript, holdings, rules, sent, seen)
    own = tuple(row for row in ids if row not in seen)
    return _Reading(transcript, tuple(holdings), tuple(tables), facts, own)


def _bodies(holding: Holding, facts: Facts) -> Mapping[str, str]:
    """Return the bodies of a store's used lessons, by store path."""
    ours = [used.lesson for used in facts.used if used.lesson.store == holding.store.kind]
    return {lesson.path: body_of(holding.store, lesson) for lesson in ours}


def _concerns(facts: Facts, holding: Holding, own: frozenset[str]) -> bool:
    """Tell whether a session has to do with a store's lessons or rules at all."""
    seen = [*(found.lesson for found in facts.opened), *facts.listed]
    return bool(own.intersection(facts.sent)) or any(
        lesson.store == holding.store.kind for lesson in seen
    )


def _apply(
    passes: Sequence[apply.Pass], row_ids: Sequence[str], prepared: apply.Prepared | None
) -> Applied:
    """Apply the session to each store, all of them locked; the first store's result counts.

    The first store comes last: its line is what says that the session is done.
    """
    with contextlib.ExitStack() as stack:
        for one in passes:
            stack.enter_context(files.lock(one.holding.store.lock))
        for one in passes[1:]:
            apply.apply(one, row_ids, None)
        return apply.apply(passes[0], row_ids, prepared)


def _commit(holding: Holding, facts: Facts, applied: Applied) -> str:
    """Commit what was written to the first store, where the settings say so."""
    if holding.settings.git_commit != "auto":
        return ""
    store = holding.store
    changed = [rule for rule, _ in applied.retired]
    if applied.step is not None and applied.step.rule is not None:
        changed.append(applied.step.rule)
    paths = [table.path_of(store, rule) for rule in changed]
    if holding.settings.ledger_share == "commit":
        paths.append(store.ledger("commit"))
    if not paths:
        return ""
    names = ", ".join(changed) or "its record"
    message = f"rose: {names} from session {facts.session}"
    return history.commit(store.base, paths, message).reason
