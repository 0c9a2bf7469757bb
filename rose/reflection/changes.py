"""One proposed change to a store's rules, whoever proposed it, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from rose import redact

if TYPE_CHECKING:
    from rose.check.checks import Draft
    from rose.findings import Finding
    from rose.routing.rules import Rule

Kind = Literal["add", "widen-match", "widen-targets", "reword", "merge", "retire"]


@dataclass(frozen=True, slots=True)
class Change:
    """A change that is not yet checked; a retirement has no draft.

    `proposed` is the draft as a model worded it, where it was joined to a rule that stands: it is
    checked too. `rule` is the rule that changes, as it stood when the change was proposed, None
    for a new one; `others` are those that a merge retires. `feature` is what the offline
    reflector rests on, `why` what a model gave as its reason. `findings` refused it before any
    check.
    """

    kind: Kind
    draft: Draft | None = None
    proposed: Draft | None = None
    rule: Rule | None = None
    others: tuple[Rule, ...] = ()
    targets: tuple[str, ...] = ()
    feature: str = ""
    why: str = ""
    findings: tuple[Finding, ...] = ()

    @property
    def when(self) -> str:
        if self.draft is not None:
            return self.draft.condition
        return "" if self.rule is None else self.rule.when

    @property
    def then(self) -> str:
        if self.draft is not None:
            return self.draft.then
        return "" if self.rule is None else self.rule.then

    def rules(self) -> tuple[Rule, ...]:
        """Return the standing rules that the change touches."""
        return (*(() if self.rule is None else (self.rule,)), *self.others)


@dataclass(frozen=True, slots=True)
class Step:
    """A change and what became of it: the rule's id, or the findings that refused it.

    `status` is that of the rule afterwards: a proposed one waits for a person.
    """

    change: Change
    rule: str | None
    findings: tuple[Finding, ...] = ()
    status: str = "active"

    def as_json(self) -> dict[str, object]:
        """Return the step as it stands in traces and in `--json`."""
        change = self.change
        fields: dict[str, object] = {
            "kind": change.kind,
            "feature": change.feature,
            "match": [] if change.draft is None else [*map(redact.redact, change.draft.match)],
            "targets": [*map(redact.redact, change.targets)],
            "when": redact.redact(change.when),
            "then": redact.redact(change.then),
            "rule": self.rule,
            "accepted": self.rule is not None,
            "status": self.status if self.rule is not None else None,
            "findings": [redact.redact(finding.line()) for finding in self.findings],
        }
        if change.draft is not None and change.draft.effect != "prefer":
            fields["effect"] = change.draft.effect
        if change.others:
            fields["others"] = [rule.id for rule in change.others]
        if change.why:
            fields["why"] = redact.redact(change.why)
        return fields
