"""Replay: a recorded call made again from its record, without a model and without a judge.

What was asked, what was answered (by a fork or a judge too) and what the session held come from
the record; search, admission and text are worked out anew over the store as it is now.
"""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any, cast

from rose import tokens
from rose.errors import RoseError
from rose.selection import admit, lookups, outcome, pipeline, search, trace
from rose.selection import scope as scoping
from rose.selection.admit import Proposal, Refusal
from rose.selection.chosen import Selection
from rose.selection.outcome import Fate
from rose.selection.pack import Budget
from rose.selection.requests import Request
from rose.selection.trace import Record, items

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rose.selection.pack import Serving
    from rose.selection.trace import Candidate, Row
    from rose.store.lessons import Holding

# What a replay has to give again, in the order in which it comes about.
STAGES = (
    "counter",
    "candidates",
    "selected",
    "admitted",
    "excluded",
    "text",
    "tokens",
    "failure",
)
# What was asked and by whom, which no replay asks again.
ASKED = ("id", "at", "session", "budget", "judge", "looked", "approval", *trace.BECAME)
# Failures of stages that a replay takes from the record.
ANSWERED = ("selection-failed", "judge-failed")
_SHOWN = 60
# No call takes a limit above this.
_MOST = 1_000_000_000


def replay(row: Row, holdings: Sequence[Holding]) -> Row:
    """Return the record that the call would leave now, under the id and the time of the old one.

    Raises RoseError where the record lacks what a call needs.
    """
    kind = row.get("kind")
    if kind == "recall":
        made = _recall(row, holdings)
    elif kind == "search":
        made = _search(row, holdings)
    elif kind == "evidence":
        made = _evidence(row, holdings)
    else:
        raise RoseError(f"{row['id']} is of the kind {kind!r}, which cannot be replayed.")
    # As JSON gives it back, so that it can be compared.
    again: dict[str, Any] = json.loads(json.dumps(made.as_json()))
    if not any("chars" in one for one in items(row, "admitted")):
        # A record from before the characters were counted.
        again["admitted"] = [_without(one, "chars") for one in again["admitted"]]
    return {**again, **{name: row[name] for name in ASKED if name in row}}


def _without(one: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in one.items() if key != name}


def _recall(row: Row, holdings: Sequence[Holding]) -> Record:
    limits = _limits(row)
    request = Request(
        _text(row, "query"),
        _budget(row, limits),
        cast("Serving", limits.get("serving", "bodies")),
        _number(limits, "k"),
        _scope(row),
        "no-retrieval" if row.get("condition") == "no-retrieval" else "retrieval",
        _text(row, "session"),
    )
    at = _text(row, "at")
    failed = row.get("failure")
    answer = Selection(_answer(row), failed if failed in ANSWERED else None)
    return pipeline.recall(request, holdings, at=at, answer=answer).record


def _search(row: Row, holdings: Sequence[Holding]) -> Record:
    limits = _limits(row)
    k, chars = _number(limits, "k"), _number(limits, "chars")
    found = search.search(holdings, _text(row, "query"), k=k, chars=chars, scope=_scope(row))
    return _looked_up(row, "search", holdings, lookups.of_search(found))


def _evidence(row: Row, holdings: Sequence[Holding]) -> Record:
    named = [str(one.get("node")) for one in items(row, "candidates")]
    if not named:
        raise RoseError(f"{row['id']} names no lesson, so it cannot be replayed.")
    look = _opening if "first" in _limits(row) else _passages
    return _looked_up(row, "evidence", holdings, look(row, holdings, named[0]))


def _passages(row: Row, holdings: Sequence[Holding], node: str) -> list[Candidate]:
    limits, query = _limits(row), _text(row, "query")
    chars, count = _number(limits, "chars"), _number(limits, "windows")
    # Where the lesson is gone nothing is shown of it, which is the difference.
    with contextlib.suppress(RoseError):
        found = search.evidence(holdings, node, query, chars=chars, count=count)
        return lookups.of_passages(found)
    return []


def _opening(row: Row, holdings: Sequence[Holding], node: str) -> list[Candidate]:
    limits = _limits(row)
    first, last = _number(limits, "first"), _number(limits, "last")
    with contextlib.suppress(RoseError):
        return lookups.of_opening(search.opening(holdings, node, first, last))
    return []


def _looked_up(
    row: Row, kind: trace.Kind, holdings: Sequence[Holding], shown: Sequence[Candidate]
) -> Record:
    return Record(
        id="",
        at="",
        session="",
        kind=kind,
        query=_text(row, "query"),
        store=trace.state_of(holdings),
        scope=_scope(row),
        budget=_limits(row),
        candidates=shown,
    )


