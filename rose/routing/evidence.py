"""Evidence: what the recorded sessions say for and against each rule (docs/architecture.md).

Every case adds its own contribution and nothing else, so the order of the ledger never matters.
`standings` adds them up through indexes, because rules times cases would be millions of tests.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
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
    index = _Index(rules, lesson_path)
    said: Counter[tuple[str, Credit]] = Counter()
    delivered: Counter[str] = Counter()
    chosen_last: dict[str, int] = {}
    sent_at: list[int] = []
    for case in cases:
        if case.sent:
            sent_at.append(case.n)
        for rule_id in case.sent:
            if case.n > chosen_last.get(rule_id, 0):
                chosen_last[rule_id] = case.n
        offered = index.delivered(case)
        delivered.update(offered.keys())
        said.update({**offered, **index.replayed(case), **index.verdicts(case)}.items())
    by_rule: dict[str, list[tuple[Credit, int]]] = {rule.id: [] for rule in rules}
    for (rule_id, credit), times in said.items():
        by_rule[rule_id].append((credit, times))
    sent_at.sort()
    found = {}
    for rule in rules:
        last = chosen_last.get(rule.id, 0)
        unchosen = len(sent_at) - bisect_right(sent_at, max(rule.born, last))
        found[rule.id] = _sum(by_rule[rule.id], delivered[rule.id], unchosen)
    return found


def _sum(said: Sequence[tuple[Credit, int]], delivered: int, unchosen: int) -> Standing:
    live = [(credit, times) for credit, times in said if credit.is_live]
    return Standing(
        helped=sum(credit.helped * times for credit, times in said),
        wasted=sum(credit.wasted * times for credit, times in said),
        seen=sum(times for _, times in said),
        live_helped=sum(credit.helped * times for credit, times in live),
        live_wasted=sum(credit.wasted * times for credit, times in live),
        verdicts=sum(times for _, times in live),
        delivered=delivered,
        unchosen=unchosen,
    )


class _Index:
    """The rules by what of a case can speak about them: id, feature met, lesson used."""

    def __init__(self, rules: Sequence[Rule], lesson_path: LessonPath) -> None:
        self.born = {rule.id: rule.born for rule in rules}
        self.lesson_path = lesson_path
        self.by_feature: dict[str, set[str]] = {}
        self.by_place: dict[str, set[str]] = {}
        self.globs: list[tuple[str, str]] = []
        self.hits: dict[str, frozenset[str]] = {}
        for rule in rules:
            if not rule.match or rule.effect != "prefer":
                continue
            for feature in rule.match:
                self.by_feature.setdefault(features.slashed(feature), set()).add(rule.id)
            for path in rule.targets:
                if target.is_glob(path):
                    self.globs.append((path, rule.id))
                else:
                    self.by_place.setdefault(path.rstrip("/"), set()).add(rule.id)

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
        born, n = self.born, case.n
        return {rule: HIT if rule in hits else miss for rule in met if born[rule] < n}

    def delivered(self, case: Case) -> dict[str, Credit]:
        """Return the delivered rules, each as seen."""
        return {rule_id: SEEN for rule_id in case.delivered or () if self._counts(rule_id, case)}

    def _counts(self, rule_id: str, case: Case) -> bool:
        return self.born.get(rule_id, case.n) < case.n

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
