"""Says at which gate each used lesson fell, where the offline reflector proposed nothing.

The gates stand in the order in which `offline` asks them, and ask the same functions. `rose
reflect` and `rose status` put them into words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from rose.reflection import offline
from rose.reflection.ties import MIN_TIES
from rose.routing import features

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rose.reflection.offline import Ground, Seed
    from rose.reflection.ties import Now, Ties
    from rose.routing.cases import Case
    from rose.store.lessons import Lesson

Name = Literal[
    "offered",  # a delivered rule led there
    "found",  # the embedded search puts it first
    "once",  # no other session used it
    "apart",  # the sessions that used it have no feature in common
    "loose",  # what they have in common stands in too many other tasks
    "chance",  # what they have in common may be chance
    "unnamed",  # no rule can name what they have in common, or the lesson
    "turned-down",  # a person deleted or declined a rule like it
    "standing",  # an active rule leads there and its condition holds, but it did not arrive
    "waiting",  # a proposed rule leads there
    "best",  # a rule leads there, and no wider condition is worth more
    "taken",  # a rule with that condition stands
]
NAMES: tuple[Name, ...] = get_args(Name)


@dataclass(frozen=True, slots=True)
class Gate:
    """Where a used lesson fell; `rule` is the rule that stood there, if one did."""

    lesson: str
    name: Name
    rule: str = ""

    def as_json(self) -> dict[str, str]:
        return {"lesson": self.lesson, "gate": self.name, "rule": self.rule}


def from_json(value: Mapping[str, object]) -> Gate | None:
    """Return a gate as the log holds it, None for anything else."""
    lesson, rule = value.get("lesson"), value.get("rule")
    name = next((name for name in NAMES if name == value.get("gate")), None)
    if name is None or not isinstance(lesson, str) or not isinstance(rule, str):
        return None
    return Gate(lesson, name, rule)


def gates(case: Case, used: Sequence[Lesson], past: Ties, ground: Ground) -> tuple[Gate, ...]:
    """Return the gate of each used lesson of a case for which nothing is proposed."""
    now = past.with_case(case)
    return tuple(_gate(lesson, now, case, ground) for lesson in used)


def _gate(lesson: Lesson, now: Now, case: Case, ground: Ground) -> Gate:
    offering = offline.offering(lesson, case, ground)
    if offering:
        return Gate(lesson.id, "offered", offering[0].id)
    if lesson.id in ground.found:
        return Gate(lesson.id, "found")
    seeds = list(offline.seeds(lesson, now, ground))
    if not seeds:
        return Gate(lesson.id, _untied(lesson, now, ground))
    return _standing(seeds, now, case, ground)


def _untied(lesson: Lesson, now: Now, ground: Ground) -> Name:
    """Return why no feature of the task may lead to a lesson."""
    sayable = [feature for feature in now.kinds if features.fault(feature) is None]
    if sayable and all(ground.forgotten((feature,), (lesson.path,)) for feature in sayable):
        return "turned-down"
    if now.uses(lesson.id) < MIN_TIES:
        return "once"
    claims = {feature: now.claim(lesson.id, [feature]) for feature in now.kinds}
    shared = [feature for feature, claim in claims.items() if claim.hits >= MIN_TIES]
    if not shared:
        return "apart"
    telling = [f for f in shared if claims[f].is_precise and not now.is_common(f)]
    if not telling:
        return "loose"
    sure = [feature for feature in telling if not now.is_chance(lesson.id, feature)]
    if not sure:
        return "chance"
    return "unnamed" if set(sure).isdisjoint(sayable) else "turned-down"


def _standing(seeds: Sequence[Seed], now: Now, case: Case, ground: Ground) -> Gate:
    """Return what forbids a rule that the record would bear for the lesson of some seeds."""
    lesson = seeds[0].lesson
    live = [rule for rule in ground.rules if rule.effect == "prefer" and offline.is_live(rule)]
    there = offline.covering(live, lesson.path)
    waiting = [rule for rule in there if rule.status == "proposed"]
    met = [rule for rule in there if offline.is_met(rule, case) and rule not in waiting]
    if met:
        return Gate(lesson.id, "standing", met[0].id)
    if waiting:
        return Gate(lesson.id, "waiting", waiting[0].id)
    ours = [rule for rule in there if offline.is_worded_by_code(rule)]
    if ours:
        # A wider condition that is worth more was turned down, as another rule has it.
        is_taken = any(offline.wider(ours[0], seed, now, ground) for seed in seeds)
        return Gate(lesson.id, "taken") if is_taken else Gate(lesson.id, "best", ours[0].id)
    return Gate(lesson.id, "taken" if offline.can_be_named(lesson, ground) else "unnamed")
