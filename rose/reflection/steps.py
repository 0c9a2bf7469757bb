"""Takes one proposed change through the checks that every rule passes, and writes it if it stands.

What fails is a step with its findings: never repaired, never half applied. A change to a rule
that somebody changed since it was proposed is refused.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rose.check import accept, checks
from rose.check import context as contexts
from rose.findings import Finding, Refused, errors
from rose.reflection import shown
from rose.reflection.changes import Change, Step
from rose.routing import table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rose.reflection.passes import Pass
    from rose.reflection.planning import Proposed
    from rose.routing.rules import Rule


def check(one: Pass, proposed: Proposed) -> tuple[Step, ...]:
    """Say what would become of the changes, each by itself; nothing is written."""
    context = _context(one, proposed)
    return tuple(_checked(change, context) for change in proposed.changes)


def _checked(change: Change, context: checks.Context) -> Step:
    known = "new" if change.rule is None else change.rule.id
    findings = [*change.findings, *_worded(change, context)]
    if change.draft is not None:
        findings += checks.check_rule(change.draft, context)
    return Step(change, None if errors(findings) else known, _once(findings))


def _worded(change: Change, context: checks.Context) -> list[Finding]:
    """Return what is wrong with a text that is not kept, but brought what is."""
    return [] if change.proposed is None else list(checks.check_rule(change.proposed, context))


def _once(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(dict.fromkeys(findings))


def take(one: Pass, proposed: Proposed, fresh: Sequence[str], n: int) -> tuple[Step, ...]:
    """Apply the changes in order; the caller holds the lock. `fresh` holds an id for each.

    Raises Unwritable, and then a second run goes on where this one stopped.
    """
    context = _context(one, proposed)
    return tuple(
        _take(change, context, one, new_id, n)
        for change, new_id in zip(proposed.changes, fresh, strict=True)
    )


def _take(change: Change, context: checks.Context, one: Pass, fresh: str, n: int) -> Step:
    store, roots = one.holding.store, one.holding.settings.lessons_paths
    standing = table.read(store, roots).rules
    findings = [*change.findings, *_moved(change, standing)]
    if errors(findings):
        return Step(change, None, _once(findings))
    draft = change.draft
    if draft is None:
        if change.rule is None:
            return Step(change, None, _once(findings))
        table.update(store, change.rule.id, {"status": "retired"}, roots)
        return Step(change, change.rule.id, _once(findings), "retired")
    findings += _worded(change, replace(context, rules=standing))
    if errors(findings):
        return Step(change, None, _once(findings))
    try:
        accepted = accept.accept_locked(
            store, draft, context, born=n, created=one.at, new_id=lambda _: fresh
        )
    except Refused as refused:
        return Step(change, None, _once([*findings, *refused.findings]))
    found = _once([*findings, *accepted.warnings])
    return Step(change, accepted.rule.id, found, accepted.rule.status)


def _moved(change: Change, rules: Sequence[Rule]) -> list[Finding]:
    """Return a finding for each rule that is not as the reflector saw it."""
    standing = {rule.id: rule for rule in rules}
    message = "[acceptance] The rule was changed since the reflector saw it."
    return [
        Finding("rule-changed", rule.id, message, "Nothing to do: the next session sees it anew.")
        for rule in change.rules()
        if standing.get(rule.id) != rule
    ]


def _context(one: Pass, proposed: Proposed) -> checks.Context:
    holding = one.holding
    context = contexts.of_store(holding, holding.settings.routing_max_tokens)
    return replace(
        context,
        regions={one.facts.session: proposed.quotes.regions},
        shown=shown.of_facts(one.facts, holding.store.kind),
    )
