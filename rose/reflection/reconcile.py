"""Joins what a model proposes to the rules that stand, so that one claim stays one rule.

Pure. What restates a rule of reflection's becomes evidence for it, or widens it; its condition
stays, and so does its record. What a person wrote or decided is left alone. What says the
opposite of a rule is kept beside it (rose.routing.questions).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rose import redact
from rose.findings import Finding
from rose.reflection import offline, planning
from rose.routing import conditions, questions
from rose.routing import targets as target

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rose.check.checks import Draft
    from rose.routing.rules import Rule


@dataclass(frozen=True, slots=True)
class Settled:
    """A draft as it is to be accepted; `findings` stop it.

    `proposed` is the draft as it was worded, at the slot it is joined to: it is checked too,
    since a text that is not kept may still be the reason to refuse what came with it.
    """

    draft: Draft
    proposed: Draft
    findings: tuple[Finding, ...] = ()


def settle(draft: Draft, restates: str, rules: Sequence[Rule], roots: Sequence[str]) -> Settled:
    """Return a new rule's draft joined to the standing rule that it restates, if it does.

    `restates` is the id that the model named, or empty. A draft that has its slot is left alone.
    """
    if draft.replaces is not None:
        return Settled(draft, draft)
    known = {rule.id: rule for rule in rules if rule.status not in questions.SILENT}
    if restates and restates not in known:
        message = f"There is no rule {redact.beginning(restates, 20)!r} to restate."
        return _refused(draft, "restates-unknown", message, "Name a rule that is in use, or none.")
    key = conditions.key(draft.condition)
    same = [r for r in known.values() if r.effect == draft.effect and conditions.key(r.when) == key]
    old = same[0] if same else known.get(restates)
    targets = target.targets_of(draft.then, roots)
    if old is None or not targets:
        return Settled(draft, draft)
    if old.effect != draft.effect:
        message = f"{old.id} says the opposite, so this is no restatement of it."
        return _refused(draft, "restates-opposite", message, "Name no rule; both are then kept.")
    if old.is_persons:
        message = f"{old.id} of a person says this already: {old.then}."
        repair = "Nothing to do: what a person wrote or decided is left as it is."
        return _refused(draft, "restates", message, repair, expected=old.id)
    proposed = replace(draft, replaces=old.id)
    then = _joined_then(draft, targets, old.targets, old.then)
    joined = replace(
        proposed,
        when=old.when,
        then=then,
        match=old.match,
        evidence=planning.joined(old.evidence, draft.evidence),
    )
    return Settled(joined, proposed)


def merge(draft: Draft, ids: Sequence[str], rules: Sequence[Rule], roots: Sequence[str]) -> Settled:
    """Return the draft of one rule in the place of several: the first stays, the others retire.

    Targets, features and evidence are united. Without a condition of its own the draft has that
    of the first.
    """
    known = {rule.id: rule for rule in rules if rule.status not in questions.SILENT}
    olds = [known[rule_id] for rule_id in dict.fromkeys(ids) if rule_id in known]
    if len(olds) < len(set(ids)) or len(olds) < 2:  # noqa: PLR2004 - a merge joins two or more
        named = redact.beginning(", ".join(ids), 60)
        message = f"There are no two or more rules in use by the ids {named!r}."
        return _refused(draft, "merge-unknown", message, "Name the rules to merge by their ids.")
    if len({(old.effect, old.status) for old in olds} | {(draft.effect, olds[0].status)}) > 1:
        message = "Rules of another effect or state cannot become one."
        return _refused(draft, "merge-unlike", message, "Merge what prefers, or what skips, alone.")
    persons = next((old for old in olds if old.is_persons), None)
    if persons is not None:
        message = f"{persons.id} was written or decided by a person; reflection does not merge it."
        return _refused(draft, "persons-rule", message, "Leave it as it is.", expected=persons.id)
    first, *others = olds
    united = _united(path for old in olds for path in old.targets)
    matches = dict.fromkeys(feature for old in olds for feature in old.match)
    old_evidence = tuple(dict.fromkeys(item for old in olds for item in old.evidence))
    proposed = replace(draft, replaces=first.id, merges=tuple(old.id for old in others))
    then = _joined_then(draft, target.targets_of(draft.then, roots), united, "")
    merged = replace(
        proposed,
        when=draft.when or first.when,
        then=then,
        match=draft.match or tuple(matches)[: offline.MOST_FEATURES],
        evidence=planning.joined(old_evidence, draft.evidence),
    )
    return Settled(merged, replace(proposed, when=merged.when))


def _joined_then(draft: Draft, new: Sequence[str], old: Sequence[str], old_then: str) -> str:
    """Return the `then` that leads to old and new targets: a wording that does, else code's own."""
    if old_then and all(_is_held(path, old) for path in new):
        return old_then
    if all(_is_held(path, new) for path in old):
        return draft.then
    united = _united([*old, *new])
    if draft.effect == "prefer":
        return offline.then_of(united)
    *most, last = united
    named = f"{', '.join(most)} and {last}" if most else last
    return f"nothing in {named} applies"


def _united(targets: Iterable[str]) -> list[str]:
    """Return targets without those that another one holds."""
    kept: list[str] = []
    for one in targets:
        if not _is_held(one, kept):
            kept = [other for other in kept if not target.holds(one, other)] + [one]
    return kept


def _is_held(narrow: str, wide: Iterable[str]) -> bool:
    return any(target.holds(one, narrow) for one in wide)


def _refused(
    draft: Draft, rule: str, message: str, repair: str, expected: str | None = None
) -> Settled:
    finding = Finding(rule, "id", message, repair, expected=expected)
    return Settled(draft, draft, (finding,))
