"""Review: which rules of reflection's wait for a person before they are used.

A proposed rule is never injected. Only `rose route --approve` makes it active, so a change to a
proposed rule leaves it proposed (docs/decisions/017).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rose.check import quotes
from rose.routing import conditions, questions
from rose.routing import targets as target

if TYPE_CHECKING:
    from rose.check.checks import Context, Draft


def status_of(draft: Draft, context: Context) -> tuple[str, str]:
    """Return the status that a draft is kept under, and why it waits for a person, if it does."""
    if draft.origin != "reflection" or draft.status != "active":
        return draft.status, ""
    why = _why(draft, context)
    return ("proposed", why) if why else ("active", "")


def _why(draft: Draft, context: Context) -> str:
    replaced = context.taken_over(draft)
    if any(rule.status == "proposed" for rule in replaced):
        return "the rule that it changes waits already"
    kept = context.kept(draft)
    if quotes.is_tainted((item for item in draft.evidence if item not in kept), context.regions):
        return "all its evidence came from outside the repository"
    if context.review == "required":
        return "routing.review is required"
    key, targets = conditions.key(draft.condition), target.targets_of(draft.then, context.roots)
    others = [rule for rule in context.rules if rule not in replaced]
    opposite = questions.opponents(key, draft.effect, targets, others)
    return f"{opposite[0].id} says the opposite" if opposite else ""
