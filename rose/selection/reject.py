"""Reject: turn a lesson down for a session, and list what was turned down.

Nothing is turned down unseen: a record of the session must have shown the lesson's text, unless
the task alone is the reason. docs/decisions/027.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from rose.findings import Finding, Refused
from rose.selection import rejection_page, stages, trace
from rose.selection import scope as scoping
from rose.selection.rejections import Rejection
from rose.store import lessons as shelf

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rose.layout import Store
    from rose.selection.stages import Sight
    from rose.selection.trace import Row
    from rose.store.lessons import Holding


@dataclass(frozen=True, slots=True)
class Listed:
    """A rejection, what had been seen of the lesson, and the lesson's version as it now is.

    `now` is None where no active lesson has the id any more.
    """

    row: Rejection
    seen: Sight
    now: str | None

    @property
    def is_changed(self) -> bool | None:
        """Tell whether the lesson is another one now; None where nobody knows what it was."""
        return self.row.version != self.now if self.row.version else None

    def as_json(self) -> dict[str, object]:
        row = self.row
        return {
            "node": row.node,
            "session": row.session,
            "query": row.query,
            "why": row.why,
            "stage": self.seen.stage,
            "chars": self.seen.chars,
            "changed": self.is_changed,
            "version": row.version or None,
            "now": self.now,
            "trace": row.trace or None,
            "scope": None if row.scope is None else list(row.scope),
            "at": row.at or None,
            "where": row.where,
        }


class Listing(NamedTuple):
    """The rejections of some stores, and what is wrong with the rest of their files."""

    rows: tuple[Listed, ...]
    findings: tuple[Finding, ...]


def reject(
    holdings: Sequence[Holding],
    ref: str,
    *,
    query: str,
    why: str,
    session: str,
    at: str,
    by_scope: bool = False,
) -> Listed:
    """Write down that a session turns a lesson down, and return it with what was seen of it.

    Raises RoseError for an unknown lesson, Refused where nothing of it was seen, OSError where
    that cannot be told; then nothing is written.
    """
    lesson = shelf.resolve([holding.shelf for holding in holdings], ref)
    store = holdings[0].store
    records = trace.in_session(store, session)
    seen = stages.best(records, lesson.id, lesson.version)
    if seen is None and not by_scope:
        raise Refused([_unseen(lesson.id, query, session)])
    new = Rejection(
        session,
        lesson.id,
        query,
        why,
        lesson.version if seen is None or by_scope else seen.version,
        "" if seen is None else seen.trace,
        _scope_of(records) if by_scope else None,
        at,
    )
    known = {str(record["id"]): record for record in records}
    sights = {new.trace: stages.rests_on(new, seen)}

    def of(old: Rejection) -> Sight:
        if old.trace not in sights:
            sights[old.trace] = stages.of_rejection(old, known)
        return sights[old.trace]

    # The same words say more once more was seen.
    written = rejection_page.add(store, new, lambda old: not of(old).is_less_than(of(new)))
    return Listed(written, of(written), lesson.version)


def _scope_of(records: Sequence[Row]) -> tuple[str, ...]:
    """Return the globs of the session's latest call: the task's scope, as far as it is recorded."""
    scope = records[-1].get("scope") if records else None
    return tuple(map(str, scope)) if isinstance(scope, list) else ()


def _unseen(node: str, query: str, session: str) -> Finding:
    look = f"rose evidence {shlex.quote(node)} {shlex.quote(query)} --log {shlex.quote(session)}"
    return Finding(
        "reject-unseen",
        node,
        f"No record of session {session} shows any of its text.",
        f"Look first: `{look}`. --scope-reason is for what the task alone rules out.",
    )


def listing(holdings: Sequence[Holding], session: str = "") -> Listing:
    """Return what was turned down, by file and line; with a session what that one turned down."""
    now = {name: lesson.version for name, (_, lesson) in scoping.active(holdings).items()}
    rows: list[Listed] = []
    findings: list[Finding] = []
    for store in (holding.store for holding in holdings):
        page = rejection_page.of_session(store, session) if session else rejection_page.read(store)
        findings += page.findings
        known = _records(store, page.rows, findings)
        rows += [
            Listed(row, stages.of_rejection(row, known), now.get(row.node)) for row in page.rows
        ]
    return Listing(tuple(rows), tuple(findings))


def _records(store: Store, rows: Sequence[Rejection], findings: list[Finding]) -> Mapping[str, Row]:
    try:
        return trace.named(store, {row.trace for row in rows if row.trace})
    except OSError as error:
        reason = f"The traces cannot be read, so no stage is known: {error.strerror or error}."
        where = store.selections
        findings.append(Finding("traces-unreadable", where, reason, "Make it a readable file."))
        return {}
