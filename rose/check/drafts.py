"""Reads a draft of a rule from its file, as if the file already lay at its slot.

A fault that makes other checks meaningless stops only those: without a header there is no draft,
and a field of the wrong type is not judged for what it says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rose import frontmatter, redact
from rose.check.checks import Draft, check_rule
from rose.findings import Finding, errors
from rose.routing import rules, wording
from rose.routing import targets as target

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rose.check.checks import Context

SUFFIX = ".md"


@dataclass(frozen=True, slots=True)
class Paper:
    """What was read: the draft, and what is wrong with the file itself.

    `broken` are the fields that say nothing, or parts of them. Without a readable header there is
    no draft.
    """

    draft: Draft | None
    faults: tuple[Finding, ...]
    broken: frozenset[str] = frozenset()


def is_rule_slot(name: str) -> bool:
    """Tell whether a rule can lie under a file name."""
    return name.endswith(SUFFIX) and rules.ID.fullmatch(name.removesuffix(SUFFIX)) is not None


def read(text: str, where: str, slot: str, context: Context) -> Paper:
    """Return the draft in a text; without a slot the id that it gives itself names one."""
    fields, body, findings = frontmatter.read(text, where)
    reader = rules.Reader(text, where, fields, findings)
    if errors(findings) or reader.is_bare():
        return Paper(None, tuple(findings))
    rule_id = _rule_id(reader, slot)
    standing = [rule.id for rule in context.rules if rule.id == rule_id]
    draft = Draft(
        when=reader.text("when"),
        then=reader.text("then"),
        effect=reader.text("effect") or "prefer",
        match=reader.words("match"),
        origin=reader.text("origin") or "manual",
        evidence=reader.evidence(),
        note=body,
        status=reader.text("status") or "active",
        approval=reader.text("approval") or None,
        replaces=standing[0] if standing else None,
    )
    reader.number("born")
    reader.text("created")
    _check_targets(reader, draft, context)
    return Paper(draft, tuple(findings), frozenset(reader.broken))


def check(paper: Paper, context: Context) -> Iterator[Finding]:
    """Yield what is wrong with the file, then with the draft in it."""
    yield from paper.faults
    if paper.draft is not None:
        for finding in check_rule(paper.draft, context):
            if paper.broken.isdisjoint((finding.where, finding.where.split(" ")[0])):
                yield finding


def _rule_id(reader: rules.Reader, slot: str) -> str:
    if slot:
        return reader.stem(slot)
    given = reader.text("id")
    if given and rules.ID.fullmatch(given) is None:
        message = f"The id is {redact.quoted(given)}, which no rule has."
        reader.fail("id", "id-mismatch", message, "Leave it out; a new rule is given its id.")
        return ""
    return given


def _check_targets(reader: rules.Reader, draft: Draft, context: Context) -> None:
    """Report targets that are not those in `then`: nobody who reads the rule would see them."""
    given = reader.words("targets")
    named = target.targets_of(wording.clause(draft.then), context.roots)
    reader.require_inside(given)
    if given and "targets" not in reader.broken and frozenset(given) != frozenset(named):
        expected = ", ".join(named) or "no target"
        message = "`targets` are not the paths in `then`."
        repair = f"Write targets: [{', '.join(named)}], or leave them out."
        reader.fail("targets", "targets-differ", message, repair, expected)
