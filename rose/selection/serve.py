"""Recall for a session: what it holds of the lessons, and the block that a prompt is given.

A lesson that was never served comes whole or in part; one that the session still holds is left
out; one that it may have lost, or that changed since, comes as one line. docs/architecture.md.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rose import files, redact, session
from rose import text as texts
from rose.selection import outcome, pack, pipeline, requests, trace
from rose.selection.requests import Shown

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from rose.layout import Store
    from rose.selection.aides import Aides
    from rose.selection.trace import Record
    from rose.store.lessons import Holding

# What was served, or not, without all that it should have rested on.
LACKING = "lacking"


@dataclass(frozen=True, slots=True)
class Served:
    """What recall gives to one prompt; `encoded` is its block as JSON, empty without one.

    `notice` is what the person is told of it, empty for nothing.
    """

    record: Record
    encoded: str
    problem: str
    notice: str = ""

    def beside(self, first: str) -> str:
        """Return another block and this one as one JSON string literal."""
        if not first or not self.encoded:
            return first or self.encoded
        return first[:-1] + json.dumps(pack.JOIN)[1:-1] + self.encoded[1:]

    def write(self, store: Store, note: str | None, event: str, agent: str | None) -> None:
        """Note for the session what was served, and write the record; raises Unwritable."""
        given = {str(one["node"]): one["version"] for one in self.record.admitted}
        said = _news(self.record, self.problem) if self.notice else ""
        if note is not None and (given or said):
            row = {"v": session.VERSION, "at": self.record.at, "event": event, "agent": agent}
            more = {**({"said": said} if said else {}), **({"served": given} if given else {})}
            files.append_line(note, files.dump_json({**row, **more}))
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


def kinds_told(notes: Sequence[Mapping[str, object]]) -> frozenset[str]:
    """Return the kinds of nothing and of failure that a session's person was told of already."""
    return frozenset(str(line["said"]) for line in notes if "said" in line)


def serve(
    holdings: Sequence[Holding],
    prompt: str,
    *,
    session_id: str,
    held: Mapping[str, Shown],
    beside: str,
    at: str,
    told: Collection[str] = (),
    aides: Aides | None = None,
) -> Served:
    """Return what a prompt is given, as the first store's settings have it.

    `held` is what the session was shown before, `beside` the block that goes with this one.
    `told` are the kinds that need not be told again, `aides` whom recall asks besides.
    """
    asked = requests.of(holdings, prompt, session=session_id)
    budget = room_beside(beside, asked.budget.max_tokens)
    request = replace(asked, budget=budget, shown=held)
    if aides is not None:
        request = replace(request, chooser=aides.chooser, judging=aides.judging)
    record, problem = pipeline.recall(request, holdings, at=at)
    encoded = json.dumps(record.text) if record.text else ""
    return Served(record, encoded, problem, notice_of(record, problem, told))


def record_unserved(holdings: Sequence[Holding], prompt: str, *, session_id: str, at: str) -> None:
    """Write the record of a prompt that could wait no longer; raises Unwritable."""
    request = requests.of(holdings, prompt, session=session_id)
    trace.append(holdings[0].store, pipeline.unfinished(request, holdings, at=at))
    # What took so long is derived and kept, so that it is there for the next prompt.
    pipeline.recall(request, holdings, at=at)


def notice_of(record: Record, problem: str, told: Collection[str]) -> str:
    """Return what the person is told: each kind of failure and of nothing once a session."""
    kind, row = _news(record, problem), record.as_json()
    if not kind or kind in told:
        return ""
    if kind == LACKING:
        words = f"rose: {problem}"
    elif record.failure == kind:
        words = f"rose: {outcome.said(row)}; {problem}"
    else:
        words = f"rose: nothing is served: {outcome.said(row)}; `rose trace {record.id}`"
    return redact.redact(texts.clean_line(words))


def _news(record: Record, problem: str) -> str:
    """Return the kind of failure, or of nothing that a person does not expect, else nothing.

    Where the session holds some of it nothing is lacking, and a prompt may be a mere "yes".
    """
    kind = outcome.of(record.as_json())
    if kind == "failed":
        return str(record.failure)
    if problem:
        return LACKING
    holds_some = any(one["shown"] == "held" for one in record.selected)
    return kind if kind == "not-found" or (kind == "excluded" and not holds_some) else ""


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
