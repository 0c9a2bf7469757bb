"""Skip rules that may not hold any more: their lessons changed, or were used after all.

The versions that a rule was written for are in a record of their own (rose.routing.skips).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from rose.routing import ledger, rules, skips, table
from rose.routing import targets as target

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rose.routing.cases import Case
    from rose.routing.rules import Rule
    from rose.routing.skips import Noted
    from rose.store.lessons import Holding

UNNOTED = "nobody noted here what its lessons said when it was written"


@dataclass(frozen=True, slots=True)
class Skip:
    """A skip rule to look at again.

    `changes` are store paths with how they differ, `used` the lessons used since with how many
    sessions used each, `misled` the sessions in which it was delivered and its lessons were used.
    """

    rule: Rule
    line: str
    changes: tuple[tuple[str, str], ...]
    used: Mapping[str, int]
    misled: int

    def as_json(self) -> dict[str, object]:
        return {
            "id": self.rule.id,
            "line": self.line,
            "origin": self.rule.origin,
            "reason": self.rule.note.strip(),
            "changed": [{"path": path, "how": how} for path, how in self.changes],
            "used": dict(self.used),
            "misled": self.misled,
        }


class Looked(NamedTuple):
    """The rules to look at again, what could not be checked and why, and how many in all."""

    found: tuple[Skip, ...]
    unchecked: tuple[tuple[str, str], ...]
    of: int


def look(holdings: Sequence[Holding]) -> Looked:
    """Return the skip rules in use whose lessons are not those of then, or were used since."""
    found: list[Skip] = []
    unchecked: list[tuple[str, str]] = []
    count = 0
    for holding in holdings:
        known = table.read(holding.store, holding.settings.lessons_paths)
        broken = [one for one in known.findings if one.severity == "error"]
        unchecked += [(one.where, f"the rule cannot be read: {one.message}") for one in broken]
        standing = [one for one in known.rules if one.effect == "skip" and one.status == "active"]
        count += len(standing)
        if standing:
            _look(holding, standing, found, unchecked)
    return Looked(tuple(found), tuple(unchecked), count)


def _look(
    holding: Holding,
    standing: Sequence[Rule],
    found: list[Skip],
    unchecked: list[tuple[str, str]],
) -> None:
    try:
        noted, lack = skips.read(holding.store), UNNOTED
    except OSError as error:
        noted, lack = {}, f"{holding.store.skips} cannot be read: {error.strerror or error}"
    cases = ledger.read(holding.store).cases
    for rule in standing:
        then = noted.get(rule.id)
        if then is None:
            unchecked.append((rule.id, lack))
        since = max(rule.born, 0 if then is None else then.n)
        skip = _examine(rule, then, [case for case in cases if case.n > since], holding)
        if skip.changes or skip.used or skip.misled:
            found.append(skip)


def _examine(rule: Rule, then: Noted | None, later: Sequence[Case], holding: Holding) -> Skip:
    now = {lesson.path: lesson.version for lesson in holding.shelf.active()}
    paths = {lesson.id: lesson.path for lesson in holding.shelf.lessons}
    changes = [] if then is None else skips.differences(then, skips.led_to(rule, now))
    used: dict[str, int] = {}
    for case in later:
        for node in dict.fromkeys(case.used):
            if target.lead_to(rule.recorded_targets, paths.get(node, "")):
                used[node] = used.get(node, 0) + 1
    misled = sum(case.verdicts.get(rule.id) == "misled" for case in later)
    return Skip(rule, rules.line(rule, holding.store.prefix), tuple(changes), used, misled)
