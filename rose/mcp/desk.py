"""The desk at which a tool call is answered: where it reads, and what it gives back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rose.store import lessons

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rose.layout import Stores
    from rose.store.lessons import Holding


@dataclass(frozen=True, slots=True)
class Answer:
    """What a call gives: the fields of its JSON, and the same in words."""

    fields: Mapping[str, object]
    text: str


@dataclass(frozen=True, slots=True)
class Desk:
    """Where a call reads: `find` gives the stores of now, `now` the time."""

    find: Callable[[], Stores]
    now: Callable[[], str]
    session: str = ""

    def holdings(self) -> list[Holding]:
        """Return the stores that apply; raises NoStore."""
        return lessons.hold_all(self.find())
