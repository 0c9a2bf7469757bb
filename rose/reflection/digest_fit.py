"""Fits the pieces of a digest into a budget: what matters most first, and fairly inside a class.

Each line costs its tokens together with its ending; no line is blank or begins with white space
or a slash, so the costs add up to the count of the whole (rose.tokens).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from rose import tokens
from rose.reflection import digest_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

# How many characters of each piece are kept: the first that fits all pieces of a class is taken.
LEVELS = (8_000, 3_000, 1_200, 500, 200, 80)
_SHORTEST_HEAD = 80

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Part:
    """A line that says what something is, and the text that it is about, which may be quoted."""

    label: str
    said: str = ""
    body: tuple[str, ...] = ()

    def lines(self, most_chars: int) -> Iterator[str]:
        yield self.label + digest_text.clip_line(self.said, max(most_chars, _SHORTEST_HEAD))
        if self.body:
            body = digest_text.clip("\n".join(self.body), most_chars)
            yield from (digest_text.QUOTABLE + line for line in body.split("\n"))


@dataclass(frozen=True, slots=True)
class Piece:
    """What is kept or left out as one, at its place among the session's events."""

    at: int
    parts: tuple[Part, ...]

    def lines(self, most_chars: int) -> list[str]:
        return [line for part in self.parts for line in part.lines(most_chars)]


@dataclass(frozen=True, slots=True)
class Fitted:
    """A piece as it will stand in the digest."""

    at: int
    lines: tuple[str, ...]


class Ends(Generic[T]):
    """The first and the last of a stream of any length."""

    def __init__(self, most: int) -> None:
        self._most = most // 2
        self._first: list[T] = []
        self._last: deque[T] = deque(maxlen=most - self._most)
        self.count = 0

    def add(self, item: T) -> None:
        self.count += 1
        if len(self._first) < self._most:
            self._first.append(item)
        else:
            self._last.append(item)

    def items(self) -> list[T]:
        """Return them in order."""
        return [*self._first, *self._last]

    def from_ends(self) -> list[T]:
        """Return the first, the last, the second, the last but one, and so on."""
        found = self.items()
        return [found[at] for at in from_ends(len(found))]


class Budget:
    """What is left of the tokens of one digest."""

    def __init__(self, most_tokens: int) -> None:
        self.left = most_tokens
        self._known: dict[str, int] = {}

    def cost(self, lines: Iterable[str]) -> int:
        return sum(map(self._cost, lines))

    def fit(self, pieces: Sequence[Piece], share: float = 1.0, least: int = 0) -> list[Fitted]:
        """Return the pieces within a share of what is left, and charge for them.

        All of them, each cut to the greatest length at which all fit, but not below `least`
        characters; or, where not even that does, the first that fit.
        """
        room = int(self.left * share)
        levels = [level for level in LEVELS if level >= least]
        fitted: list[Fitted] = []
        for level in levels:
            fitted = list(self._while_room(pieces, level, room))
            if len(fitted) == len(pieces):
                break
        self.left -= sum(self.cost(piece.lines) for piece in fitted)
        return fitted

    def _while_room(self, pieces: Iterable[Piece], level: int, room: int) -> Iterator[Fitted]:
        for piece in pieces:
            fitted = Fitted(piece.at, tuple(piece.lines(level)))
            room -= self.cost(fitted.lines)
            if room < 0:
                return
            yield fitted

    def _cost(self, line: str) -> int:
        if line not in self._known:
            self._known[line] = tokens.count(line + "\n")
        return self._known[line]


def from_ends(count: int) -> Iterator[int]:
    """Yield the places of a row from both its ends: the first, the last, the second, and so on."""
    for step in range((count + 1) // 2):
        yield step
        if step != count - 1 - step:
            yield count - 1 - step
