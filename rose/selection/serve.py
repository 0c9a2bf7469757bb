"""Recall for a session: what it holds of the lessons, and the block that a prompt is given.

A lesson that was never served comes whole or in part; one that the session still holds is left
out; one that it may have lost, or that changed since, comes as one line. docs/architecture.md.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from rose import files, session
from rose.selection import pack, pipeline, trace
from rose.selection.pipeline import Request, Shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rose.layout import Store
    from rose.selection.trace import Record
    from rose.store.lessons import Holding


@dataclass(frozen=True, slots=True)
class Served:
    """What recall gives to one prompt; `encoded` is its block as JSON, empty without one."""

    record: Record
    encoded: str
    problem: str

    def beside(self, first: str) -> str:
        """Return another block and this one as one JSON string literal."""
        if not first or not self.encoded:
            return first or self.encoded
        return first[:-1] + json.dumps(pack.JOIN)[1:-1] + self.encoded[1:]

    def write(self, store: Store, note: str | None, event: str, agent: str | None) -> None:
        """Note for the session what was served, and write the record; raises Unwritable."""
        given = {str(one["node"]): one["version"] for one in self.record.admitted}
        if note is not None and given:
            row = {"v": session.VERSION, "at": self.record.at, "event": event, "agent": agent}
            files.append_line(note, files.dump_json({**row, "served": given}))
        trace.append(store, self.record)


def shown(notes: Sequence[Mapping[str, object]], agent: str | None) -> dict[str, Shown]:
    """Return what an agent of a session was served, from the session's note."""
    found: dict[str, Shown] = {}
    for line in notes:
        if line.get("agent") != agent:
            continue
        served = line.get("served")
        if "reset" in line:
            found = {node: Shown(one.version, is_fresh=False) for node, one in found.items()}
        elif isinstance(served, dict):
            found.update({str(node): Shown(str(v), is_fresh=True) for node, v in served.items()})
    return found


def serve(
    holdings: Sequence[Holding],
    prompt: str,
    *,
    session_id: str,
    held: Mapping[str, Shown],
    beside: str,
    at: str,
) -> Served:
    """Return what a prompt is given, as the first store's settings have it.

    `held` is what the session was shown before, `beside` the block that goes with this one.
    """
    settings = holdings[0].settings
    budget = room_beside(beside, settings.recall_max_tokens)
    serving = cast("pack.Serving", settings.recall_serve)
    query = pipeline.query_of(prompt)
    request = Request(query, budget, serving, session=session_id, shown=held)
    record, problem = pipeline.recall(request, holdings, at=at)
    encoded = json.dumps(record.text) if record.text else ""
    return Served(record, encoded, problem)


def room_beside(beside: str, max_tokens: int) -> pack.Budget:
    """Return the budget of a block that shares one document with another."""
    whole = pack.Budget(max_tokens)
    if not beside:
        return whole
    taken = beside + pack.JOIN
    return pack.Budget(
        max_tokens,
        whole.max_bytes - len(taken.encode()),
        whole.max_encoded - len(json.dumps(taken)),
    )
