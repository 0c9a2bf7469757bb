"""The ranking of rules: net improvement per session, with optimism for what is little tried.

No clock enters, and nothing random: the score is a pure function of the folded record. What it
was compared with is in docs/measurements.md (`benchmarks/ranking.py`).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rose.routing.evidence import Standing
    from rose.routing.rules import Rule

# A rule starts as if it had been seen this often without effect.
PRIOR_SEEN = 10
# How much the unknown is worth: an untried rule scores sqrt(0.05) = 0.22.
OPTIMISM = 0.05


def score(standing: Standing) -> float:
    """Return a rule's score; higher is better."""
    net = standing.helped - standing.wasted / 2
    return net / (standing.seen + PRIOR_SEEN) + math.sqrt(OPTIMISM / (standing.seen + 1))


def order(
    rules: Iterable[Rule], standings: Mapping[str, Standing], costs: Mapping[str, int]
) -> list[Rule]:
    """Return the rules, best first; ties go to more helped, fewer tokens, smaller id.

    `standings` and `costs` (tokens of the rendered line) are by rule id.
    """

    def place(rule: Rule) -> tuple[float, int, int, str]:
        standing = standings[rule.id]
        return -score(standing), -standing.helped, costs[rule.id], rule.id

    return sorted(rules, key=place)
