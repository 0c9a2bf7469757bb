"""The measures of selection: precision, recall, order, what is served and what it costs.

Means are over episodes. An episode none of whose lessons is in the store counts for precision
and noise, and has no recall.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

DEPTHS = (1, 3, 5, 10)
DEEPEST = 10
SAMPLES = 1000
SEED = 1


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one reader chose in one episode, against what was used and in the store."""

    split: str
    is_named: bool
    values: Mapping[str, float]
    served: int
    hits: int
    wanted: int


def weigh(
    ranked: Sequence[str],
    served: Sequence[str],
    wanted: Collection[str],
    tokens: Callable[[str], int],
    *,
    split: str,
    is_named: bool,
) -> Outcome:
    """Return the measures of one episode."""
    values: dict[str, float] = {}
    for depth in DEPTHS:
        top = ranked[:depth]
        hit = sum(one in wanted for one in top)
        if top:
            values[f"p{depth}"] = hit / len(top)
        if wanted:
            values[f"r{depth}"] = hit / len(wanted)
        values[f"noise{depth}"] = sum(tokens(one) for one in top if one not in wanted)
    values["served_noise"] = sum(tokens(one) for one in served if one not in wanted)
    if wanted:
        places = [at for at, one in enumerate(ranked) if one in wanted]
        values["mrr"] = 1 / (places[0] + 1) if places else 0.0
        gain = sum(1 / math.log2(at + 2) for at in places if at < DEEPEST)
        best = sum(1 / math.log2(at + 2) for at in range(min(DEEPEST, len(wanted))))
        values["ndcg"] = gain / best
    hits = sum(one in wanted for one in served)
    return Outcome(split, is_named, values, len(served), hits, len(wanted))


def summary(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """Return the means, and of what was served precision, recall and F1 over all of it."""
    if not outcomes:
        return {}
    found: dict[str, float] = {"episodes": len(outcomes)}
    names = dict.fromkeys(name for one in outcomes for name in one.values)
    for name in names:
        values = [one.values[name] for one in outcomes if name in one.values]
        found[name] = math.fsum(values) / len(values)
    served, hits, wanted = (
        sum(getattr(one, key) for one in outcomes) for key in ("served", "hits", "wanted")
    )
    found["served"] = served / len(outcomes)
    found["served_p"] = hits / served if served else 0.0
    found["served_r"] = hits / wanted if wanted else 0.0
    found["served_f1"] = 2 * hits / (served + wanted) if served + wanted else 0.0
    return found


def parts(outcomes: Sequence[Outcome]) -> dict[str, dict[str, float]]:
    """Return the summaries of the splits, and of the test split's named and unnamed tasks."""
    test = [one for one in outcomes if one.split == "test"]
    return {
        "train": summary([one for one in outcomes if one.split == "train"]),
        "test": summary(test),
        "test_named": summary([one for one in test if one.is_named]),
        "test_unnamed": summary([one for one in test if not one.is_named]),
    }


def against(
    ours: Iterable[Outcome], others: Iterable[Outcome], name: str
) -> tuple[float, float, float] | None:
    """Return the mean difference of a measure, with the 95 % interval of a paired bootstrap."""
    gaps = [
        one.values[name] - other.values[name]
        for one, other in zip(ours, others, strict=True)
        if name in one.values and name in other.values
    ]
    if not gaps:
        return None
    # Seeded: the interval is a figure of the outcomes, not of the run.
    draw = random.Random(SEED)  # noqa: S311 - sampling
    means = sorted(math.fsum(draw.choices(gaps, k=len(gaps))) / len(gaps) for _ in range(SAMPLES))
    low, high = means[int(SAMPLES * 0.025)], means[int(SAMPLES * 0.975)]
    return math.fsum(gaps) / len(gaps), low, high
