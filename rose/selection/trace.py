"""The trace: one record a call of what was looked for, found, chosen, and put before whom.

The one writer of `.rose/local/traces/selection.jsonl`. A record is only ever appended; what
becomes known later is a second record with the same id.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from rose import files, redact
from rose.routing import table
from rose.selection import index_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rose.layout import Store
    from rose.selection.windows import Window
    from rose.store.lessons import Holding

SCHEMA = "rose.trace.v1"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A lesson that was looked at: its rank and score, and the part of it that was shown."""

    node: str
    version: str
    rank: int
    score: float | None
    window: Window | None

    def as_json(self) -> dict[str, object]:
        shown = None
        if self.window is not None:
            shown = {**self.window._asdict(), "text": redact.redact(self.window.text)}
        return {
            "node": self.node,
            "version": self.version,
            "rank": self.rank,
            "score": self.score,
            "window": shown,
        }


@dataclass(frozen=True, slots=True)
class Record:
    """One call. `budget` holds the limits that it was made with, `text` what was injected."""

    id: str
    at: str
    session: str
    kind: Literal["search", "evidence"]
    query: str
    store: Mapping[str, object]
    condition: str = "retrieval"
    scope: Sequence[str] = ()
    budget: Mapping[str, int] = field(default_factory=dict)
    judge: str | None = None
    counter: str | None = None
    candidates: Sequence[Candidate] = ()
    selected: Sequence[Mapping[str, object]] = ()
    admitted: Sequence[Mapping[str, object]] = ()
    excluded: Sequence[Mapping[str, object]] = ()
    text: str = ""
    tokens: int = 0
    failure: str | None = None
    approval: str = "not_requested"
    output: str | None = None
    citations: Sequence[str] | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the record as it is written: without what looks like a secret."""
        fields = asdict(replace(self, candidates=()))
        candidates = [candidate.as_json() for candidate in self.candidates]
        clean = {"query": redact.redact(self.query), "text": redact.redact(self.text)}
        return {"schema": SCHEMA, **fields, **clean, "candidates": candidates}


def new_id() -> str:
    return f"t_{secrets.token_hex(6)}"


def state_of(holdings: Sequence[Holding]) -> dict[str, object]:
    """Return what a record says of the stores: a digest of their lessons, and their sizes."""
    digest = hashlib.sha256()
    lessons = rules = 0
    for holding in holdings:
        active = holding.shelf.active()
        digest.update(" ".join(index_file.parts_of(active)).encode())
        lessons += len(active)
        known = table.read(holding.store, holding.settings.lessons_paths).rules
        rules += sum(rule.status == "active" for rule in known)
    return {"digest": digest.hexdigest()[:16], "lessons": lessons, "rules": rules}


def append(store: Store, record: Record) -> None:
    """Write one record; raises Unwritable."""
    files.append_line(store.selections, files.dump_json(record.as_json()))
