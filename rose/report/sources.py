"""What every report is made of: the stores as they are now, each file read once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rose import frontmatter, refresh
from rose.report import growth
from rose.routing import compiled, forgotten, ledger
from rose.routing import survey as surveying
from rose.routing import targets as target
from rose.selection import rejection_page
from rose.store import lessons

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rose.findings import Finding
    from rose.layout import Store, Stores
    from rose.routing.cases import Case
    from rose.routing.survey import Place, Survey
    from rose.store.lessons import Holding


@dataclass(frozen=True, slots=True)
class Sources:
    """The present stores, the project's first, and the survey of all their rules."""

    each: tuple[Holding, ...]
    survey: Survey

    @property
    def first(self) -> Holding:
        return self.each[0]

    def source_of(self, place: Place) -> Holding:
        """Return the store that a rule came from."""
        kind = "home" if place.is_home else "project"
        return next(source for source in self.each if source.store.kind == kind)

    def active_rules(self) -> int:
        return sum(place.rule.status == "active" for place in self.survey.places)

    def active_lessons(self) -> int:
        return sum(len(source.shelf.active()) for source in self.each)

    def routing_line(self) -> str:
        return growth.routing_line(self.active_rules(), self.active_lessons())

    def routing_json(self) -> dict[str, object]:
        """Return the bet as `--json` prints it."""
        rules, lessons = self.active_rules(), self.active_lessons()
        ratio = round(rules / lessons, 4) if lessons else None
        return {"rules": rules, "lessons": lessons, "ratio": ratio, "line": self.routing_line()}

    def cases(self) -> list[Case]:
        """Return the recorded sessions of all stores in order of n, each session once."""
        found: dict[str, Case] = {}
        for source in self.each:
            for case in ledger.read(source.store).cases:
                found.setdefault(case.session, case)
        return sorted(found.values(), key=lambda case: (case.n, case.session))

    def broken(self) -> list[Finding]:
        """Return what is wrong with configs, rules, lessons and rejections, in that order.

        A header that was read although YAML refuses it is not broken: see `recovered`.
        """
        return [fault for fault in self._findings() if fault.rule != frontmatter.RECOVERED]

    def recovered(self) -> list[Finding]:
        """Return the headers that YAML refuses and that were read line by line."""
        return [fault for fault in self._findings() if fault.rule == frontmatter.RECOVERED]

    def _findings(self) -> list[Finding]:
        of_configs = [fault for source in self.each for fault in source.faults]
        of_lessons = [fault for source in self.each for fault in source.shelf.findings]
        turned_down = [fault for s in self.each for fault in of_rejections(s.store)]
        return [*of_configs, *self.survey.findings(), *of_lessons, *turned_down]


def read(stores: Stores) -> Sources:
    """Return the sources of the present stores, with exact token counts; raises NoStore."""
    each = tuple(lessons.hold_all(stores))
    found = surveying.survey([refresh.ground_of(source) for source in each], exact=True)
    return Sources(each, found)


def of_rejections(store: Store) -> list[Finding]:
    """Return what is wrong with a store's rejections, of rules and of lessons, each fault once."""
    return [*dict.fromkeys([*forgotten.read(store)[1], *rejection_page.read(store).findings])]


def paths_of(source: Holding, targets: Sequence[str]) -> dict[str, list[str]]:
    """Return the store paths of the active lessons that each target matches."""
    paths = [lesson.path for lesson in source.shelf.active()]
    return {wanted: [p for p in paths if target.matches(wanted, p)] for wanted in targets}


def is_behind(stores: Stores, found: Sources) -> bool:
    """Tell whether the hook would print something else than the survey says."""
    written = compiled.fresh(stores)
    return written is None or written["block"] != found.survey.block
