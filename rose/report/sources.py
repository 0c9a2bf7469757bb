"""What every report is made of: the stores as they are now, each file read once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rose import config
from rose.routing import compiled, forgotten, ledger
from rose.routing import survey as surveying
from rose.routing import targets as target
from rose.store import lessons

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rose.config import Settings
    from rose.findings import Finding
    from rose.layout import Store, Stores
    from rose.routing.cases import Case
    from rose.routing.survey import Place, Survey
    from rose.store.lessons import Shelf


@dataclass(frozen=True, slots=True)
class Source:
    """One store with its settings, its lessons and what is wrong with its config."""

    store: Store
    settings: Settings
    shelf: Shelf
    faults: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Sources:
    """The present stores, the project's first, and the survey of all their rules."""

    each: tuple[Source, ...]
    survey: Survey

    @property
    def first(self) -> Source:
        return self.each[0]

    def source_of(self, place: Place) -> Source:
        """Return the store that a rule came from."""
        kind = "home" if place.is_home else "project"
        return next(source for source in self.each if source.store.kind == kind)

    def active_rules(self) -> int:
        return sum(place.rule.status == "active" for place in self.survey.places)

    def active_lessons(self) -> int:
        return sum(len(source.shelf.active()) for source in self.each)

    def cases(self) -> list[Case]:
        """Return the recorded sessions of all stores in order of n, each session once."""
        found: dict[str, Case] = {}
        for source in self.each:
            for case in ledger.read(source.store).cases:
                found.setdefault(case.session, case)
        return sorted(found.values(), key=lambda case: (case.n, case.session))

    def broken(self) -> list[Finding]:
        """Return what is wrong with configs, rules, lessons and rejections, in that order."""
        of_configs = [fault for source in self.each for fault in source.faults]
        of_lessons = [fault for source in self.each for fault in source.shelf.findings]
        rejections = [fault for s in self.each for fault in forgotten.read(s.store)[1]]
        return [*of_configs, *self.survey.findings(), *of_lessons, *rejections]


def read(stores: Stores) -> Sources:
    """Return the sources of the present stores, with exact token counts; raises NoStore."""
    stores.first()
    each = tuple(_source(store) for store in stores.present())
    found = surveying.survey([_ground(source) for source in each], exact=True)
    return Sources(each, found)


def _source(store: Store) -> Source:
    settings, faults = config.read(store)
    return Source(store, settings, lessons.scan(store, settings), tuple(faults))


def _ground(source: Source) -> surveying.Ground:
    shelf = source.shelf.lessons
    return surveying.Ground(
        source.store,
        source.settings,
        paths={lesson.id: lesson.path for lesson in shelf},
        archived=frozenset(lesson.path for lesson in shelf if lesson.status != "active"),
    )


def paths_of(source: Source, targets: Sequence[str]) -> dict[str, list[str]]:
    """Return the store paths of the active lessons that each target matches."""
    paths = [lesson.path for lesson in source.shelf.active()]
    return {wanted: [p for p in paths if target.matches(wanted, p)] for wanted in targets}


def is_behind(stores: Stores, found: Sources) -> bool:
    """Tell whether the hook would print something else than the survey says."""
    written = compiled.fresh(stores)
    return written is None or written["block"] != found.survey.block
