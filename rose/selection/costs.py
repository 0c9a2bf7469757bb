"""What served text costs in tokens, remembered by its smallest parts in `.rose/local/words.json`.

Most prompts are served words that were counted before, and so need no vocabulary: to load it costs
more than all the rest of a recall (docs/measurements.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rose import derived, tokens

if TYPE_CHECKING:
    from collections.abc import Iterator

# Beyond this all are forgotten but the latest, which only costs their counting.
MOST = 20_000


class Costs:
    """Counts texts by their parts, each part once; where they are not `exact`, by their bytes."""

    def __init__(self, path: str, *, exact: bool = True) -> None:
        self.counter = tokens.EXACT if exact else tokens.BYTES
        self._exact = exact
        self._path = path
        self._known = _load(path) if exact else {}
        self._fresh: dict[str, int] = {}
        self._near: list[str] = []

    def expect(self, text: str) -> None:
        """Have the parts of a text counted with the next ones that are, since they may be next."""
        self._near.append(text)

    def of(self, text: str) -> int:
        """Return the tokens of a text whose lines are neither blank nor begin with a blank or `/`.

        The parts of such lines add up, each line with its line feed.
        """
        parts = [*_parts(text)]
        if unknown := {part for part in parts if part not in self._known}:
            self._count(unknown)
        return sum(self._known.get(part) or self._fresh[part] for part in parts)

    def _count(self, unknown: set[str]) -> None:
        near = (part for text in self._near for part in _parts(text))
        wanted = [*unknown, *(part for part in near if part not in self._known)]
        counts = tokens.count_lines(wanted, {}, exact=self._exact, ending="")
        self._fresh |= counts.costs
        self._near = []
        if counts.estimated:
            self.counter = tokens.BYTES
        else:
            self._known |= counts.costs

    def save(self) -> None:
        """Remember what was counted; what was charged in bytes is not."""
        if self._fresh and self.counter == tokens.EXACT:
            kept = self._fresh if len(self._known) > MOST else self._known
            derived.save(self._path, {"words": kept})


def _parts(text: str) -> Iterator[str]:
    *first, last = text.split("\n")
    for line in [*(f"{line}\n" for line in first), last]:
        yield from tokens.parts(line)


def _load(path: str) -> dict[str, int]:
    words = derived.load(path).get("words")
    known = words.items() if isinstance(words, dict) else ()
    return {part: cost for part, cost in known if type(cost) is int and cost > 0}
