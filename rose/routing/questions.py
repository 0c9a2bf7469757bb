"""Questions: rules that say the opposite of the same lessons under one condition.

Both are kept, since no code can tell which of them holds, and shown as one question until a
person decides. Two rules that were both approved are none: then both hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rose.routing import conditions
from rose.routing import targets as target

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rose.routing.rules import Rule

# What stands on disk under these states says nothing against another rule.
SILENT = ("retired", "declined")


@dataclass(frozen=True, slots=True)
class Question:
    """The rules that contradict each other, their condition, and the targets in dispute."""

    rules: tuple[str, ...]
    when: str
    targets: tuple[str, ...]

    def line(self) -> str:
        ids = " or ".join(self.rules)
        return f"When {self.when}: {', '.join(self.targets)}: {ids}"

    def as_json(self) -> dict[str, object]:
        return {"rules": list(self.rules), "when": self.when, "targets": list(self.targets)}


def opponents(key: str, effect: str, targets: Sequence[str], rules: Iterable[Rule]) -> list[Rule]:
    """Return the standing rules that say the opposite of what a condition, by its key, says."""
    return [
        rule
        for rule in rules
        if rule.status not in SILENT
        and rule.effect != effect
        and conditions.key(rule.when) == key
        and shared(targets, rule.targets)
    ]


def shared(targets: Iterable[str], others: Sequence[str]) -> list[str]:
    """Return those of some targets that may lead to the same lesson as one of the others."""
    return [one for one in targets if any(target.overlap(one, other) for other in others)]


def find(rules: Iterable[Rule]) -> list[Question]:
    """Return the open questions among the rules of one store, one a condition."""
    alike: dict[str, list[Rule]] = {}
    for rule in rules:
        if rule.status not in SILENT:
            alike.setdefault(conditions.key(rule.when), []).append(rule)
    found = [_question(group) for group in alike.values() if len(group) > 1]
    return [question for question in found if question is not None]


def _question(group: Sequence[Rule]) -> Question | None:
    prefer = [rule for rule in group if rule.effect == "prefer"]
    skip = [rule for rule in group if rule.effect == "skip"]
    pairs = [
        (one, other, disputed)
        for one in prefer
        for other in skip
        if not (one.approval == other.approval == "approved")
        and (disputed := shared(one.targets, other.targets))
    ]
    if not pairs:
        return None
    ids = dict.fromkeys(rule.id for one, other, _ in pairs for rule in (one, other))
    targets = dict.fromkeys(path for _, _, disputed in pairs for path in disputed)
    return Question(tuple(ids), pairs[0][0].when, tuple(targets))
