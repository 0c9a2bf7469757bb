"""The learned selector over stores: what their record teaches, for their lessons as they are.

A lesson that moved keeps its past by its content; archived and missing ones get nothing.
"""

from __future__ import annotations

import contextlib
import re
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from rose import text as texts
from rose.routing import conditions, evidence, ledger, standings, survey, table
from rose.routing import features as featuring
from rose.routing import targets as target
from rose.selection import features, index, select, weights_file
from rose.selection import scope as scoping
from rose.selection import terms as wording
from rose.selection.picks import Pick

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from rose.routing.cases import Case
    from rose.routing.rules import Rule
    from rose.selection.index import Index
    from rose.selection.select import Memory
    from rose.store.lessons import Holding, Lesson

# How much of a condition in words a task must say to be taken for one that it is about.
LEAST_LIKENESS = 0.5
# The words of such a condition are said by tasks that it is not about too.
_TURNED = re.compile(
    r"n['\u2019]t\b|\b(but|cannot|except|neither|never|no|nor|not|other|outside|rather|unless"
    r"|without)\b",
    re.IGNORECASE,
)


class Learned:
    """Picks by what the stores' record teaches; with an empty one by BM25."""

    def pick(
        self, prompt: str, holdings: Sequence[Holding], scope: Sequence[str], k: int
    ) -> Sequence[Pick]:
        active = scoping.active(holdings)
        known = {name: lesson for name, (_, lesson) in active.items()}
        if not known:
            return []
        within = scoping.within(active, scope)
        names = {name: _name(lesson) for name, lesson in known.items()}
        with contextlib.closing(index.open_index(holdings)) as opened:
            memory = recall_memory(holdings, known.values(), features.Ground(opened, names))
            chosen = {n: at for n, at in names.items() if within is None or n in within}
            lexical = opened if within is None else _Scoped(opened, within)
            ground = features.Ground(lexical, chosen, lifts(prompt, holdings, chosen))
            found = memory.select(prompt, ground, k)
        worth = {one.lesson for one in memory.worth(found)}
        return [Pick(known[one.lesson], one.score, one.why, one.lesson in worth) for one in found]


def _name(lesson: Lesson) -> str:
    return lesson.path[len(lesson.root) + 1 :].removesuffix(".md")


class _Scoped:
    """Search that returns lessons of a scope alone."""

    def __init__(self, opened: Index, within: frozenset[str]) -> None:
        self._opened = opened
        self._within = within

    def hits(self, terms: Sequence[str], k: int) -> Sequence[tuple[str, float]]:
        return self._opened.hits(terms, k, within=self._within)


def recall_memory(
    holdings: Sequence[Holding], known: Iterable[Lesson], ground: features.Ground
) -> Memory:
    """Return what the stores' record teaches of the lessons that count.

    The weights are kept for the next time.
    """
    cases = settled(record_of(holdings), known)
    start = weights_file.load(holdings, cases)
    memory = select.Memory()
    if start is not None:
        memory.weights, folded = start
        for case in cases[:folded]:
            memory.recollect(case)
        cases_left = cases[folded:]
    else:
        cases_left = cases
    select.fold(cases_left, ground, memory)
    if cases_left:
        weights_file.save(holdings, cases, memory.weights)
    return memory


def relearn(holdings: Sequence[Holding]) -> None:
    """Learn what the record has gained, so that no prompt waits for it."""
    known = {name: lesson for name, (_, lesson) in scoping.active(holdings).items()}
    names = {name: _name(lesson) for name, lesson in known.items()}
    with contextlib.closing(index.open_index(holdings)) as opened:
        recall_memory(holdings, known.values(), features.Ground(opened, names))


def record_of(holdings: Sequence[Holding]) -> list[Case]:
    """Return the recorded sessions of some stores in order, with what they used of any of them."""
    found: dict[str, Case] = {}
    for holding in holdings:
        for case in ledger.read(holding.store).cases:
            one = found.setdefault(case.session, case)
            if one is not case:
                used = (*one.used, *case.used)
                found[case.session] = replace(one, used=used, opened=(*one.opened, *case.opened))
    return sorted(found.values(), key=lambda case: (case.n, case.session))


def settled(cases: Sequence[Case], known: Iterable[Lesson]) -> list[Case]:
    """Return the cases with the present ids of lessons that moved, known by their content."""
    present: set[str] = set()
    by_version: dict[str, list[str]] = {}
    for lesson in known:
        present.add(lesson.id)
        by_version.setdefault(lesson.version, []).append(lesson.id)
    moved: dict[str, str] = {}
    for case in cases:
        for opened in case.opened:
            same = by_version.get(opened.version or "", [])
            # Two lessons of one content: nobody can say which of them it became.
            if opened.lesson not in present and len(same) == 1:
                moved[opened.lesson] = same[0]
    if not moved:
        return list(cases)
    return [replace(case, used=tuple(moved.get(x, x) for x in case.used)) for case in cases]


