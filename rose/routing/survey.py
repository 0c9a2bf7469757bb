"""The survey: every rule of the present stores with its record, its cost and its place.

It is what the layer is compiled from and what `rose route` shows, so that the reason a rule is
not in the layer is the one by which it was left out.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rose.routing import layer, rank, standings, table
from rose.routing import targets as target
from rose.routing.costs import Costs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rose.config import Settings
    from rose.findings import Finding
    from rose.layout import Store
    from rose.routing.evidence import Standing
    from rose.routing.rules import Rule
    from rose.routing.table import Table

OFF = "routing is off"
UNREADABLE = "unreadable"
# No target leads to a lesson that is in use: archived, deleted or moved.
LOST = "targets gone"
# Rules that a prompt may parse: about 0.25 ms each (docs/measurements.md).
MOST_NEW = 1000


@dataclass(frozen=True, slots=True)
class Ground:
    """One store as the survey finds it.

    `paths` gives the store path of a lesson id, `active` the sorted store paths of the lessons
    that count.
    """

    store: Store
    settings: Settings
    paths: Mapping[str, str]
    active: tuple[str, ...]

    @property
    def is_home(self) -> bool:
        return self.store.kind == "home"

    def lesson_path(self, lesson: str) -> str:
        """Return the store path of a lesson id."""
        return self.paths.get(lesson, f"{self.settings.lessons_paths[0]}/{lesson}.md")


@dataclass(frozen=True, slots=True)
class Place:
    """A rule, its line, record and cost; `waits` says why it is not in the layer, if so."""

    rule: Rule
    is_home: bool
    text: str
    standing: Standing
    tokens: int
    waits: str = ""
    witness: str | None = None

    @property
    def entry(self) -> layer.Entry:
        return layer.Entry(self.rule.id, self.text, self.standing.seen, self.is_home)


@dataclass(frozen=True, slots=True)
class Survey:
    """All rules, best first, then those outside the ranking in order of id."""

    places: tuple[Place, ...]
    unreadable: tuple[str, ...]
    tables: tuple[Table, ...]
    block: str
    tokens: int
    counter: str
    counter_reason: str

    def kept(self) -> list[Place]:
        """Return the rules in the layer, in the order of the block."""
        return sorted((p for p in self.places if not p.waits), key=lambda place: place.rule.id)

    def waiting(self) -> dict[str, str]:
        """Return why each other rule is not in the layer."""
        found = dict.fromkeys(self.unreadable, UNREADABLE)
        found.update({place.rule.id: place.waits for place in self.places if place.waits})
        return found

    def lost(self) -> list[Place]:
        """Return the rules that are out because none of their lessons is in use any more."""
        return [place for place in self.places if place.waits.startswith(LOST)]

    def findings(self) -> list[Finding]:
        """Return what is wrong with the rule files."""
        return [finding for rows in self.tables for finding in rows.findings]


def survey(grounds: Sequence[Ground], *, exact: bool) -> Survey:
    """Return the survey of the present stores, the project's first.

    `exact` loads the vocabulary for lines nobody counted yet; else they are charged in bytes.
    """
    most_new = None if exact else MOST_NEW
    tables = tuple(
        table.read(g.store, g.settings.lessons_paths, most_new=most_new) for g in grounds
    )
    heading = heading_of(grounds)
    lines = Costs(grounds[0].store.costs_cache, exact=exact)
    texts = [text for rows in tables for text in rows.lines.values()]
    lines.count([*heading.lines, heading.home_line, *texts])
    places = _places(grounds, tables, lines.feed)
    settings = grounds[0].settings
    ranked = [] if _is_off(settings) else _ranked(places, grounds, tables)
    cap = layer.Cap(settings.routing_max_tokens, lines.feed.__getitem__, lines.bare.__getitem__)
    fit = layer.fit([place.entry for place in ranked if not place.waits], heading, cap)
    settled = {place.rule.id: place for place in ranked}
    outside = [place for place in places if place.rule.id not in settled]
    placed = [
        replace(place, waits=place.waits or fit.waiting.get(place.rule.id, "")) for place in ranked
    ]
    placed += [replace(p, waits=p.waits or OFF) for p in sorted(outside, key=lambda p: p.rule.id)]
    lines.save()
    return Survey(
        tuple(placed),
        _unreadable(tables, placed),
        tables,
        layer.render(heading, fit.kept),
        fit.tokens,
        lines.counter,
        lines.reason,
    )


def _is_off(settings: Settings) -> bool:
    return not settings.routing_enabled or settings.routing_max_tokens == 0


def heading_of(grounds: Sequence[Ground]) -> layer.Heading:
    """Return the heading for the present stores."""
    first, *others = grounds
    lines = (layer.TITLE, _store_line("Store", first))
    return layer.Heading(lines, _store_line("Home store", others[0]) if others else "")


def _store_line(label: str, ground: Ground) -> str:
    store = ground.store
    # A folder's name need not be UTF-8; the block must be.
    root = store.base.encode("utf-8", "replace").decode("utf-8")
    index = os.path.relpath(store.index, store.base)
    return layer.store_line(label, root, ground.settings.lessons_paths, index)


def _places(
    grounds: Sequence[Ground],
    tables: Sequence[Table],
    costs: Mapping[str, int],
) -> list[Place]:
    """Return every readable rule with its standing and cost, not yet ranked."""
    found: dict[str, Place] = {}
    for ground, rows in zip(grounds, tables, strict=True):
        known = standings.read(ground.store, rows.rules, ground.lesson_path, ground.paths)
        for rule in rows.rules:
            # A home rule under the id of a project's rule: the project's own one stands.
            if rule.id not in found:
                waits = "" if rule.status == "active" else rule.status
                text = rows.lines[rule.id]
                standing = known[rule.id]
                found[rule.id] = Place(rule, ground.is_home, text, standing, costs[text], waits)
    return list(found.values())


def _ranked(
    places: Sequence[Place], grounds: Sequence[Ground], tables: Sequence[Table]
) -> list[Place]:
    """Return the active rules, best first, each with a witness or the reason it cannot go in."""
    active = {place.rule.id: place for place in places if not place.waits}
    ordered = rank.order(
        [place.rule for place in active.values()],
        {rule_id: place.standing for rule_id, place in active.items()},
        {rule_id: place.tokens for rule_id, place in active.items()},
    )
    by_store = {g.is_home: g for g in grounds}
    keys = {g.is_home: rows.keys for g, rows in zip(grounds, tables, strict=True)}
    said: dict[tuple[str, str, bool], str] = {}
    ranked = []
    for rule in ordered:
        place = _seen(active[rule.id], by_store[active[rule.id].is_home])
        sense = (keys[place.is_home][rule.id], rule.effect, place.is_home)
        if not place.waits:
            twin = said.setdefault(sense, rule.id)
            if twin != rule.id:
                place = replace(place, waits=f"says the same as {twin}")
        ranked.append(place)
    return ranked


def _seen(place: Place, ground: Ground) -> Place:
    """Return the place with the first witness of its targets, or with why there is none."""
    targets = place.rule.targets
    if not targets:
        return place
    found = next(filter(None, (target.first_match(one, ground.active) for one in targets)), None)
    if found is None:
        return replace(place, waits=f"{LOST}: {', '.join(targets)}")
    return replace(place, witness=os.path.join(ground.store.base, found))


def _unreadable(tables: Sequence[Table], placed: Sequence[Place]) -> tuple[str, ...]:
    """Return the ids of the rule files that hold no rule that can be used."""
    read = frozenset(place.rule.id for place in placed)
    return tuple(sorted(frozenset().union(*(rows.ids() for rows in tables)) - read))
