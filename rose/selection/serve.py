"""Recall for a session: what it holds of the lessons, and the block that a prompt is given.

A lesson that was never served comes whole or in part; one that the session still holds is left
out; one that it may have lost, or that changed since, comes as one line. docs/architecture.md.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from rose import files, redact, session
from rose import text as texts
from rose.selection import outcome, pack, pipeline, sticky, trace
from rose.selection.pipeline import Request, Shown

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from rose.layout import Store
    from rose.selection.aides import Aides
    from rose.selection.trace import Record
    from rose.store.lessons import Holding


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
        said = _nothing(self.record) if self.notice else ""
        if note is not None and (given or said):
            row = {"v": session.VERSION, "at": self.record.at, "event": event, "agent": agent}
            more = {"said": said} if said else {"served": given}
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
    """Return the kinds of nothing that a session's person was told of already."""
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
    `told` are the kinds of nothing that need not be told again, `aides` whom recall asks besides.
    """
    settings = holdings[0].settings
    budget = room_beside(beside, settings.recall_max_tokens)
    serving = cast("pack.Serving", settings.recall_serve)
    query = pipeline.query_of(prompt)
    rejected = sticky.standing(holdings, session_id, query, ())
    request = Request(query, budget, serving, session=session_id, shown=held, rejected=rejected)
    if aides is not None:
        request = replace(request, chooser=aides.chooser, judging=aides.judging)
    record, problem = pipeline.recall(request, holdings, at=at)
    encoded = json.dumps(record.text) if record.text else ""
    return Served(record, encoded, problem, notice_of(record, problem, told))


def notice_of(record: Record, problem: str, told: Collection[str]) -> str:
    """Return what the person is told: each failure, and each kind of nothing once a session."""
    row = record.as_json()
    if outcome.of(row) == "failed":
        words = f"rose: {outcome.said(row)}; {problem}"
    elif (kind := _nothing(record)) and kind not in told:
        words = f"rose: nothing is served: {outcome.said(row)}; `rose trace {record.id}`"
    else:
        return ""
    return redact.redact(texts.clean_line(words))


def _nothing(record: Record) -> str:
    """Return the kind of nothing that a person does not expect, empty for anything else.

    Where the session holds some of it nothing is lacking, and a prompt may be a mere "yes".
    """
    kind = outcome.of(record.as_json())
    holds_some = any(one["detail"] == pipeline.HELD for one in record.excluded)
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