def lifts(prompt: str, holdings: Sequence[Holding], names: Iterable[str]) -> dict[str, float]:
    """Return what the active rules that a prompt meets give to lessons, from -1 to 1.

    Prefer rules lift by their precision and skip rules lower by it; of several the strongest
    counts.
    """
    met = meeting(prompt)
    wanted = frozenset(names)
    up: dict[str, _Force] = {}
    down: dict[str, _Force] = {}
    for holding in holdings:
        paths = {x.id: x.path for x in holding.shelf.lessons if x.id in wanted}
        rules = _active(holding)
        worth = _precisions(holding, rules)
        for rule in rules:
            side = down if rule.effect == "skip" else up
            _strengthen(side, _Force(met(rule) * worth[rule.id], rule), paths)
    return {one: _value(up, one) - _value(down, one) for one in sorted({*up, *down})}


def ruled_out(prompt: str, holdings: Sequence[Holding]) -> dict[str, str]:
    """Return the lessons that a skip rule keeps from a prompt, each with the rule's id.

    The prompt meets its condition outright, and no prefer rule that it meets lifts the lesson by
    more than the skip rule's record lowers it.
    """
    met, is_met = meeting(prompt), _meeting_outright(prompt)
    found: dict[str, str] = {}
    for holding in holdings:
        rules = _active(holding)
        skips = [rule for rule in rules if rule.effect == "skip" and is_met(rule)]
        paths = {lesson.id: lesson.path for lesson in holding.shelf.lessons} if skips else {}
        worth = _precisions(holding, rules) if skips else {}
        down: dict[str, _Force] = {}
        for rule in skips:
            _strengthen(down, _Force(worth[rule.id], rule), paths)
        up: dict[str, _Force] = {}
        left = {lesson: paths[lesson] for lesson in down}
        for rule in rules if left else ():
            if rule.effect == "prefer":
                share = 1.0 if is_met(rule) else met(rule)
                _strengthen(up, _Force(share * worth[rule.id], rule), left)
        found |= {x: one.rule.id for x, one in down.items() if one.value >= _value(up, x)}
    return found


class _Force(NamedTuple):
    """How much the record of a rule says for it, as far as it is met."""

    value: float
    rule: Rule


def _value(best: Mapping[str, _Force], lesson: str) -> float:
    return best[lesson].value if lesson in best else 0.0


def _strengthen(best: dict[str, _Force], force: _Force, paths: Mapping[str, str]) -> None:
    """Give a rule's force to the lessons that it leads to and that have no greater one."""
    for lesson, path in paths.items():
        if force.value > _value(best, lesson) and target.lead_to(force.rule.targets, path):
            best[lesson] = force


def _active(holding: Holding) -> list[Rule]:
    known = table.read(holding.store, holding.settings.lessons_paths).rules
    return [rule for rule in known if rule.status == "active"]


def _precisions(holding: Holding, rules: Sequence[Rule]) -> dict[str, float]:
    """Return how often each rule of a store led to what was used."""
    paths = {lesson.id: lesson.path for lesson in holding.shelf.lessons}
    active = tuple(sorted(lesson.path for lesson in holding.shelf.active()))
    place = survey.Ground(holding.store, holding.settings, paths, active).lesson_path
    known = standings.read(holding.store, rules, place, paths)
    return {rule.id: evidence.precision(known[rule.id]) for rule in rules}


def meeting(prompt: str) -> Callable[[Rule], float]:
    """Return what tells how far a prompt meets a rule's condition, from 0 to 1."""
    kinds = [f"word:{word}" for word in texts.content_words(prompt)]
    words = frozenset(wording.terms(prompt))
    return lambda rule: likeness(rule, kinds, words)


def likeness(rule: Rule, kinds: Sequence[str], words: frozenset[str]) -> float:
    """Return how far a task meets a rule's condition: a match does or does not.

    Of a condition in words it is the share of them that the task says, which is a likeness of
    words and no judgement. One that says what a task is not is met by none.
    """
    if rule.match:
        return float(featuring.features_meet(rule.match, kinds))
    if _TURNED.search(rule.when):
        return 0.0
    said = _said(rule)
    share = len(said & words) / len(said) if said else 0.0
    return share if share >= LEAST_LIKENESS else 0.0


def _said(rule: Rule) -> set[str]:
    """Return the words of a condition that tell it from others."""
    words = wording.query_words(rule.when)
    return {wording.stem(word) for word in words if word not in conditions.FILLERS}


def _meeting_outright(prompt: str) -> Callable[[Rule], bool]:
    """Return what tells whether a prompt meets a condition: its match, or each of its words."""
    kinds = [f"word:{word}" for word in texts.content_words(prompt)]
    words = {*map(_bare, wording.terms(prompt))}

    def is_met(rule: Rule) -> bool:
        if rule.match:
            return featuring.features_meet(rule.match, kinds)
        if _TURNED.search(rule.when):
            return False
        said = {*map(_bare, _said(rule))}
        return bool(said) and said <= words

    return is_met


def _bare(stem: str) -> str:
    """Return a stem without what only some endings leave of it: rewrite(s), runn(ing)."""
    short = stem.removesuffix("e")
    return short[:-1] if short[-2:-1] == short[-1:] else short
