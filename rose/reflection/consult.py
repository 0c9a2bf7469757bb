"""Consults a model on a session that was read: whether it is worth a call, and what it is told."""

from __future__ import annotations

import math
import os
from collections import Counter
from typing import TYPE_CHECKING

from rose import refresh
from rose.backends.base import Subject
from rose.reflection import ask, question
from rose.reflection.digest import digest
from rose.reflection.library import body_of
from rose.routing import features, standings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rose.backends.base import Backend
    from rose.reflection.ask import Asked, Reflector
    from rose.reflection.passes import Pass
    from rose.routing.cases import Case, Record
    from rose.routing.evidence import Standing
    from rose.routing.table import Table
    from rose.store.lessons import Holding


def consult(
    reflector: Reflector,
    one: Pass,
    record: Record,
    holdings: Sequence[Holding],
    tables: Sequence[Table],
) -> Asked | None:
    """Return what a model says of a session, None where none is asked.

    `one` is the session's way into the first store. Raises ask.Unanswered, and RoseError where
    the transcript cannot be read again.
    """
    backend = reflector.choose(one.facts.host)
    if backend is None or not _is_worth_a_call(one):
        return None
    material = _material(backend, one, record, holdings, tables)
    facts = one.facts
    # Only a fork needs the folder of the session, which may be gone.
    cwd = facts.cwd if backend.forks or os.path.isdir(facts.cwd) else one.holding.store.base
    subject = Subject(facts.host, facts.session, one.transcript.path, cwd)
    return ask.ask(reflector, backend, one.holding.store, subject, question.build(material))


def _is_worth_a_call(one: Pass) -> bool:
    """Tell whether there is anything to route to, and whether the session did more than talk."""
    facts, settings = one.facts, one.holding.settings
    has_worked = any(not feature.startswith("word:") for feature in facts.kinds)
    has_met = bool(facts.opened or facts.listed or facts.delivered)
    has_lessons = bool(one.holding.shelf.active()) or settings.learning_lessons == "on"
    return has_lessons and (has_worked or has_met)


def _material(
    backend: Backend,
    one: Pass,
    record: Record,
    holdings: Sequence[Holding],
    tables: Sequence[Table],
) -> question.Material:
    stores = {holding.store.kind: holding.store for holding in holdings}
    record_of: dict[str, Standing] = {}
    for holding, rows in zip(holdings, tables, strict=True):
        record_of.update(standing_of(holding, rows))
    return question.Material(
        one.facts,
        one.holding.settings.lessons_paths,
        rules=tables[0].rules,
        elsewhere=[rule for rows in tables[1:] for rule in rows.rules],
        standings=record_of,
        cases=_alike(one.facts.session, one.facts.kinds, record.cases),
        bodies={
            found.lesson: body_of(stores[found.lesson.store], found.lesson)
            for found in one.facts.opened
        },
        digest=None
        if backend.forks
        else lambda most: digest(one.transcript, holdings, max_tokens=most).text,
    )


def standing_of(holding: Holding, rows: Table) -> Mapping[str, Standing]:
    """Return the record of a store's rules."""
    ground = refresh.ground_of(holding)
    return standings.read(holding.store, rows.rules, ground.lesson_path, ground.paths)


def _alike(session: str, kinds: Sequence[str], cases: Sequence[Case]) -> list[Case]:
    """Return the past cases that share the rarest features with a session, best first."""
    others = [case for case in cases if case.session != session and case.used]
    seen = Counter(feature for case in others for feature in features.widened(case.kinds))
    ours = frozenset(features.widened(kinds))
    rated = [
        (sum(math.log(1 + len(others) / seen[f]) for f in ours.intersection(wide)), case)
        for case in others
        if (wide := frozenset(features.widened(case.kinds)))
    ]
    rated.sort(key=lambda found: (-found[0], -found[1].n, found[1].session))
    return [case for rating, case in rated[: question.MOST_CASES] if rating > 0]
