"""Leave one out: what each rule of the layer changed in the selections of the recorded tasks.

The fixed lexical reader chooses for every past task with the whole layer and with the layer less
one rule. A replay of what the rules claim, not a verdict on what an agent did.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rose.evaluate import lexical_reader
from rose.routing import features

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping, Sequence

    from rose.routing.cases import Case
    from rose.routing.evidence import Standing
    from rose.routing.rules import Rule

    Search = Callable[[str], Sequence[tuple[str, float]]]

FIRST = 3


@dataclass(slots=True)
class Effect:
    """What a rule did to the first three lessons of past tasks.

    `met` counts the tasks that met it and used something, `changed` those whose first three it
    changed, `gained` and `lost` the used lessons that it brought among them or drove out. The
    reader follows prefer rules alone, so a skip rule changes nothing here.
    """

    rule: Rule
    met: int = 0
    changed: int = 0
    gained: int = 0
    lost: int = 0
    examples: list[str] = field(default_factory=list)

    @property
    def net(self) -> int:
        return self.gained - self.lost

    def as_json(self) -> dict[str, object]:
        """Return the effect as `--json` prints it, with the sessions that gained by the rule."""
        return {
            "met": self.met,
            "changed": self.changed,
            "gained": self.gained,
            "lost": self.lost,
            "sessions": self.examples,
        }


def effects(
    rules: Sequence[Rule],
    cases: Iterable[Case],
    standings: Mapping[str, Standing],
    paths: Mapping[str, str],
    search: Search,
    *,
    only: Container[str] | None = None,
) -> dict[str, Effect]:
    """Return the effect of each rule of a layer, by id; `search` gives BM25 hits for a task.

    `paths` are the store paths of the lessons in use, by id. Only tasks recorded after a rule was
    born speak of it. With `only` no other rule is left out, and no other's tasks are looked at.
    """
    found = {rule.id: Effect(rule) for rule in rules if only is None or rule.id in only}
    members = lexical_reader.members_of(paths)
    for case in cases:
        used = [one for one in case.used if one in paths]
        met = [
            rule
            for rule in rules
            if rule.born < case.n and features.features_meet(rule.match, case.kinds)
        ]
        measured = [rule for rule in met if rule.id in found]
        if not case.task or not used or not measured:
            continue
        text = search(case.task)

        def first(
            chosen: Sequence[Rule], case: Case = case, text: Sequence[tuple[str, float]] = text
        ) -> set[str]:
            lifted = lexical_reader.lifts(chosen, case.kinds, standings.__getitem__, members)
            return {one for one, _ in lexical_reader.rank(text, lifted)[:FIRST]}

        whole = first(met)
        for rule in measured:
            without = first([other for other in met if other.id != rule.id])
            _note(found[rule.id], whole - without, without - whole, used, case)
    return found


def _note(
    effect: Effect, brought: set[str], driven_out: set[str], used: Sequence[str], case: Case
) -> None:
    effect.met += 1
    effect.changed += bool(brought or driven_out)
    gained = brought.intersection(used)
    effect.gained += len(gained)
    effect.lost += len(driven_out.intersection(used))
    if gained:
        effect.examples.append(case.session)
