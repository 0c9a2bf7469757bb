"""What a person decides about a rule that is there: forget it, bring it back, approve, decline.

Each decision is one file change under the store's lock. A rule that becomes active again is held
against the table as it now is, like a taught one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rose import files
from rose.check.checks import Context, Draft, check_rule
from rose.errors import RoseError
from rose.findings import Finding, Refused, errors
from rose.routing import forgotten, table

if TYPE_CHECKING:
    from rose.layout import Store
    from rose.routing.rules import Rule


def find(current: table.Table, rule_id: str) -> Rule | None:
    """Return the readable rule of an id."""
    return next((rule for rule in current.rules if rule.id == rule_id), None)


def forget(store: Store, rule_id: str, roots: tuple[str, ...], at: str) -> str | None:
    """Delete a rule's file and return the path of the rejection that it leaves.

    A file that holds no readable rule leaves none: nothing is known of what it said.
    """
    with files.lock(store.lock):
        rule = find(table.read(store, roots), rule_id)
        left = None if rule is None else forgotten.write(store, rule, at)
        try:
            table.delete(store, rule_id)
        except RoseError:
            if left is not None:
                files.delete(left)
            raise
        return left


def restore(store: Store, rule_id: str, context: Context) -> tuple[Rule, list[Finding]]:
    """Make a retired rule active again; from then on it is a person's and does not retire.

    Returns the rule and the warnings. Raises Refused where it would be refused if taught now.
    """
    with files.lock(store.lock):
        rule = _readable(store, rule_id, context)
        if rule.status != "retired":
            raise RoseError(f"{rule_id} is {rule.status}, not retired: nothing to restore.")
        return _activate(store, rule, context)


def approve(store: Store, rule_id: str, context: Context) -> tuple[Rule, list[Finding]]:
    """Make a proposed or declined rule active by a person's decision, or confirm an active one."""
    with files.lock(store.lock):
        rule = _readable(store, rule_id, context)
        if rule.status == "retired":
            raise RoseError(f"{rule_id} is retired. `rose route --restore {rule_id}` revives it.")
        if rule.status == "active" and rule.approval == "approved":
            raise RoseError(f"{rule_id} is approved already.")
        return _activate(store, rule, context)


def decline(store: Store, rule_id: str, roots: tuple[str, ...]) -> Rule:
    """Take a rule out of use by a person's decision; its file stays."""
    with files.lock(store.lock):
        rule = find(table.read(store, roots), rule_id)
        if rule is None:
            raise _unreadable(rule_id)
        if rule.status == "declined":
            raise RoseError(f"{rule_id} is declined already.")
        return table.update(store, rule_id, {"status": "declined", "approval": "declined"}, roots)


def _readable(store: Store, rule_id: str, context: Context) -> Rule:
    rule = find(table.read(store, context.roots), rule_id)
    if rule is None:
        raise _unreadable(rule_id)
    return rule


def _unreadable(rule_id: str) -> RoseError:
    return RoseError(f"{rule_id} cannot be read. `rose route` says why; mend its file first.")


def _activate(store: Store, rule: Rule, context: Context) -> tuple[Rule, list[Finding]]:
    # The evidence was matched when the rule came in, and a person vouches for it now.
    draft = Draft(rule.when, rule.then, rule.effect, rule.match, replaces=rule.id)
    findings = list(check_rule(draft, context))
    if errors(findings):
        raise Refused(findings)
    changes = {"status": "active", "approval": "approved"}
    changed = table.update(store, rule.id, changes, context.roots)
    return changed, findings
