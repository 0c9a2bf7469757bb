"""Outcome: what a recall came to, in one word and in words a person reads.

An empty text is never left to speak for itself. That nothing was looked for, that nothing was
found, that something failed, and that all that was found fell are four things.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from rose.selection.trace import items

if TYPE_CHECKING:
    from rose.selection.trace import Row

# failed: a stage of it did, whatever is served all the same.
Outcome = Literal["served", "left-out", "unasked", "not-found", "failed", "excluded"]

FAILED = {
    "search-failed": "the search failed",
    "selection-failed": "the selection failed",
    "judge-failed": "the judge failed",
    "consumer-failed": "what was to use it failed",
}
# What was excluded for these had been read.
READ = ("revoked", "wrong-version", "over-budget")
JUDGED = frozenset(("rerank", "filter", "compress"))


def of(row: Row) -> Outcome:
    """Return what a recall came to."""
    failure = str(row.get("failure"))
    if failure in FAILED:
        return "failed"
    if row.get("condition") == "no-retrieval":
        return "left-out"
    if failure == "bad-request":
        return "unasked"
    if items(row, "admitted"):
        return "served"
    return "excluded" if items(row, "selected") else "not-found"


def said(row: Row) -> str:
    """Return in words what a recall came to, and what a text or the lack of one rests on."""
    came_to = of(row)
    if came_to == "failed":
        return f"degraded, {FAILED[str(row['failure'])]}: {account(row)}"
    if came_to == "left-out":
        return "retrieval was left out"
    if came_to == "unasked":
        return "the prompt holds no word that could be looked for"
    if came_to == "excluded":
        return f"all that was selected fell: {account(row)}"
    return _none(row) if came_to == "not-found" else account(row)


def _none(row: Row) -> str:
    found = len(items(row, "candidates"))
    if found:
        return f"none of {found} that were found was selected"
    where = " in that scope" if row.get("scope") else ""
    state = row.get("store")
    count = state.get("lessons", 0) if isinstance(state, dict) else 0
    return f"of {count} {'lesson' if count == 1 else 'lessons'} none{where} is about that"


def account(row: Row) -> str:
    """Return in words what a record's text, or its lack of one, rests on."""
    judged = [one.get("node") for one in items(row, "selected") if _is_judged(one.get("why"))]
    unread = [one for one in items(row, "excluded") if one.get("node") not in judged]
    excluded = [str(one.get("reason")) for one in items(row, "excluded")]
    fell = ", ".join(f"{excluded.count(reason)} {reason}" for reason in dict.fromkeys(excluded))
    admitted = len(items(row, "admitted"))
    opened = admitted + len(excluded) - sum(one.get("reason") not in READ for one in unread)
    found, selected = len(items(row, "candidates")), len(items(row, "selected"))
    said = f"found {found}, selected {selected}, admitted {admitted}, excluded {len(excluded)}"
    return f"{said}{f' ({fell})' if fell else ''}, opened {opened}"


def _is_judged(why: object) -> bool:
    """Tell whether a judge read a lesson, by what gave it its place."""
    return isinstance(why, dict) and not JUDGED.isdisjoint(why)
