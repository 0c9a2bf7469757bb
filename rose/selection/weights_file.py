"""The learned weights between two calls, `.rose/local/selection.json`: derived, may be deleted.

They hold for the cases and lessons that they were learned from: where one of these has changed
they are learned again, so that a deleted file changes no result.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from rose import derived, files
from rose.routing.cases import line_of
from rose.selection import index_file
from rose.selection.weights import NAMES, Weights

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rose.routing.cases import Case
    from rose.store.lessons import Holding

# Raised whenever weights are learned differently.
VERSION = 1


def load(holdings: Sequence[Holding], cases: Sequence[Case]) -> tuple[Weights, int] | None:
    """Return the weights and how many of the cases they come from, None where none are sound."""
    stored = derived.load(holdings[0].store.selection_cache)
    if stored.get("v") != VERSION or stored.get("lessons") != _lessons(holdings):
        return None
    count = stored.get("cases")
    if not isinstance(count, int) or not 0 < count <= len(cases):
        return None
    if stored.get("record") != _digest(cases[:count]):
        return None
    found = Weights()
    found.of, found.spread, found.words = stored["of"], stored["spread"], stored["words"]
    return (found, count) if len(found.of) == len(found.spread) == len(NAMES) else None


def save(holdings: Sequence[Holding], cases: Sequence[Case], weights: Weights) -> None:
    """Keep the weights that some cases taught."""
    fields = {
        "v": VERSION,
        "lessons": _lessons(holdings),
        "cases": len(cases),
        "record": _digest(cases),
        "of": weights.of,
        "spread": weights.spread,
        "words": weights.words,
    }
    derived.save(holdings[0].store.selection_cache, fields)


def _lessons(holdings: Sequence[Holding]) -> list[str]:
    return [" ".join(index_file.parts_of(one.shelf.active())) for one in holdings]


def _digest(cases: Iterable[Case]) -> str:
    digest = hashlib.sha256()
    for case in cases:
        digest.update(files.dump_json(line_of(case)).encode("ascii"))
    return digest.hexdigest()
