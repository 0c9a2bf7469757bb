"""The verdict on each delivered rule, as far as code can observe it (docs/architecture.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rose.routing import features
from rose.routing import targets as target
from rose.routing.evidence import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rose.routing.rules import Rule


def verdict(
    rule: Rule, kinds: Sequence[str], opened_after: Iterable[str], used: Iterable[str]
) -> str:
    """Return what became of a delivered rule.

    `opened_after` holds the store paths of the lessons opened after its delivery, `used` of those
    that were used; both of the rule's own store.
    """
    used_paths = [path for path in used if target.lead_to(rule.targets, path)]
    if rule.effect == "skip":
        return "misled" if used_paths else UNKNOWN
    followed = {path for path in opened_after if target.lead_to(rule.targets, path)}
    if followed:
        return "followed-useful" if followed.intersection(used_paths) else "followed-useless"
    if not rule.match:
        return UNKNOWN
    return "ignored" if features.features_meet(rule.match, kinds) else "not-applicable"
