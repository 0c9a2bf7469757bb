"""What lines cost in tokens, remembered in `.rose/local/tokens.json`.

Each line is known with its line feed and without, for the last line of a block has none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rose import derived, tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

ENDINGS = ("\n", "")


class Costs:
    """Counts lines once per text; a line that was charged in bytes is not remembered."""

    def __init__(self, path: str, *, exact: bool) -> None:
        self.path = path
        self.exact = exact
        self.known = _load(path)
        self.feed: dict[str, int] = {}
        self.bare: dict[str, int] = {}
        self.estimated: frozenset[str] = frozenset()
        self.reason = ""

    @property
    def counter(self) -> str:
        """Return the name of the counter: `bytes` as soon as one line was charged in bytes."""
        return tokens.BYTES if self.estimated else tokens.EXACT

    def count(self, lines: Sequence[str]) -> None:
        """Count the lines in use; blank ones are left out."""
        wanted = list(dict.fromkeys(filter(None, lines)))
        costs = []
        for at, ending in enumerate(ENDINGS):
            known = {line: self.known[line][at] for line in wanted if line in self.known}
            counts = tokens.count_lines(wanted, known, exact=self.exact, ending=ending)
            self.estimated |= counts.estimated
            self.reason = self.reason or counts.reason
            costs.append(counts.costs)
        self.feed, self.bare = costs

    def save(self) -> None:
        """Remember the lines in use and forget the others."""
        kept = {
            line: [cost, self.bare[line]]
            for line, cost in self.feed.items()
            if line not in self.estimated
        }
        if kept != self.known:
            derived.save(self.path, {"lines": kept})


def _load(path: str) -> dict[str, list[int]]:
    lines = derived.load(path).get("lines")
    if not isinstance(lines, dict):
        return {}
    return {line: pair for line, pair in lines.items() if _is_pair(pair)}


def _is_pair(pair: object) -> bool:
    if not isinstance(pair, list) or len(pair) != len(ENDINGS):
        return False
    return all(isinstance(cost, int) and cost > 0 for cost in pair)
