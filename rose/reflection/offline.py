"""The reflector without a model: the record says where the knowledge was (docs/architecture.md).

Pure. It proposes at most one operation a session, for a lesson that was used although no rule
had offered it and the search had not found it, and only where the record ties a feature of the
task to that lesson twice. The match of its rules is what would have led to the lesson best, over
the whole record: docs/decisions/020.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from rose import text as texts
from rose.routing import conditions, features
from rose.routing import targets as target

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Sequence

    from rose.reflection.ties import Claim, Now, Ties
    from rose.routing.cases import Case
    from rose.routing.rules import Rule
    from rose.store.lessons import Lesson

MOST_FEATURES = 6
MOST_TARGETS = 3
# How often a condition must hold for a lesson that joins the targets of its rule.
TARGET_PRECISION = 0.4


@dataclass(frozen=True, slots=True)
class Operation:
    """One change to the rules: a new rule, a wider match, or wider targets.

    `rule` is the rule that changes, None for a new one; `feature` what the change rests on,
    `lessons` the used lessons that it is for.
    """

    kind: Literal["add", "widen-match", "widen-targets"]
    feature: str
    lessons: tuple[Lesson, ...]
    when: str
    then: str
    match: tuple[str, ...]
    targets: tuple[str, ...]
    rule: Rule | None = None


@dataclass(frozen=True, slots=True)
class Ground:
    """What the reflector sees: the rules, the lessons roots, and what a person deleted.

    `found` holds the ids of the lessons that the embedded search puts first for the task.
    """

    rules: Sequence[Rule]
    roots: tuple[str, ...]
    forgotten: Callable[[Sequence[str], Sequence[str]], bool]
    found: Container[str] = field(default=frozenset())


@dataclass(frozen=True, slots=True)
class Seed:
    """A feature of the task that the record ties to a used lesson."""

    lesson: Lesson
    feature: str
    claim: Claim

    @property
    def score(self) -> float:
        hits, cases = self.claim
        return (hits + 0.25) / (cases + 1) * math.log1p(hits)

    def order(self) -> tuple[float, bool, int, int, str]:
        kind, _, value = self.feature.partition(":")
        names = texts.words(f"{self.lesson.path} {self.lesson.title}")
        is_named = not set(names).isdisjoint(texts.words(value))
        return -self.score, not is_named, features.KINDS.index(kind), -len(value), value


def propose(case: Case, used: Sequence[Lesson], past: Ties, ground: Ground) -> Operation | None:
    """Return the one operation that the record supports, None where it supports none.

    `past` holds the ties of the other cases of the record, `used` the lessons of the ground's store
    that the case used, in order of opening.
    """
    now = past.with_case(case)
    missed = [
        lesson
        for lesson in used
        if lesson.id not in ground.found and not offering(lesson, case, ground)
    ]
    ties = [
        (seed, place) for place, lesson in enumerate(missed) for seed in seeds(lesson, now, ground)
    ]
    for seed, _ in sorted(ties, key=lambda found: (*found[0].order(), found[1])):
        operation = _operation(seed, now, case, ground)
        if operation is not None:
            return operation
    return None


def offering(lesson: Lesson, case: Case, ground: Ground) -> list[Rule]:
    """Return the delivered rules that the task met and that lead to a lesson."""
    there = case.sent if case.delivered is None else case.delivered
    prefers = [rule for rule in ground.rules if rule.id in there and rule.effect == "prefer"]
    return covering([rule for rule in prefers if is_met(rule, case)], lesson.path)


def is_met(rule: Rule, case: Case) -> bool:
    """Tell whether a task meets a rule's condition, as far as a machine can tell."""
    return not rule.match or features.features_meet(rule.match, case.kinds)


def covering(rules: Iterable[Rule], path: str) -> list[Rule]:
    """Return the rules that lead to a lesson."""
    return [rule for rule in rules if target.lead_to(rule.targets, path)]


def is_live(rule: Rule) -> bool:
    """Tell whether a rule is in use or waits for a person."""
    return rule.status in ("active", "proposed")


def seeds(lesson: Lesson, now: Now, ground: Ground) -> Iterator[Seed]:
    """Yield the features of the task that the record ties to a lesson."""
    for feature in now.kinds:
        if _may_lead(feature, lesson, now, ground):
            yield Seed(lesson, feature, now.claim(lesson.id, [feature]))


def _may_lead(feature: str, lesson: Lesson, now: Now, ground: Ground) -> bool:
    """Tell whether a feature may stand in the match of a rule for a lesson."""
    if not now.claim(lesson.id, [feature]).is_precise or now.is_common(feature):
        return False
    if now.is_chance(lesson.id, feature):
        return False
    if features.fault(feature) is not None or ground.forgotten((feature,), (lesson.path,)):
        return False
    turned_down = (
        rule
        for rule in ground.rules
        if rule.effect == "prefer" and rule.status == "declined" and feature in rule.match
    )
    return not covering(turned_down, lesson.path)


