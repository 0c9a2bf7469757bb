"""The reflector without a model: the record says where the knowledge was (docs/architecture.md).

Pure. It proposes at most one operation a session, for a lesson that was used although no rule
had offered it, and only where the record ties a feature of the task to that lesson twice.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from rose import text as texts
from rose.routing import conditions, features
from rose.routing import targets as target

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from rose.routing.cases import Case
    from rose.routing.rules import Rule
    from rose.store.lessons import Lesson

MIN_TIES = 2
MIN_PRECISION = 0.2
MOST_FEATURES = 6
MOST_TARGETS = 3
# A feature that more cases than this share says too little; the slack is for young records.
COMMON_SHARE = 4
COMMON_SLACK = 3
# How much better a feature must be to take the place of the weakest of six.
CLEARLY = 2.0
_FOLDER_LEVELS = 2


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
    """What the reflector sees: the rules, the lessons roots, and what a person deleted."""

    rules: Sequence[Rule]
    roots: tuple[str, ...]
    forgotten: Callable[[Sequence[str], Sequence[str]], bool]


@dataclass(frozen=True, slots=True)
class _Unit:
    """One or more lessons that one target stands for."""

    lessons: tuple[Lesson, ...]
    target: str

    def names(self) -> frozenset[str]:
        return frozenset(word for lesson in self.lessons for word in _name_words(lesson))


@dataclass(frozen=True, slots=True)
class _Tie:
    """How often a feature came with a unit's lessons (`hits`) and at all (`cases`)."""

    feature: str
    hits: int
    cases: int

    @property
    def score(self) -> float:
        return (self.hits + 0.25) / (self.cases + 1) * math.log1p(self.hits)


def propose(
    case: Case, used: Sequence[Lesson], past: Iterable[Case], ground: Ground
) -> Operation | None:
    """Return the one operation that the record supports, None where it supports none.

    `past` holds the other cases of the record, `used` the lessons of the ground's store that the
    case used, in order of opening.
    """
    cases = [*past, case]
    units = list(_units(case, used, ground))
    ties = [
        (unit, tie, place) for place, unit in enumerate(units) for tie in _ties(unit, case, cases)
    ]
    ties.sort(key=lambda found: (*_order(found[0], found[1]), found[2]))
    for unit, tie, _ in ties:
        operation = _operation(unit, tie, case, cases, ground)
        if operation is not None:
            return operation
    return None


def _units(case: Case, used: Sequence[Lesson], ground: Ground) -> Iterator[_Unit]:
    """Yield what was used and not offered; two lessons of one deep folder stand for the folder."""
    offered = case.sent if case.delivered is None else case.delivered
    delivered = [r for r in ground.rules if r.id in offered and r.effect == "prefer"]
    fresh = [lesson for lesson in used if not _covering(delivered, lesson.path)]
    standing = [rule for rule in ground.rules if _is_live(rule) and rule.effect == "prefer"]
    by_folder: dict[str, list[Lesson]] = {}
    for lesson in fresh:
        covered = bool(_covering(standing, lesson.path))
        folder = lesson.path.rpartition("/")[0]
        is_deep = folder.count("/") + 1 >= _FOLDER_LEVELS
        key = folder + "/" if is_deep and not covered else lesson.path
        by_folder.setdefault(key, []).append(lesson)
    for key, lessons in by_folder.items():
        yield _Unit(tuple(lessons), key if len(lessons) > 1 else lessons[0].path)


def _covering(rules: Iterable[Rule], path: str) -> list[Rule]:
    return [rule for rule in rules if target.lead_to(rule.targets, path)]


def _is_live(rule: Rule) -> bool:
    return rule.status in ("active", "proposed")


def _ties(unit: _Unit, case: Case, cases: Sequence[Case]) -> Iterator[_Tie]:
    ids = frozenset(lesson.id for lesson in unit.lessons)
    ours = frozenset(features.widened(case.kinds))
    hits = dict.fromkeys(ours, 0)
    seen = dict.fromkeys(ours, 0)
    for one in cases:
        was_used = not ids.isdisjoint(one.used)
        for feature in ours.intersection(features.widened(one.kinds)):
            seen[feature] += 1
            hits[feature] += was_used
    limit = len(cases) / COMMON_SHARE + COMMON_SLACK
    for feature in ours:
        tie = _Tie(feature, hits[feature], seen[feature])
        precise = tie.hits >= MIN_TIES and tie.hits >= MIN_PRECISION * tie.cases
        if precise and tie.cases <= limit and features.fault(feature) is None:
            yield tie


