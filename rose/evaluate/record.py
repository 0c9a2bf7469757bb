"""The effect of the present layer's rules over a project's own record."""

from __future__ import annotations

import contextlib
import itertools
from typing import TYPE_CHECKING

from rose import refresh
from rose import text as texts
from rose.evaluate import effects
from rose.routing import ledger
from rose.routing import survey as surveying
from rose.selection import index
from rose.store import lessons

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

    from rose.evaluate.effects import Effect
    from rose.evaluate.replay import Progress
    from rose.layout import Stores
    from rose.routing.cases import Case

LOOKS = 50


def rule_effects(
    stores: Stores, only: Container[str] | None = None, progress: Progress | None = None
) -> dict[str, Effect]:
    """Return what each rule of the layer changed in past selections, by id; raises NoStore.

    A rule is held against the record of its own store. With `only` no other rule is measured.
    `progress` is told how many of the recorded sessions are done.
    """
    holdings = lessons.hold_all(stores)
    survey = surveying.survey([refresh.ground_of(one) for one in holdings], exact=True)
    kept = survey.kept()
    records = [ledger.read(holding.store).cases for holding in holdings]
    total, done = sum(map(len, records)), itertools.count(1)
    found: dict[str, Effect] = {}

    def told(cases: Sequence[Case]) -> Iterator[Case]:
        for case in cases:
            yield case
            if progress is not None:
                progress(next(done), total)

    with contextlib.closing(index.open_index(holdings)) as opened:

        def search(task: str) -> Sequence[tuple[str, float]]:
            return opened.hits(list(dict.fromkeys(texts.words(task))), LOOKS)

        for holding, cases in zip(holdings, records, strict=True):
            is_home = holding.store.kind == "home"
            places = [place for place in kept if place.is_home == is_home]
            found |= effects.effects(
                [place.rule for place in places],
                told(cases),
                {place.rule.id: place.standing for place in places},
                {lesson.id: lesson.path for lesson in holding.shelf.active()},
                search,
                only=only,
            )
    return found
