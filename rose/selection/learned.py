"""The learned selector over stores: what their record teaches, for their lessons as they are.

A lesson that moved keeps its past by its content; archived and missing ones get nothing.
"""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING

from rose import text as texts
from rose.routing import conditions, evidence, ledger, standings, survey, table
from rose.routing import features as featuring
from rose.routing import targets as target
from rose.selection import features, index, select, weights_file
from rose.selection import scope as scoping
from rose.selection import terms as wording
from rose.selection.picks import Pick

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from rose.routing.cases import Case
    from rose.routing.rules import Rule
    from rose.selection.index import Index
    from rose.selection.select import Memory
    from rose.store.lessons import Holding, Lesson

# How much of a condition in words a task must say to be taken for one that it is about.
LEAST_LIKENESS = 0.5


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
        worth = {one.lesson for one in memory.served(found)}
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
    up: dict[str, float] = {}
    down: dict[str, float] = {}
    for holding in holdings:
        rules = [
            rule
            for rule in table.read(holding.store, holding.settings.lessons_paths).rules
            if rule.status == "active"
        ]
        paths = {lesson.id: lesson.path for lesson in holding.shelf.lessons}
        active = tuple(sorted(lesson.path for lesson in holding.shelf.active()))
        place = survey.Ground(holding.store, holding.settings, paths, active).lesson_path
        known = standings.read(holding.store, rules, place, paths)
        for rule in rules:
            force = met(rule) * evidence.precision(known[rule.id])
            side = down if rule.effect == "skip" else up
            for lesson, path in paths.items() if force else ():
                if lesson in wanted and target.lead_to(rule.targets, path):
                    side[lesson] = max(side.get(lesson, 0.0), force)
    return {one: up.get(one, 0.0) - down.get(one, 0.0) for one in sorted({*up, *down})}


def meeting(prompt: str) -> Callable[[Rule], float]:
    """Return what tells how far a prompt meets a rule's condition, from 0 to 1."""
    kinds = [f"word:{word}" for word in texts.content_words(prompt)]
    words = frozenset(wording.terms(prompt))
    return lambda rule: likeness(rule, kinds, words)


def likeness(rule: Rule, kinds: Sequence[str], words: frozenset[str]) -> float:
    """Return how far a task meets a rule's condition: a match does or does not.

    Of a condition in words it is the share of them that the task says, which is a likeness of
    words and no judgement.
    """
    if rule.match:
        return float(featuring.features_meet(rule.match, kinds))
    said = {
        wording.stem(word)
        for word in wording.query_words(rule.when)
        if word not in conditions.FILLERS
    }
    share = len(said & words) / len(said) if said else 0.0
    return share if share >= LEAST_LIKENESS else 0.0
