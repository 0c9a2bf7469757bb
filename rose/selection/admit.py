"""Admission: which of the lessons that were selected may be served, as the store is now.

A selection is a proposal. Each file is read once, here, so that what is served is what was
judged. Rules are admitted by `routing.layer.fit`. docs/decisions/024.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from rose.selection import pack
from rose.selection import scope as scoping
from rose.selection.costs import Costs
from rose.store import lessons, parse, walk

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rose.layout import Store
    from rose.selection.pack import Budget, Entry, Piece, Serving
    from rose.store.lessons import Holding, Lesson

Reason = Literal[
    "out-of-scope",
    "revoked",
    "missing",
    "wrong-version",
    "over-budget",
    "below-threshold",
    "rejected-earlier",
    "not-selected",
]

# Those that a stage before admission may have.
EARLIER = ("below-threshold", "rejected-earlier", "not-selected")


@dataclass(frozen=True, slots=True)
class Refusal:
    """What keeps one lesson out, and the particulars."""

    reason: Reason
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A lesson as it was selected, and why.

    `refusal` is what the selection itself has against it. Of what the session was shown before,
    `is_held` says that it still holds it, `is_again` that it may have lost it. `kept` are the spans
    of its text that a judge left, None where all of it stays.
    """

    node: str
    version: str
    why: Mapping[str, float] = field(default_factory=dict)
    refusal: Refusal | None = None
    is_again: bool = False
    is_held: bool = False
    kept: tuple[tuple[int, int], ...] | None = None


@dataclass(frozen=True, slots=True)
class Terms:
    """What a caller allows: its scope, its budget, and how lessons are served for a query."""

    scope: Sequence[str]
    budget: Budget
    serving: Serving
    words: Sequence[str]


@dataclass(frozen=True, slots=True)
class Admission:
    """Every proposal once, in order: served or excluded. `counter` is None where none counted."""

    admitted: tuple[Entry, ...]
    excluded: tuple[tuple[Proposal, Refusal], ...]
    text: str
    tokens: int
    counter: str | None


def admit(proposals: Sequence[Proposal], holdings: Sequence[Holding], terms: Terms) -> Admission:
    """Return what of some proposals is served and why the others are not, best first.

    Reads the files as they are at this moment. No node may be proposed twice.
    """
    known = scoping.everything(holdings)
    store, budget = holdings[0].store, terms.budget
    costs = Costs(store.words_cache, exact=budget.exact)
    packed = pack.Pack(store.base, budget, terms.words, terms.serving, costs.of)
    excluded: list[tuple[Proposal, Refusal]] = []
    for proposal in proposals:
        found = examine(proposal, known, terms.scope)
        if not isinstance(found, Refusal):
            costs.expect("\n".join(f"> {line}" for line in found.lines))
            lack = packed.take(found, is_again=proposal.is_again)
            if not lack:
                continue
            found = Refusal("over-budget", lack)
        excluded.append((proposal, found))
    packed.widen()
    entries = tuple(packed.admitted())
    counter = costs.counter if packed.is_counted else None
    costs.save()
    return Admission(entries, tuple(excluded), packed.text(), packed.tokens, counter)


def examine(proposal: Proposal, known: scoping.Known, scope: Sequence[str]) -> Piece | Refusal:
    """Return a proposed lesson as it can be served, or what keeps it out."""
    if proposal.node not in known:
        return Refusal("missing", "no lesson has this id")
    store, lesson = known[proposal.node]
    if not scoping.holds(scope, lesson):
        return Refusal("out-of-scope", f"{lesson.path} is not in {', '.join(scope)}")
    return proposal.refusal or _read(proposal, store, lesson)


def _read(proposal: Proposal, store: Store, lesson: Lesson) -> Piece | Refusal:
    place = walk.where(store, lesson.path)
    try:
        part = lessons.now(store, lesson)
        is_other = part.version != lesson.version
        parsed = parse.read(os.path.join(store.base, lesson.path)) if is_other else None
    except OSError as error:
        return Refusal("missing", f"{place}: {error.strerror or error}")
    status = lesson.status if parsed is None else parsed.status
    if status != "active":
        return Refusal("revoked", status)
    if part.version != proposal.version:
        return Refusal("wrong-version", f"selected {proposal.version}, now {part.version}")
    title, gist = (lesson.title, lesson.gist) if parsed is None else (parsed.title, parsed.gist)
    says = {"title": title, "gist": gist, "body": part.body}
    whole = pack.piece(proposal.node, part.version, place=place, **says)
    return whole if proposal.kept is None else pack.cut(whole, proposal.kept)
