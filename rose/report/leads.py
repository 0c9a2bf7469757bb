"""The rules that lead to a lesson: whether each is in the layer, and why it is not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rose.report import rulebook
from rose.routing import targets
from rose.selection import learned

if TYPE_CHECKING:
    from rose.report.sources import Sources
    from rose.routing.survey import Place
    from rose.store.lessons import Lesson


@dataclass(frozen=True, slots=True)
class Lead:
    """A rule one of whose targets matches the lesson.

    `met` says how far a prompt meets its condition, from 0 to 1, None without a prompt; `said`
    in words why it is not in the layer, empty where it is.
    """

    place: Place
    target: str
    met: float | None
    said: str

    def as_json(self) -> dict[str, object]:
        rule = self.place.rule
        return {
            "id": rule.id,
            "line": self.place.text,
            "effect": rule.effect,
            "status": rule.status,
            "target": self.target,
            "met": self.met,
            "in_layer": not self.place.waits,
            "reason": self.place.waits or None,
            "said": self.said or None,
        }


def leads(sources: Sources, lesson: Lesson, prompt: str = "") -> list[Lead]:
    """Return the rules of a lesson's own store that lead to it, best first, skip rules too."""
    met = learned.meeting(prompt) if prompt else None
    cap = sources.first.settings.routing_max_tokens
    found = []
    for place in sources.survey.places:
        if sources.source_of(place).store.kind != lesson.store:
            continue
        wanted = next((x for x in place.rule.targets if targets.matches(x, lesson.path)), None)
        if wanted is not None:
            likeness = None if met is None else round(met(place.rule), 4)
            found.append(Lead(place, wanted, likeness, rulebook.reason(place, cap)))
    return found