def _operation(seed: Seed, now: Now, case: Case, ground: Ground) -> Operation | None:
    """Return what a tie asks for, None where something forbids it."""
    if target.is_glob(seed.lesson.path):
        return None
    standing = [r for r in ground.rules if r.effect == "prefer" and is_live(r)]
    there = covering(standing, seed.lesson.path)
    if any(is_met(rule, case) for rule in there):
        # The rule is there and applies; it was not sent this once.
        return None
    if any(rule.status == "proposed" for rule in there):
        return None
    ours = [rule for rule in there if is_worded_by_code(rule)]
    if ours:
        return _wider_match(ours[0], seed, now, ground)
    return _wider_targets(seed, now, standing, ground) or _new(seed, now, standing, ground)


def is_worded_by_code(rule: Rule) -> bool:
    """Tell whether a rule says only what its match says: a person's words are never changed."""
    return (
        rule.origin == "reflection"
        and rule.approval is None
        and rule.status == "active"
        and features.says_match(rule.when, rule.match)
    )


def _best_match(seed: Seed, now: Now, ground: Ground, kept: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the features that would have led to the lesson best, the seed among them.

    Of those in `kept`, which the match had before, the ones that do no harm stay while there is
    room.
    """
    lesson = seed.lesson
    match = [seed.feature]

    def worth_with(feature: str) -> float:
        return now.claim(lesson.id, [*match, feature]).worth

    # Of two that lead to the same the longer one: `postgres` rather than `postgre`.
    beside = sorted(now.beside(lesson.id), key=lambda one: (-len(one), one))
    others = [one for one in beside if _may_lead(one, lesson, now, ground)]
    while len(match) < MOST_FEATURES:
        best = max(others, key=worth_with, default=seed.feature)
        if worth_with(best) <= worth_with(seed.feature):
            break
        match.append(best)
    for old in kept:
        if len(match) < MOST_FEATURES and old not in match:
            match += [old] if worth_with(old) >= worth_with(seed.feature) else []
    before = [old for old in kept if old in match]
    return (*before, *(one for one in match if one not in before))


def wider(rule: Rule, seed: Seed, now: Now, ground: Ground) -> tuple[str, ...] | None:
    """Return the match that would be worth more to a rule than its own, None without one."""
    match = _best_match(seed, now, ground, rule.match)
    lesson = seed.lesson.id
    is_better = now.claim(lesson, match).worth > now.claim(lesson, rule.match).worth
    return match if is_better else None


def _wider_match(rule: Rule, seed: Seed, now: Now, ground: Ground) -> Operation | None:
    match = wider(rule, seed, now, ground)
    # The file is not changed for nothing.
    if match is None:
        return None
    when = features.when_from_match(match)
    if _same_condition(when, [one for one in ground.rules if one != rule]):
        return None
    lessons = (seed.lesson,)
    return Operation(
        "widen-match", seed.feature, lessons, when, rule.then, match, rule.targets, rule
    )


def _wider_targets(
    seed: Seed, now: Now, standing: Sequence[Rule], ground: Ground
) -> Operation | None:
    """Return a rule for the seed's feature with the lesson among its targets."""
    fitting = []
    for rule in standing:
        is_ours = is_worded_by_code(rule) and rule.then == then_of(rule.targets)
        if is_ours and seed.feature in rule.match and len(rule.targets) < MOST_TARGETS:
            claim = now.claim(seed.lesson.id, rule.match)
            if claim.is_precise and claim.hits >= TARGET_PRECISION * claim.cases:
                fitting.append((-claim.hits / claim.cases, rule.id, rule))
    for _, _, rule in sorted(fitting, key=lambda found: found[:2]):
        targets = (*rule.targets, seed.lesson.path)
        if target.targets_of(then_of(targets), ground.roots) == targets:
            lessons, then = (seed.lesson,), then_of(targets)
            return Operation(
                "widen-targets", seed.feature, lessons, rule.when, then, rule.match, targets, rule
            )
    return None


def _new(seed: Seed, now: Now, standing: Sequence[Rule], ground: Ground) -> Operation | None:
    match = _best_match(seed, now, ground)
    when = features.when_from_match(match)
    targets = (seed.lesson.path,)
    then = then_of(targets)
    if _same_condition(when, standing) or not can_be_named(seed.lesson, ground):
        return None
    return Operation("add", seed.feature, (seed.lesson,), when, then, match, targets)


def can_be_named(lesson: Lesson, ground: Ground) -> bool:
    """Tell whether a rule can name a lesson: not by white space, final signs or a glob's signs."""
    targets = (lesson.path,)
    is_plain = target.targets_of(then_of(targets), ground.roots) == targets
    return is_plain and not target.is_glob(lesson.path)


def _same_condition(when: str, rules: Iterable[Rule]) -> bool:
    key = conditions.key(when)
    return any(
        is_live(rule) and rule.effect == "prefer" and conditions.key(rule.when) == key
        for rule in rules
    )


def then_of(targets: Sequence[str]) -> str:
    """Return the `then` that leads to some targets."""
    *most, last = targets
    return f"read {', '.join(most)} and {last}" if most else f"read {last}"
