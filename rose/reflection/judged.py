"""Turns what a model answered into changes for the check, each with the quotes it rests on.

A model may change only what reflection wrote and nobody decided on, and may retire no rule whose
record speaks for it. Whatever it says besides is a finding.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rose import redact
from rose import text as texts
from rose.check import quotes as checking
from rose.check.checks import Draft
from rose.findings import Finding
from rose.hosts import base
from rose.reflection import evidence, reconcile
from rose.reflection.changes import Change
from rose.reflection.planning import Proposed, joined
from rose.routing import targets as target
from rose.routing.evidence import live_net
from rose.routing.rules import Evidence

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rose.reflection.passes import Pass
    from rose.reflection.proposal import Operation, Proposal, Quote
    from rose.routing.evidence import Standing
    from rose.routing.rules import Rule


@dataclass(frozen=True, slots=True)
class Ground:
    """The rules of the store that learns, and their record."""

    rules: Sequence[Rule]
    standings: Mapping[str, Standing]
    roots: tuple[str, ...]


def propose(one: Pass, proposal: Proposal, ground: Ground) -> Proposed:
    """Return the changes that a model proposes, with the regions that hold their quotes."""
    session = one.facts.session
    changes = tuple(_change(session, operation, ground) for operation in proposal.operations)
    drafts = [draft for change in changes for draft in (change.draft, change.proposed) if draft]
    wanted = [item for draft in drafts for item in draft.evidence if item.session == session]
    wanted += [Evidence(session, texts.normalise(new.quote)) for new in proposal.lessons]
    regions = checking.gather(wanted, base.regions(one.transcript)) if wanted else ()
    return Proposed(changes, evidence.Quotes((), regions), is_offline=False)


def _change(session: str, operation: Operation, ground: Ground) -> Change:
    by_id = {rule.id: rule for rule in ground.rules}
    findings = [_unknown(operation.kind, name) for name in operation.named() if name not in by_id]
    rule = by_id.get(operation.rule)
    if operation.kind == "retire":
        if rule is not None:
            findings += _standing_for(rule, ground.standings.get(rule.id))
        return Change("retire", rule=rule, why=operation.why, findings=tuple(findings))
    draft = Draft(
        when=operation.when,
        then=operation.then,
        effect=operation.effect,
        match=operation.match,
        origin="reflection",
        evidence=tuple(_evidence(session, quote) for quote in operation.quotes),
        note=_note(operation.why),
    )
    settled = _settled(draft, operation, ground)
    kept = by_id.get(settled.draft.replaces or "")
    return Change(
        "reword" if operation.kind == "add" and kept is not None else operation.kind,
        settled.draft,
        proposed=settled.proposed if settled.proposed != settled.draft else None,
        rule=kept,
        others=tuple(by_id[other] for other in settled.draft.merges),
        targets=target.targets_of(settled.draft.then, ground.roots),
        why=operation.why,
        findings=(*findings, *settled.findings),
    )


def _unknown(kind: str, name: str) -> Finding:
    message = f"There is no rule {redact.beginning(name, 20)!r} here."
    repair = "The question names the rules that can be changed."
    return Finding("rule-unknown", kind, message, repair)


def _settled(draft: Draft, operation: Operation, ground: Ground) -> reconcile.Settled:
    """Return the draft at the slot that it takes among the rules that stand."""
    if operation.kind == "merge":
        ids = (operation.rule, *operation.others)
        return reconcile.merge(draft, ids, ground.rules, ground.roots)
    rule = next((rule for rule in ground.rules if rule.id == operation.rule), None)
    if rule is not None:
        kept = joined(rule.evidence, draft.evidence)
        draft = replace(draft, evidence=kept, replaces=rule.id)
    return reconcile.settle(draft, operation.restates, ground.rules, ground.roots)


def _evidence(session: str, quote: Quote) -> Evidence:
    return Evidence(session, texts.normalise(quote.quote), quote.region, quote.lines)


def _note(why: str) -> str:
    """Return a model's reason as a rule keeps it for people, empty where it hides something."""
    line = texts.clean_line(why)
    is_plain = not texts.hostile_characters(why) and not redact.holds_secret(line)
    return f"{line}\n" if line and is_plain else ""


def _standing_for(rule: Rule, standing: Standing | None) -> Iterator[Finding]:
    """Yield why a rule is not retired on a model's word."""
    if rule.is_persons:
        message = f"{rule.id} was written or decided on by a person."
        yield Finding("persons-rule", "rule", message, "Only a person retires it.")
    if rule.status not in ("active", "proposed"):
        yield Finding("retired-already", "rule", f"{rule.id} is {rule.status}.", "Nothing to do.")
    if standing is not None and standing.live_helped and live_net(standing) > 0:
        message = f"{rule.id} has helped {standing.live_helped} times."
        yield Finding("rule-proven", "rule", message, "Reword it, if its condition is too wide.")
