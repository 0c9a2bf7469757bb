"""What a person decides about a rule that is there: forget it, bring it back, approve, decline.

Each decision is made under the store's lock. A rule that becomes active again is held against
the table as it now is, like a taught one. Approving one side of a question declines the other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rose import files
from rose.check.checks import Context, Draft, check_rule
from rose.errors import RoseError
from rose.findings import Finding, Refused, errors
from rose.routing import conditions, forgotten, ledger, questions, skips, table

if TYPE_CHECKING:
    from rose.layout import Store
    from rose.routing.rules import Rule

APPROVED = {"status": "active", "approval": "approved"}
DECLINED = {"status": "declined", "approval": "declined"}


@dataclass(frozen=True, slots=True)
class Decided:
    """The rule as it is now, the warnings, and the rules that were declined because of it."""

    rule: Rule
    warnings: tuple[Finding, ...] = ()
    declined: tuple[Rule, ...] = ()


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


def restore(store: Store, rule_id: str, context: Context) -> Decided:
    """Make a retired rule active again; from then on it is a person's and does not retire.

    Raises Refused where it would be refused if taught now.
    """
    with files.lock(store.lock):
        rule = _readable(store, rule_id, context.roots)
        if rule.status != "retired":
            raise RoseError(f"{rule_id} is {rule.status}, not retired: nothing to restore.")
        return _activate(store, rule, context)


def approve(store: Store, rule_id: str, context: Context) -> Decided:
    """Make a proposed or declined rule active by a person's decision, or confirm an active one.

    Where it is one side of a question, what says the opposite and was not approved is declined.
    """
    with files.lock(store.lock):
        rule = _readable(store, rule_id, context.roots)
        if rule.status == "retired":
            raise RoseError(f"{rule_id} is retired. `rose route --restore {rule_id}` revives it.")
        current = table.read(store, context.roots).rules
        key = conditions.key(rule.when)
        opposite = questions.opponents(key, rule.effect, rule.targets, current)
        against = [other for other in opposite if other.approval != "approved"]
        is_settled = rule.status == "active" and rule.approval == "approved" and not against
        # A skip rule can be approved once more, for its lessons as they are by then.
        if is_settled and rule.effect != "skip":
            raise RoseError(f"{rule_id} is approved already.")
        others = tuple(other for other in current if other not in against)
        decided = _activate(store, rule, replace(context, rules=others))
        declined = [table.update(store, one.id, DECLINED, context.roots) for one in against]
        return replace(decided, declined=tuple(declined))


def decline(store: Store, rule_id: str, roots: tuple[str, ...]) -> Decided:
    """Take a rule out of use by a person's decision; its file stays."""
    with files.lock(store.lock):
        rule = _readable(store, rule_id, roots)
        if rule.status == "declined":
            raise RoseError(f"{rule_id} is declined already.")
        return Decided(table.update(store, rule_id, DECLINED, roots))


def _readable(store: Store, rule_id: str, roots: tuple[str, ...]) -> Rule:
    rule = find(table.read(store, roots), rule_id)
    if rule is None:
        why = "`rose route` says why; mend its file first."
        raise RoseError(f"{rule_id} cannot be read. {why}")
    return rule


def _activate(store: Store, rule: Rule, context: Context) -> Decided:
    # The evidence was matched when the rule came in, and a person vouches for it now.
    draft = Draft(rule.when, rule.then, rule.effect, rule.match, replaces=rule.id)
    findings = list(check_rule(draft, context))
    if errors(findings):
        raise Refused(findings)
    changed = table.update(store, rule.id, APPROVED, context.roots)
    findings += skips.note(store, changed, context.versions, ledger.read(store).greatest_n)
    return Decided(changed, tuple(findings))
