"""What a rule of reflection's must pass besides: a model wrote it, out of text from anywhere.

It rests on quotes, points to lessons and gives no order, turns down nothing that the session has
not seen, and changes nothing that a person wrote or decided (docs/decisions/017).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rose import redact
from rose.check import orders, quotes
from rose.findings import Finding
from rose.routing import conditions, forgotten, questions
from rose.routing import targets as target

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rose.check.checks import Context, Draft

MOST_EVIDENCE = 12
# What may stand behind a lessons root in a target that says nothing.
_EVERYTHING = re.compile(r"[/*?]*(?:\.md)?")


def check(draft: Draft, context: Context) -> Iterator[Finding]:
    """Yield what is wrong with a draft of reflection's."""
    yield from _evidence(draft, context)
    yield from _persons(draft, context)
    yield from _turned_down(draft, context)
    yield from _targets(draft, context)
    for where, text in (("when", draft.when), ("then", draft.then)):
        said = orders.find(text, context.roots, is_condition=where == "when")
        if said is not None:
            message = f"`{where}` reads like an order: {redact.beginning(said, 60)}."
            repair = "Say for which kind of task, and where its knowledge lies; nothing else."
            yield Finding("gives-orders", where, message, repair)


def _evidence(draft: Draft, context: Context) -> Iterator[Finding]:
    if not draft.evidence:
        message = "A rule of reflection's has no evidence."
        repair = "Quote what the session shows, word for word."
        yield Finding("evidence-missing", "evidence", message, repair)
    if len(draft.evidence) > MOST_EVIDENCE:
        message = f"There are {len(draft.evidence)} quotes, more than {MOST_EVIDENCE}."
        yield Finding("too-large", "evidence", message, "Keep those that show it best.")
    new = [item for item in draft.evidence if item not in context.kept(draft)]
    changed = [rule.id for rule in context.taken_over(draft) if rule.status == "active"]
    if changed and quotes.is_tainted(new, context.regions):
        message = f"All that speaks for changing {changed[0]} came from outside the repository."
        repair = "Leave it as it is, or quote what the session did in the repository."
        yield Finding("evidence-foreign", "evidence", message, repair)


def _persons(draft: Draft, context: Context) -> Iterator[Finding]:
    for rule in context.taken_over(draft):
        if rule.is_persons:
            how = "written" if rule.origin == "manual" else rule.approval
            message = f"{rule.id} was {how} by a person; reflection does not change it."
            repair = "Write a rule of its own, for a condition of its own."
            yield Finding("persons-rule", "id", message, repair)
        elif rule.status in questions.SILENT and draft.status != rule.status:
            message = f"{rule.id} is {rule.status}; reflection does not bring it back."
            repair = f"`rose route --restore {rule.id}` does, if it is to be used again."
            yield Finding("out-of-use", "id", message, repair)


def _turned_down(draft: Draft, context: Context) -> Iterator[Finding]:
    """Yield what a person decided against already."""
    targets = target.targets_of(draft.then, context.roots)
    gone = [
        old
        for old in context.forgotten
        if forgotten.covers([old], draft.match, targets, draft.effect)
    ]
    for old in gone:
        message = f"A person deleted {old.rule}, which said this."
        repair = f"Delete .rose/rejections/{old.rule}.md if it may be written again."
        yield Finding("turned-down", "when", message, repair)
    key = conditions.key(draft.condition)
    for rule in context.rules:
        said = rule.status == "declined" and rule.effect == draft.effect
        if not said or draft.takes_over(rule) or conditions.key(rule.when) != key:
            continue
        held = [any(target.holds(one, path) for one in rule.targets) for path in targets]
        if held and all(held):
            message = f"A person declined {rule.id}, which says this."
            repair = f"`rose route --approve {rule.id}` uses it after all."
            yield Finding("turned-down", "when", message, repair, expected=rule.id)


def _targets(draft: Draft, context: Context) -> Iterator[Finding]:
    for path in target.targets_of(draft.then, context.roots):
        root = next(root for root in context.roots if target.is_target(path, [root]))
        if _EVERYTHING.fullmatch(path[len(root) :]):
            message = f"{path} leads to every lesson, which says nothing."
            yield Finding("target-vacuous", "then", message, "Name the lessons or their folder.")
        elif draft.effect == "skip":
            unseen = _unseen(path, context)
            if unseen is not None:
                message = f"{unseen} was not shown in the session."
                repair = "Skip only what the session has seen; every later session trusts it."
                yield Finding("skip-unseen", "then", message, repair)


def _unseen(path: str, context: Context) -> str | None:
    """Return what of a target the session has not seen, None where it has seen all of it."""
    if not any(target.matches(path, shown) for shown in context.shown):
        return f"No lesson of {path}"
    unseen = [p for p in context.active if target.matches(path, p) and p not in context.shown]
    return unseen[0] if unseen else None