def today(row: Row, again: Row, holdings: Sequence[Holding]) -> Mapping[str, str]:
    """Return which of a record's lessons would be excluded now, each with the reason in words.

    `again` is its replay. Those are the selected ones, or, of a call that selected none, those
    that it showed.
    """
    if row.get("kind") == "recall":
        fates = outcome.of_lessons(again).items()
        return {node: fate.said() for node, fate in fates if fate.reason != outcome.SERVED}
    known, scope = scoping.everything(holdings), _scope(row)
    shown = {one.node: one for one in (_proposal(one, {}) for one in items(row, "candidates"))}
    found = {node: admit.examine(one, known, scope) for node, one in shown.items()}
    refused = {node: one for node, one in found.items() if isinstance(one, Refusal)}
    return {node: Fate(one.reason, one.detail).said() for node, one in refused.items()}


def difference(recorded: Row, again: Row) -> str:
    """Return the first place in which two records differ, empty where none does."""
    for stage in STAGES:
        found = _unlike(recorded.get(stage), again.get(stage), stage)
        if found:
            return found
    return ""


def _unlike(one: object, other: object, place: str) -> str:
    if isinstance(one, dict) and isinstance(other, dict):
        pairs = [(one.get(name), other.get(name), f"{place}.{name}") for name in {**one, **other}]
    elif isinstance(one, list) and isinstance(other, list) and one and other:
        longest = range(max(len(one), len(other)))
        pairs = [(_at(one, n), _at(other, n), f"{place}[{n}]") for n in longest]
    elif one != other:
        return f"{place}: recorded {_said(one, other)}, now {_said(other, one)}"
    else:
        pairs = []
    return next((found for pair in pairs if (found := _unlike(*pair))), "")


def _at(values: Sequence[object], number: int) -> object:
    return values[number] if number < len(values) else None


def _said(one: object, other: object) -> str:
    """Return a value, of a long text the part in which it parts from the other."""
    if isinstance(one, str) and isinstance(other, str):
        pairs = enumerate(zip(one, other, strict=False))
        apart = next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
        start = max(0, apart - _SHOWN // 2)
        return json.dumps(one[start : start + _SHOWN], ensure_ascii=False)
    shown = json.dumps(one, ensure_ascii=False)
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"


def _answer(row: Row) -> list[Proposal]:
    """Return the recorded selection, with what the selection itself had against a lesson."""
    known = {
        str(one.get("node")): Refusal(one["reason"], str(one.get("detail", "")))
        for one in items(row, "excluded")
        if one.get("reason") in admit.EARLIER
    }
    named = {str(one.get("node")): one for one in items(row, "selected")}
    return [_proposal(one, known) for one in named.values()]


def _proposal(one: Mapping[str, Any], refused: Mapping[str, Refusal]) -> Proposal:
    node = str(one.get("node"))
    why = one.get("why")
    return Proposal(
        node,
        str(one.get("version")),
        why if isinstance(why, dict) else {},
        refused.get(node),
        is_again=one.get("shown") == "again",
        is_held=one.get("shown") == "held",
        kept=_kept(one.get("kept")),
    )


def _kept(spans: object) -> tuple[tuple[int, int], ...] | None:
    """Return the spans that a judge left, as far as they are any, None where all was left."""
    if not isinstance(spans, list):
        return None
    return tuple(
        (start, end)
        for one in spans
        if isinstance(one, list) and [type(at) for at in one] == [int, int]
        for start, end in [one]
        if 0 <= start <= end
    )


def _limits(row: Row) -> Mapping[str, Any]:
    limits = row.get("budget")
    return limits if isinstance(limits, dict) else {}


def _budget(row: Row, limits: Mapping[str, Any]) -> Budget:
    most, size, encoded = (_number(limits, name) for name in ("tokens", "bytes", "encoded"))
    return Budget(most, size, encoded, exact=row.get("counter") != tokens.BYTES)


def _number(limits: Mapping[str, Any], name: str) -> int:
    found = limits.get(name)
    if type(found) is not int or not 0 <= found <= _MOST:
        reason = f"has {found!r} as its `{name}`" if name in limits else f"has no `{name}`"
        raise RoseError(f"The record's budget {reason[:_SHOWN]}, so it cannot be replayed.")
    return found


def _scope(row: Row) -> list[str]:
    scope = row.get("scope")
    return [str(glob) for glob in scope] if isinstance(scope, list) else []


def _text(row: Row, name: str) -> str:
    return str(row.get(name) or "")
