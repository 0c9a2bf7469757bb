"""Outcome: what a recall came to, and each of its lessons, in words a person reads.

An empty text is never left to speak for itself. There are four kinds of nothing: retrieval was left
out, nothing was found (where the prompt has no word to look for, that is said), a stage failed,
and all that was found was turned down.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from rose.selection.search import NO_WORD
from rose.selection.trace import items

if TYPE_CHECKING:
    from rose.selection.trace import Row

# failed: a stage of it did, whatever is served all the same.
CameTo = Literal["served", "left-out", "unasked", "not-found", "failed", "excluded"]

FAILED = {
    "search-failed": "the search failed",
    "selection-failed": "the selection failed",
    "judge-failed": "the judge failed",
}
# What fails after the call, and leaves what it came to as it was.
LATER = {
    "consumer-failed": "the session could not be read afterwards",
    "output-invalid": "what the reflector said of the lessons' use could not be read",
    "citation-unresolved": "it cited a lesson that is there no more",
}
SERVED = "served"
# What was excluded for these had been read.
READ = ("revoked", "wrong-version", "over-budget")
# In the order in which a judge is asked.
JUDGED = ("rerank", "filter", "compress")


def of(row: Row) -> CameTo:
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
        return f"the prompt {NO_WORD}"
    if came_to == "excluded":
        return f"all that was selected fell: {account(row)}"
    return _none(row) if came_to == "not-found" else account(row)


class Fate(NamedTuple):
    """What became of a lesson: served, or the reason why not, with the particulars."""

    reason: str
    detail: str = ""

    def said(self) -> str:
        if self.reason == SERVED:
            return f"{SERVED}, {self.detail}"
        return f"{self.reason}: {self.detail}" if self.detail else self.reason


def of_lessons(row: Row) -> dict[str, Fate]:
    """Return what became of the lessons that a record selected, by id."""
    served = {str(x.get("node")): Fate(SERVED, str(x.get("form"))) for x in items(row, "admitted")}
    excluded = {
        str(x.get("node")): Fate(str(x.get("reason")), str(x.get("detail") or ""))
        for x in items(row, "excluded")
    }
    return served | excluded


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
    return isinstance(why, dict) and any(mode in why for mode in JUDGED)
