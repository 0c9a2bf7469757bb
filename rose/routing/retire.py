"""Retirement: which rules of reflection's have had their chance (docs/architecture.md).

A retired rule stays on disk, is listed and can be restored. A person's rule never retires by
itself, and only verdicts on delivered rules can say that one does harm: a replay cannot.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rose.routing.evidence import live_net

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rose.routing.evidence import Standing
    from rose.routing.rules import Rule

UNCHOSEN_SESSIONS = 100
MIN_VERDICTS = 10


@dataclass(frozen=True, slots=True)
class Retirement:
    """A rule that is due, and the sentence that says why."""

    rule: Rule
    reason: str


def due(rules: Iterable[Rule], standings: Mapping[str, Standing]) -> list[Retirement]:
    """Return the active rules of reflection's that are due to retire, in the order given."""
    found = []
    for rule in rules:
        # What a person approved is a person's rule from then on.
        if rule.origin != "reflection" or rule.status != "active" or rule.approval == "approved":
            continue
        reason = _reason(standings[rule.id])
        if reason:
            found.append(Retirement(rule, reason))
    return found


def _reason(standing: Standing) -> str:
    if standing.unchosen >= UNCHOSEN_SESSIONS:
        return f"not chosen in the last {standing.unchosen} sessions that were sent rules"
    if standing.verdicts >= MIN_VERDICTS and live_net(standing) < 0:
        return (
            f"helped {standing.live_helped}, wasted {standing.live_wasted} "
            f"in {standing.verdicts} verdicts"
        )
    return ""
