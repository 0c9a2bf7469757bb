"""Judges for tests: one that scores by a function and keeps what it was asked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rose.selection.judge import Item, Mode


@dataclass
class ScriptedJudge:
    """A judge whose scores a test chooses."""

    of: Callable[[Item], object]
    name: str = "scripted"
    asked: list[tuple[Mode, str, Sequence[Item]]] = field(default_factory=list)

    def score(self, mode: Mode, query: str, items: Sequence[Item]) -> Mapping[str, object]:
        self.asked.append((mode, query, items))
        return {item.id: self.of(item) for item in items}
