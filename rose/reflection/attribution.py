"""Joins what a model says of a session to what was observed in it; observation wins.

A model may say what code cannot see: that a lesson which was opened was used, that a rule without
`match` did not apply, that a skip rule saved reading. It can credit nothing that was not
delivered, and no rule whose target was never opened (docs/decisions/022).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rose import redact
from rose.findings import Finding
from rose.routing import targets as target
from rose.routing.evidence import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rose.reflection.observe import Facts
    from rose.reflection.proposal import RuleClaim, UsedClaim
    from rose.routing.rules import Rule

USEFUL, USELESS = "followed-useful", "followed-useless"
IGNORED, NOT_APPLICABLE, MISLED = "ignored", "not-applicable", "misled"
# What was seen in the transcript and no word of a model can change.
SEEN = (USEFUL, IGNORED, NOT_APPLICABLE, MISLED)
_AGAIN = "Claim only what the facts of the question bear."


@dataclass(frozen=True, slots=True)
class Attribution:
    """What rests on a model's word alone: ids of used lessons, and verdicts by rule id."""

    used: tuple[str, ...] = ()
    verdicts: Mapping[str, str] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()


def attribute(
    facts: Facts,
    used: Sequence[UsedClaim],
    claims: Sequence[RuleClaim],
    rules: Iterable[Rule],
) -> Attribution:
    """Return what a model's claims add to the facts, and the claims that were refused.

    `rules` are those of the store; a claim about a rule of no store is refused like one about a
    rule that was not delivered.
    """
    findings: list[Finding] = []
    named = tuple(_used(facts, used, findings))
    opened = {found.lesson.id: found.lesson.path for found in facts.opened}
    paid = [opened[lesson] for lesson in named]
    by_id = {rule.id: rule for rule in rules}
    verdicts: dict[str, str] = {}
    for claim in claims:
        rule = by_id.get(claim.rule)
        # The facts hold a verdict, if only `unknown`, on each rule that arrived as it stands now.
        if rule is None or rule.id not in facts.verdicts:
            message = (
                f"The rule {redact.beginning(claim.rule, 20)!r} was not delivered in this session."
            )
            findings.append(Finding("credit-undelivered", "rules", message, _AGAIN))
            continue
        seen = facts.verdicts[rule.id]
        said = _skip(rule, seen, claim, opened.values())
        if rule.effect == "prefer":
            said = _prefer(rule, seen, claim, paid, findings)
        if said not in (seen, UNKNOWN):
            verdicts[rule.id] = said
    return Attribution(named, verdicts, tuple(findings))


def _used(facts: Facts, claims: Sequence[UsedClaim], findings: list[Finding]) -> Iterator[str]:
    """Yield the lessons that only the model says were used; it must have opened them."""
    opened = {found.lesson.id for found in facts.opened}
    done = {found.lesson.id for found in facts.used}
    for claim in claims:
        if claim.lesson in done:
            continue
        if claim.lesson in opened:
            done.add(claim.lesson)
            yield claim.lesson
        else:
            message = (
                f"The lesson {redact.beginning(claim.lesson, 80)!r} was not opened in this session."
            )
            findings.append(Finding("used-unopened", "used", message, _AGAIN))


def _prefer(
    rule: Rule, seen: str, claim: RuleClaim, paid: Sequence[str], findings: list[Finding]
) -> str:
    if seen == USELESS:
        # It was opened; that nothing of it stands in a later call is no proof that it was idle.
        is_paid = any(target.lead_to(rule.targets, path) for path in paid)
        return USEFUL if claim.paid == "yes" and is_paid else seen
    if seen not in SEEN and "yes" in (claim.followed, claim.paid):
        message = f"No target of {rule.id} was opened after it was delivered."
        findings.append(Finding("credit-unfollowed", "rules", message, _AGAIN))
    if seen in SEEN:
        return seen
    return {"yes": IGNORED, "no": NOT_APPLICABLE}.get(claim.applied, UNKNOWN)


def _skip(rule: Rule, seen: str, claim: RuleClaim, opened: Iterable[str]) -> str:
    if seen in SEEN or claim.applied == "unknown":
        return seen
    if claim.applied == "no":
        return NOT_APPLICABLE
    if claim.followed == "no" or any(target.lead_to(rule.targets, path) for path in opened):
        return IGNORED
    if claim.followed == "unknown":
        return seen
    return {"yes": USEFUL, "no": USELESS}.get(claim.paid, seen)
