"""One session on its way into one store: what it brings, and the case that it leaves there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rose import layout
from rose.reflection.attribution import Attribution
from rose.routing import cases

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rose.hosts.base import Transcript
    from rose.reflection.observe import Facts
    from rose.routing.cases import Case, Record
    from rose.store.lessons import Holding


@dataclass(frozen=True, slots=True)
class Pass:
    """One session on its way into a store.

    `bodies` are the texts of the used lessons by store path, `elsewhere` the ids of the rules of
    the other store. Only the first store learns rules; the other keeps the record of its own.
    `judged` is what rests on a model's word, `found` holds the ids of the lessons that the
    embedded search puts first for the task, where it serves prompts.
    """

    holding: Holding
    facts: Facts
    transcript: Transcript
    bodies: Mapping[str, str]
    at: str
    elsewhere: frozenset[str] = frozenset()
    is_first: bool = True
    judged: Attribution = field(default_factory=Attribution)
    found: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        return layout.session_name(self.facts.host, self.facts.session)


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

    def ours(ids: Iterable[str]) -> tuple[str, ...]:
        return tuple(
            rule for rule in ids if (rule not in one.elsewhere if one.is_first else rule in own)
        )

    observed = [found.lesson.id for found in facts.used if found.lesson.store == kind]
    opened = [found for found in facts.opened if found.lesson.store == kind]
    # The record tells no fork's looks apart: their names were dealt with for the session.
    listed = (*facts.listed, *facts.looked)
    ids = {found.lesson.id for found in opened}
    judged_used = tuple(lesson for lesson in one.judged.used if lesson in ids)
    judged_rules = ours(one.judged.verdicts)
    verdicts = {**facts.verdicts, **one.judged.verdicts}
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
            cases.Opened(found.lesson.id, found.version, found.how, found.turn) for found in opened
        ),
        listed=tuple(dict.fromkeys(one.id for one in listed if one.store == kind)),
        used=(*observed, *judged_used),
        verdicts={rule: verdicts[rule] for rule in ours(verdicts)},
        by="model" if judged_used or judged_rules else "observed",
        judged_used=judged_used,
        judged_rules=judged_rules,
        store_rules=active,
        store_lessons=len(one.holding.shelf.active()),
    )
