"""Everything that `rose status` says, gathered once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rose.backends import spend
from rose.report import activity, growth, learned, rulebook, sources

if TYPE_CHECKING:
    from rose.backends.base import Usage
    from rose.layout import Stores
    from rose.report.sources import Sources
    from rose.routing.questions import Question

LATELY = 3


@dataclass(frozen=True, slots=True)
class Overview:
    """The state of the stores; `is_behind` when the compiled layer is not what it would be.

    `proposed` counts the rules that wait for a person, `why_nothing` says why nothing was learned.
    """

    stores: Stores
    sources: Sources
    trend: growth.Trend | None
    cost: activity.Cost
    lessons_learned: tuple[learned.Reflection, ...]
    why_nothing: str
    proposed: int
    questions: tuple[Question, ...]
    delivery: activity.Delivery
    spent: Usage
    queue: activity.Queue
    failure: activity.Failure | None
    is_behind: bool

    def as_json(self) -> dict[str, object]:
        return {
            "stores": [
                {"kind": source.store.kind, "base": source.store.base, "path": source.store.dot}
                for source in self.sources.each
            ],
            "lessons": {
                "active": self.sources.active_lessons(),
                "all": sum(len(source.shelf.lessons) for source in self.sources.each),
            },
            "routing": self.sources.routing_json(),
            "trend": None if self.trend is None else self.trend.as_json(),
            "layer": self.cost.as_json(),
            "learned": [reflection.as_json() for reflection in self.lessons_learned],
            "why_nothing": self.why_nothing or None,
            "proposed": self.proposed,
            "questions": [question.as_json() for question in self.questions],
            "delivery": self.delivery.as_json(),
            "spent": {
                "calls": self.spent.calls,
                "input_tokens": self.spent.input_tokens,
                "output_tokens": self.spent.output_tokens,
                "seconds": round(self.spent.seconds, 1),
            },
            "queue": self.queue.as_json(),
            "hook_failure": None if self.failure is None else self.failure.as_json(),
            "broken": [finding.as_json() for finding in self.sources.broken()],
            "recovered": [finding.as_json() for finding in self.sources.recovered()],
        }


def read(stores: Stores, now: float) -> Overview:
    """Return the state of the present stores at a time in seconds; raises NoStore."""
    found = sources.read(stores)
    cases = found.cases()
    present = stores.present()
    lately = tuple(learned.lately(found, LATELY))
    rules, lessons = found.active_rules(), found.active_lessons()
    return Overview(
        stores=stores,
        sources=found,
        trend=growth.trend(growth.points_of(cases), rules, lessons),
        cost=activity.cost(found),
        lessons_learned=lately,
        why_nothing="" if lately else learned.why_nothing_yet(found),
        proposed=sum(place.rule.status == "proposed" for place in found.survey.places),
        questions=rulebook.questions_of(found.survey),
        delivery=activity.delivery(cases, activity.arrivals(stores.first())),
        spent=spend.of_day(stores.first(), now),
        queue=activity.read_queue(present),
        failure=activity.latest_failure(present, now),
        is_behind=sources.is_behind(stores, found),
    )
