"""Acceptance: a draft is checked against the store as it is now, then written.

Everything happens under the store's lock, so two processes never accept the same condition. A
refusal changes nothing on disk.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rose import files
from rose.check import quotes, review
from rose.check.checks import Context, Draft, check_rule
from rose.findings import Finding, Refused, errors
from rose.routing import conditions, features, ledger, rules, skips, table, wording
from rose.routing import targets as target
from rose.routing.rules import Rule

if TYPE_CHECKING:
    from collections.abc import Callable

    from rose.layout import Store


@dataclass(frozen=True, slots=True)
class Accepted:
    """The rule that was written, and the warnings that did not stop it."""

    rule: Rule
    warnings: tuple[Finding, ...]


def accept_rule(
    store: Store,
    draft: Draft,
    context: Context,
    *,
    created: str,
    new_id: Callable[[frozenset[str]], str] = table.new_id,
) -> Accepted:
    """Check a draft under the store's lock and write it; raises Refused, Locked, Unwritable.

    The rule's record counts from the end of the ledger as it then is. What waits for a person
    is kept as proposed (rose.check.review).
    """
    with files.lock(store.lock):
        born = ledger.read(store).greatest_n
        return accept_locked(store, draft, context, born=born, created=created, new_id=new_id)


def accept_locked(
    store: Store,
    draft: Draft,
    context: Context,
    *,
    born: int,
    created: str,
    new_id: Callable[[frozenset[str]], str],
) -> Accepted:
    """Do the same for a caller that holds the store's lock, and knows from where to count."""
    current = table.read(store, context.roots)
    now = replace(context, rules=current.rules)
    found = [*check_rule(draft, now), *_incumbent(draft, now)]
    known = {finding.line() for finding in check_rule(draft, context)}
    marked = [f if f.line() in known else _acceptance(f) for f in found]
    if errors(marked):
        raise Refused(marked)
    status, why = review.status_of(draft, now)
    kept = replace(draft, status=status, note=_note(draft.note, why))
    if draft.replaces is None:
        rule = rule_of(kept, context, new_id(current.ids()), born, created)
        written = table.write(store, rule)
        marked += skips.note(store, written, context.versions, born)
        return Accepted(written, tuple(marked))
    incumbent = next(rule for rule in current.rules if rule.id == draft.replaces)
    rule = rule_of(kept, context, incumbent.id, born, incumbent.created)
    changes = _changes(incumbent, rule)
    changed = table.update(store, rule.id, changes, context.roots)
    marked += skips.note(store, changed, context.versions, born)
    # The merged rules go last: a run that is killed here loses none, and a second one goes on.
    for merged in draft.merges:
        table.update(store, merged, {"status": "retired"}, context.roots)
    return Accepted(changed, tuple(marked))


def _note(note: str, why: str) -> str:
    """Return a rule's note, with the reason why it waits for a person."""
    return f"{note.rstrip()}\n\nProposed: {why}.\n".lstrip() if why else note


def _incumbent(draft: Draft, context: Context) -> list[Finding]:
    there = {rule.id for rule in context.taken_over(draft)}
    wanted = [*(() if draft.replaces is None else (draft.replaces,)), *draft.merges]
    return [
        Finding(
            "incumbent-missing",
            "id",
            f"The rule {rule_id} that the draft replaces is not there any more.",
            "Teach it as a new rule.",
        )
        for rule_id in wanted
        if rule_id not in there
    ]


def _acceptance(finding: Finding) -> Finding:
    """Mark what only the live store shows, such as a rule that was taught meanwhile."""
    return replace(finding, message=f"[acceptance] {finding.message}")


def rule_of(draft: Draft, context: Context, rule_id: str, born: int, created: str) -> Rule:
    """Return the rule that a checked draft becomes."""
    then = wording.clause(draft.then)
    return Rule(
        id=rule_id,
        when=draft.condition,
        then=then,
        effect=draft.effect,
        targets=target.targets_of(then, context.roots),
        match=draft.match,
        origin=draft.origin,
        status=draft.status,
        approval=draft.approval,
        born=born,
        created=created,
        evidence=tuple(
            replace(item, session=quotes.session_of(item, context.regions))
            for item in draft.evidence
        ),
        note=draft.note,
    )


def _changes(old: Rule, new: Rule) -> dict[str, object | None]:
    """Return the header keys in which a reworded rule differs; a person's note stays."""
    changes: dict[str, object | None] = {}
    for name in ("when", "then", "effect", "origin", "status", "approval"):
        if getattr(old, name) != getattr(new, name):
            changes[name] = getattr(new, name)
    for name in ("targets", "match"):
        if getattr(old, name) != getattr(new, name):
            changes[name] = list(getattr(new, name)) or None
    if old.evidence != new.evidence:
        changes["evidence"] = [rules.evidence_fields(item) for item in new.evidence] or None
    if is_renewed(old, new):
        changes["born"] = new.born
    return changes


def is_renewed(old: Rule, new: Rule) -> bool:
    """Tell whether a reworded rule is another claim, whose record starts now.

    One of reflection's that says what its match says, before and after, goes on with its record,
    which is replayed with the match that it has now: docs/decisions/030.
    """
    is_replayed = all(features.says_match(rule.when, rule.match) for rule in (old, new))
    if new.origin == "reflection" and is_replayed:
        return old.effect != new.effect or set(old.match).isdisjoint(new.match)
    said = conditions.key(old.when), old.effect, frozenset(old.match)
    return said != (conditions.key(new.when), new.effect, frozenset(new.match))