def _order(unit: _Unit, tie: _Tie) -> tuple[float, bool, int, int, str]:
    kind, _, value = tie.feature.partition(":")
    is_named = not unit.names().isdisjoint(texts.words(value))
    return -tie.score, not is_named, features.KINDS.index(kind), -len(value), value


def _name_words(lesson: Lesson) -> list[str]:
    return texts.words(f"{lesson.path} {lesson.title}")


def _operation(
    unit: _Unit, tie: _Tie, case: Case, cases: Sequence[Case], ground: Ground
) -> Operation | None:
    """Return what one tie of feature and lessons asks for, None where something forbids it."""
    feature = tie.feature
    if target.is_glob(unit.target) or ground.forgotten((feature,), (unit.target,)):
        return None
    prefer = [rule for rule in ground.rules if rule.effect == "prefer"]
    turned_down = [rule for rule in prefer if not _is_live(rule) and feature in rule.match]
    if any(_covering(turned_down, lesson.path) for lesson in unit.lessons):
        return None
    standing = [rule for rule in prefer if _is_live(rule)]
    for lesson in unit.lessons:
        covering = _covering(standing, lesson.path)
        if any(not r.match or features.features_meet(r.match, case.kinds) for r in covering):
            # The rule is there and applies; it was not sent this once.
            return None
        if any(rule.status == "proposed" for rule in covering):
            return None
        ours = [rule for rule in covering if _is_worded_by_code(rule)]
        if ours:
            return _wider_match(ours[0], unit, tie, cases)
    return _new_or_wider_targets(unit, feature, standing, ground)


def _is_worded_by_code(rule: Rule) -> bool:
    """Tell whether a rule says only what its match says: a person's words are never changed."""
    return (
        rule.origin == "reflection"
        and rule.approval is None
        and rule.status == "active"
        and bool(rule.match)
        and rule.when == features.when_from_match(rule.match)
    )


def _wider_match(rule: Rule, unit: _Unit, tie: _Tie, cases: Sequence[Case]) -> Operation | None:
    match = (*rule.match, tie.feature)
    if len(rule.match) >= MOST_FEATURES:
        weakest = min(
            (_tie_of(feature, unit, cases) for feature in rule.match),
            key=lambda one: (one.score, one.feature),
        )
        if tie.score < CLEARLY * weakest.score:
            return None
        match = (*(one for one in rule.match if one != weakest.feature), tie.feature)
    when = features.when_from_match(match)
    return Operation(
        "widen-match", tie.feature, unit.lessons, when, rule.then, match, rule.targets, rule
    )


def _tie_of(feature: str, unit: _Unit, cases: Sequence[Case]) -> _Tie:
    ids = frozenset(lesson.id for lesson in unit.lessons)
    meeting = [one for one in cases if features.features_meet((feature,), one.kinds)]
    return _Tie(feature, sum(not ids.isdisjoint(one.used) for one in meeting), len(meeting))


def _new_or_wider_targets(
    unit: _Unit, feature: str, standing: Sequence[Rule], ground: Ground
) -> Operation | None:
    match = (feature,)
    when = features.when_from_match(match)
    key = conditions.key(when)
    same = [rule for rule in standing if conditions.key(rule.when) == key]
    rule = same[0] if same else None
    targets = (unit.target,) if rule is None else (*rule.targets, unit.target)
    then = then_of(targets)
    if target.targets_of(then, ground.roots) != targets:
        # The path cannot be written as a target: it has white space or signs at its end.
        return None
    if rule is None:
        return Operation("add", feature, unit.lessons, when, then, match, targets)
    is_ours = _is_worded_by_code(rule) and rule.then == then_of(rule.targets)
    if not is_ours or rule.match != match or len(targets) > MOST_TARGETS:
        return None
    return Operation("widen-targets", feature, unit.lessons, when, then, match, targets, rule)


def then_of(targets: Sequence[str]) -> str:
    """Return the `then` that leads to some targets."""
    *most, last = targets
    return f"read {', '.join(most)} and {last}" if most else f"read {last}"
