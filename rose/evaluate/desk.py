"""The rules that the offline reflector learns along a stream, by the product's own functions.

Case → proposal → check → rule → retirement → ranking → fit, as after each session, with the
record added up case by case instead of read again. Nothing is written.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rose import tokens
from rose.check import accept, checks
from rose.findings import errors
from rose.hosts.base import Region
from rose.reflection import evidence as quoting
from rose.reflection import offline, planning
from rose.reflection.ties import Ties
from rose.routing import layer, rank, retire, rules
from rose.routing import targets as target
from rose.routing.evidence import Standing, Tally

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping, Sequence

    from rose.reflection.offline import Operation
    from rose.routing.cases import Case
    from rose.routing.rules import Rule
    from rose.store.lessons import Lesson

ROOTS = ("nodes",)
# Where the store would lie: its path is part of the heading, which the cap covers.
BASE = "/home/user/project"
UNCAPPED = 1_000_000


class Desk:
    """Rules, their record and the layer, after the cases taken so far."""

    def __init__(self, lessons: Mapping[str, Lesson], cap: int) -> None:
        self.lessons = lessons
        self.rules: dict[str, Rule] = {}
        self.layer: tuple[str, ...] = ()
        self.layer_tokens = 0
        self._cap = cap
        self._ties = Ties()
        self._cases: list[Case] = []
        self._tally = Tally(self._path)
        self._feed = _counter("\n")
        self._bare = _counter("")
        line = layer.store_line("Store", BASE, ROOTS, ".rose/index.md")
        self._heading = layer.Heading((layer.TITLE, line))

    def active(self) -> list[Rule]:
        return [rule for rule in self.rules.values() if rule.status == "active"]

    def standing(self, rule_id: str) -> Standing:
        return self._tally.standing(rule_id)

    def take(self, case: Case, found: Container[str], alive: Sequence[str]) -> None:
        """Learn from a case; `found` is what search puts first for it, `alive` sorted paths."""
        used = [self.lessons[one] for one in case.used]
        ground = offline.Ground(tuple(self.rules.values()), ROOTS, _nothing_forgotten, found)
        operation = offline.propose(case, used, self._ties, ground)
        self._ties.add(case)
        self._cases.append(case)
        self._tally.add(case)
        changing = None if operation is None else operation.rule
        standings = {rule.id: self.standing(rule.id) for rule in self.active()}
        for due in retire.due(self.active(), standings):
            if due.rule != changing:
                self.rules[due.rule.id] = replace(due.rule, status="retired")
        if operation is not None:
            self._accept(operation, case, alive)
        self._fit(alive)

    def teach(self, rule: Rule) -> None:
        """Put a rule in the place of the one of its id, whatever speaks for it."""
        self.rules[rule.id] = rule
        self._tally.take(rule)
        for case in self._cases[rule.born :]:
            self._tally.credit(rule.id, case)

    def poison(self, rule: Rule) -> None:
        """Change a rule behind the reflector's back; the record that it had stands."""
        self.rules[rule.id] = rule
        self._tally.reword(rule)

    def _path(self, lesson: str) -> str:
        return self.lessons[lesson].path

    def _accept(self, operation: Operation, case: Case, alive: Sequence[str]) -> None:
        old = operation.rule
        prompt = Region(1, "prompt", case.task)
        quote = quoting.of_prompt(case.task, operation.feature)
        found = quoting.find(case.session, [quote], [prompt])
        draft = checks.Draft(
            when=operation.when,
            then=operation.then,
            match=operation.match,
            origin="reflection",
            evidence=planning.joined(() if old is None else old.evidence, found.found),
            replaces=None if old is None else old.id,
        )
        # A lesson that the case used is in the store from now on.
        there = sorted({*alive, *(self._path(one) for one in case.used)})
        context = checks.Context(
            rules=tuple(self.rules.values()),
            roots=ROOTS,
            has_lesson=lambda wanted: target.first_match(wanted, there) is not None,
            max_tokens=self._cap or UNCAPPED,
            cost=self._feed,
            lessons=frozenset(self.lessons),
            regions={case.session: found.regions},
            active=tuple(there),
            root=BASE,
        )
        if errors(list(checks.check_rule(draft, context))):
            return
        rule_id = f"r_{len(self.rules) + 1:06x}" if old is None else old.id
        rule = accept.rule_of(draft, context, rule_id, case.n, "")
        if old is not None:
            rule = replace(rule, born=rule.born if accept.is_renewed(old, rule) else old.born)
        self.teach(rule)

    def _fit(self, alive: Sequence[str]) -> None:
        """Choose the layer that the next session is sent."""
        active = self.active()
        lines = {rule.id: rules.line(rule) for rule in active}
        standings = {rule.id: self.standing(rule.id) for rule in active}
        costs = {rule_id: self._feed(line) for rule_id, line in lines.items()}
        ranked = [
            layer.Entry(rule.id, lines[rule.id], standings[rule.id].seen)
            for rule in rank.order(active, standings, costs)
            if any(target.first_match(path, alive) for path in rule.targets)
        ]
        most = self._cap or UNCAPPED
        size = layer.MAX_BYTES if self._cap else UNCAPPED
        fit = layer.fit(ranked, self._heading, layer.Cap(most, self._feed, self._bare, size))
        self.layer = tuple(entry.id for entry in fit.kept)
        self.layer_tokens = fit.tokens


def _nothing_forgotten(_match: Sequence[str], _targets: Sequence[str]) -> bool:
    return False


def _counter(ending: str) -> Callable[[str], int]:
    """Return a counter of tokens that counts each line once."""
    known: dict[str, int] = {}

    def count(line: str) -> int:
        if line not in known:
            known[line] = tokens.count(line + ending)
        return known[line]

    return count
