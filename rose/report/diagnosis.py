"""What `rose doctor` looks at, and the form in which it says what it saw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rose.findings import Finding
    from rose.layout import Stores

State = Literal["ok", "note", "problem"]


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at; `repair` says what to do unless it is in order.

    `finding` is what it was made of, where a file was found to be wrong.
    """

    section: str
    state: State
    text: str
    repair: str = ""
    finding: Finding | None = None

    def as_json(self) -> dict[str, str]:
        return {
            "section": self.section,
            "state": self.state,
            "text": self.text,
            "repair": self.repair,
        }


@dataclass(frozen=True, slots=True)
class Around:
    """Where and when it looks; `short` gives a path as a person reads it."""

    stores: Stores
    environ: Mapping[str, str]
    cwd: str
    python: str
    now: float
    short: Callable[[str], str]
