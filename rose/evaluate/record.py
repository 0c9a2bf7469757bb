"""The effect of the present layer's rules over a project's own record."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from rose import refresh
from rose import text as texts
from rose.evaluate import effects
from rose.routing import ledger
from rose.routing import survey as surveying
from rose.selection import index
from rose.store import lessons

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rose.evaluate.effects import Effect
    from rose.layout import Stores

LOOKS = 50


def rule_effects(stores: Stores) -> dict[str, Effect]:
    """Return what each rule of the layer changed in past selections, by id; raises NoStore.

    A rule is held against the record of its own store.
    """
    stores.first()
    holdings = [lessons.hold(store) for store in stores.present()]
    survey = surveying.survey([refresh.ground_of(one) for one in holdings], exact=True)
    kept = survey.kept()
    found: dict[str, Effect] = {}
    with contextlib.closing(index.open_index(holdings)) as opened:

        def search(task: str) -> Sequence[tuple[str, float]]:
            return opened.hits(list(dict.fromkeys(texts.words(task))), LOOKS)

        for holding in holdings:
            is_home = holding.store.kind == "home"
            places = [place for place in kept if place.is_home == is_home]
            found |= effects.effects(
                [place.rule for place in places],
                ledger.read(holding.store).cases,
                {place.rule.id: place.standing for place in places},
                {lesson.id: lesson.path for lesson in holding.shelf.active()},
                search,
            )
    return found
