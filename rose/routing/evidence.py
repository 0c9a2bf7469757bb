"""Evidence: what the recorded sessions say for and against each rule (docs/architecture.md).

Every case adds its own contribution and nothing else, so the order of the ledger never matters.
`Tally` adds them up through indexes, because rules times cases would be millions of tests.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from rose.routing import features
from rose.routing import targets as target

if TYPE_CHECKING:
    from rose.routing.cases import Case
    from rose.routing.rules import Rule

LessonPath = Callable[[str], str]


class Credit(NamedTuple):
    """What one case says about one rule; `is_live` when a verdict says it, not a replay."""

    helped: int = 0
    wasted: int = 0
    is_live: bool = False


SEEN = Credit()
HIT = Credit(helped=1)
MISS = Credit(wasted=1)
# The other verdicts of a delivered rule count as seen only.
VERDICTS = {
    "followed-useful": Credit(1, 0, is_live=True),
    "followed-useless": Credit(0, 1, is_live=True),
    "misled": Credit(0, 2, is_live=True),
}
# Code or model could not tell, which is no verdict.
UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Standing:
    """A rule's record since it was born: live and replayed credit together, and live alone.

    `verdicts` counts those that gave credit; `unchosen` the sessions since the rule was last
    chosen, of those that were sent rules.
    """

    helped: int = 0
    wasted: int = 0
    seen: int = 0
    live_helped: int = 0
    live_wasted: int = 0
    verdicts: int = 0
    delivered: int = 0
    unchosen: int = 0


def standings(
    rules: Sequence[Rule], cases: Iterable[Case], lesson_path: LessonPath
) -> dict[str, Standing]:
    """Return the standing of every rule, by id."""
    tally = Tally(lesson_path)
    for rule in rules:
        tally.take(rule)
    for case in cases:
        tally.add(case)
    return {rule.id: tally.standing(rule.id) for rule in rules}


class Tally:
    """What the cases added so far say about the rules taken so far, added up case by case.

    A rule's record begins with the cases that are added after it was taken.
    """

    def __init__(self, lesson_path: LessonPath) -> None:
        self._index = _Index(lesson_path)
        self._said: dict[str, Counter[Credit]] = {}
        self._delivered: Counter[str] = Counter()
        self._chosen_last: dict[str, int] = {}
        self._sent_at: list[int] = []

    def take(self, rule: Rule) -> None:
        """Take a rule in, in the place of one of the same id."""
        self.drop(rule.id)
        self._index.take(rule)
        self._said[rule.id] = Counter()

    def reword(self, rule: Rule) -> None:
        """Put a rule in the place of one of the same id, whose record it goes on with."""
        self._index.drop(rule.id)
        self._index.take(rule)

    def drop(self, rule_id: str) -> None:
        """Forget a rule and what was said about it."""
        if self._said.pop(rule_id, None) is not None:
            self._index.drop(rule_id)
            del self._delivered[rule_id]

    def add(self, case: Case) -> None:
        """Count what a case says about every rule."""
        if case.sent:
            insort(self._sent_at, case.n)
        for rule_id in case.sent:
            if case.n > self._chosen_last.get(rule_id, 0):
                self._chosen_last[rule_id] = case.n
        for rule_id, credit in self._credits(case).items():
            self._said[rule_id][credit] += 1
        self._delivered.update(self._index.delivered(case).keys())

    def credit(self, rule_id: str, case: Case) -> None:
        """Count what a case that was added before says about one rule that was taken since."""
        credit = self._credits(case).get(rule_id)
        if credit is not None:
            self._said[rule_id][credit] += 1
        self._delivered.update(self._index.delivered(case).keys() & {rule_id})

    def _credits(self, case: Case) -> dict[str, Credit]:
        index = self._index
        return {**index.delivered(case), **index.replayed(case), **index.verdicts(case)}

    def standing(self, rule_id: str) -> Standing:
        """Return the standing of a rule that was taken."""
        last = max(self._index.born(rule_id), self._chosen_last.get(rule_id, 0))
        unchosen = len(self._sent_at) - bisect_right(self._sent_at, last)
        return _sum(self._said[rule_id], self._delivered[rule_id], unchosen)


def _sum(said: Mapping[Credit, int], delivered: int, unchosen: int) -> Standing:
    live = [(credit, times) for credit, times in said.items() if credit.is_live]
    return Standing(
        helped=sum(credit.helped * times for credit, times in said.items()),
        wasted=sum(credit.wasted * times for credit, times in said.items()),
        seen=sum(said.values()),
        live_helped=sum(credit.helped * times for credit, times in live),
        live_wasted=sum(credit.wasted * times for credit, times in live),
        verdicts=sum(times for _, times in live),
        delivered=delivered,
        unchosen=unchosen,
    )


class _Index:
    """The rules by what of a case can speak about them: id, feature met, lesson used."""

    def __init__(self, lesson_path: LessonPath) -> None:
        self.rules: dict[str, Rule] = {}
        self.lesson_path = lesson_path
        self.by_feature: dict[str, set[str]] = {}
        self.by_place: dict[str, set[str]] = {}
        self.globs: set[tuple[str, str]] = set()
        self.hits: dict[str, frozenset[str]] = {}

    def born(self, rule_id: str) -> int:
        return self.rules[rule_id].born

    def take(self, rule: Rule) -> None:
        self.rules[rule.id] = rule
        if not rule.match or rule.effect != "prefer":
            return
        self.hits.clear()
        for feature in rule.match:
            self.by_feature.setdefault(features.slashed(feature), set()).add(rule.id)
        for path in rule.recorded_targets:
            if target.is_glob(path):
                self.globs.add((path, rule.id))
            else:
                self.by_place.setdefault(path.rstrip("/"), set()).add(rule.id)

    def drop(self, rule_id: str) -> None:
        rule = self.rules.pop(rule_id)
        self.hits.clear()
        for feature in rule.match:
            self.by_feature.get(features.slashed(feature), set()).discard(rule_id)
        for path in rule.recorded_targets:
            self.by_place.get(path.rstrip("/"), set()).discard(rule_id)
            self.globs.discard((path, rule_id))

    def verdicts(self, case: Case) -> dict[str, Credit]:
        return {
            rule_id: VERDICTS.get(verdict, SEEN)
            for rule_id, verdict in case.verdicts.items()
            if verdict != UNKNOWN and self._counts(rule_id, case)
        }

    def replayed(self, case: Case) -> dict[str, Credit]:
        """Return what the claims of those rules say whose `match` the case meets."""
        met: set[str] = set()
        for kind in features.widened(case.kinds):
            met |= self.by_feature.get(kind, frozenset())
        hits = frozenset[str]().union(*map(self._hit, case.used))
        miss = MISS if case.used else SEEN
        return {rule: HIT if rule in hits else miss for rule in met if self._counts(rule, case)}

    def delivered(self, case: Case) -> dict[str, Credit]:
        """Return the delivered rules, each as seen."""
        return {rule_id: SEEN for rule_id in case.delivered or () if self._counts(rule_id, case)}

    def _counts(self, rule_id: str, case: Case) -> bool:
        rule = self.rules.get(rule_id)
        return rule is not None and rule.born < case.n

    def _hit(self, lesson: str) -> frozenset[str]:
        """Return the rules that have a lesson among their targets."""
        if lesson not in self.hits:
            path = self.lesson_path(lesson)
            parts = path.split("/")
            places = ("/".join(parts[:end]) for end in range(1, len(parts) + 1))
            found = {rule for place in places for rule in self.by_place.get(place, ())}
            found.update(rule for glob, rule in self.globs if target.matches(glob, path))
            self.hits[lesson] = frozenset(found)
        return self.hits[lesson]


def live_net(standing: Standing) -> float:
    """Return the net improvement that verdicts alone show."""
    return standing.live_helped - standing.live_wasted / 2


def precision(standing: Standing) -> float:
    """Return how often a rule led to what was used, smoothed."""
    return (standing.helped + 0.5) / (standing.helped + standing.wasted + 2)
