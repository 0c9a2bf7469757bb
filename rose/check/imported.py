"""Rules for imported lessons that say which files they are for.

One rule a condition: the globs are its `when`, the lessons its targets. A person asked for the
import, so the rules are theirs and used at once, and pass the checks that what they type passes
(docs/decisions/025). No rule comes back that a person changed, declined or deleted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rose import frontmatter, redact
from rose.check import accept
from rose.check.checks import Draft, check_rule
from rose.findings import Finding, Refused, errors
from rose.routing import conditions, forgotten, globs, rules, table, wording
from rose.routing import targets as target
from rose.store import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from rose.check.checks import Context
    from rose.layout import Store
    from rose.routing.forgotten import Forgotten
    from rose.routing.rules import Rule
    from rose.store.importing import Entry

MARK = "Imported: "


@dataclass(slots=True)
class Claims:
    """What imported files say of the files they are for: globs, and the lessons that name them.

    `everywhere` counts the lessons that are for every file: that is no condition.
    """

    groups: dict[frozenset[str], tuple[tuple[str, ...], list[str]]] = field(default_factory=dict)
    everywhere: int = 0
    findings: list[Finding] = field(default_factory=list)


@dataclass(slots=True)
class Routed:
    """The rules that were written, or in a dry run would be, and what is wrong with others."""

    rules: list[Rule] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


def claims_of(entries: Iterable[Entry]) -> Claims:
    """Read what imported files say of the files they are for."""
    claims = Claims()
    for entry in entries:
        try:
            text = parse.read_text(entry.source)[0]
        except OSError:
            # It was read a moment ago; whatever reads the lessons reports it.
            continue
        if not any(key in text for key in parse.CONDITIONS):
            continue
        fields, _, faults = parse.header(text)
        if str(fields.get("alwaysApply")).lower() == "true":
            continue
        broken = frontmatter.split(text).header or "" if errors(faults) else ""
        said = tuple(glob for key in parse.CONDITIONS for glob in globs.split(fields.get(key)))
        if any(_is_lost(key, fields.get(key), broken) for key in parse.CONDITIONS):
            reason = "What it says of files is no list of globs, or stands there twice."
            claims.findings.append(_no_rule(entry.path, reason))
        elif said:
            _claim(claims, entry.path, said)
    return claims


def _is_lost(key: str, value: object, broken: str) -> bool:
    """Tell whether a key says more than its value, which was taken from a header; see `split`."""
    items = value if isinstance(value, list) else [value or ""]
    stands = len(re.findall(rf"^{key}[ \t]*:", broken, re.MULTILINE))
    return not all(isinstance(item, str) for item in items) or stands > (value is not None)


def _no_rule(path: str, reason: str) -> Finding:
    repair = "There is no rule for it. `rose route --when --then` teaches one."
    return Finding("globs-invalid", path, reason, repair, "warning")


def _claim(claims: Claims, path: str, said: tuple[str, ...]) -> None:
    foreign = [glob for glob in said if not globs.is_glob(glob)]
    if foreign:
        reason = f"What it says of files is no glob: {redact.quoted(wording.safe(foreign[0]))}."
        claims.findings.append(_no_rule(path, reason))
    elif path.split() != [path]:
        reason = "Its path holds white space, so no rule can name it."
        repair = "Rename it, or import it without --in-place."
        claims.findings.append(Finding("target-blank", path, reason, repair, "warning"))
    elif globs.match_all(said):
        claims.everywhere += 1
    else:
        # `*.py` and `**/*.py` mean the same to an editor.
        group = frozenset(glob.removeprefix("**/") for glob in said)
        claims.groups.setdefault(group, (said, []))[1].append(path)


def drafts_of(claims: Claims, store: Store, roots: tuple[str, ...]) -> list[Draft]:
    """Return the rules that the store lacks, and report in the claims what has changed."""
    known = table.read(store, roots, cache=False).rules
    gone = forgotten.read(store)[0]
    found = []
    for said, paths in claims.groups.values():
        new = [path for path in paths if not _is_settled(_first(said, [path]), known, gone, claims)]
        if new:
            found.append(_draft(said, new, known))
    return found


def _is_settled(
    draft: Draft, known: Sequence[Rule], gone: Sequence[Forgotten], claims: Claims
) -> bool:
    """Tell whether the rule of one lesson is there, or was, whatever a person made of it."""
    path = _lesson(draft)
    key = conditions.key(draft.condition)
    told = [rule for rule in known if rule.effect == "prefer"]
    if any(target.lead_to(r.targets, path) and conditions.key(r.when) == key for r in told):
        return True
    made = [rule for rule in told if path in rule.targets and rule.note.startswith(MARK)]
    if made and all(rule.note != draft.note for rule in made):
        reason = f"Its globs are no longer those that {made[0].id} was made from."
        repair = "Edit `when` in that rule."
        claims.findings.append(Finding("globs-changed", path, reason, repair, "warning"))
    return bool(made) or forgotten.covers(gone, draft.match, [path])


def _draft(said: Sequence[str], paths: Sequence[str], known: Sequence[Rule]) -> Draft:
    """Return a new rule, or a wider one where an import made one of this condition."""
    first = _first(said, paths)
    key = conditions.key(first.condition)
    for rule in known:
        is_same = rule.status == "active" and conditions.key(rule.when) == key
        if is_same and rule.note.startswith(MARK) and rule.then == _then(rule.targets):
            return replace(
                first,
                when=rule.when,
                then=_then([*rule.targets, *paths]),
                match=rule.match,
                approval=rule.approval,
                note=rule.note,
                replaces=rule.id,
            )
    return first


def _first(said: Sequence[str], paths: Sequence[str]) -> Draft:
    match = globs.match_of(said)
    when = "" if match else globs.condition(said)
    note = f"{MARK}for files that match {', '.join(said)}\n"
    return Draft(when, _then(paths), match=match, note=note)


def _then(paths: Sequence[str]) -> str:
    listed = " and ".join(filter(None, [", ".join(paths[:-1]), *paths[-1:]]))
    return f"read {listed} first"


def write(
    store: Store,
    drafts: Sequence[Draft],
    context: Context,
    *,
    created: str,
    new_id: Callable[[frozenset[str]], str] = table.new_id,
) -> Routed:
    """Write the rules that pass the checks; what is refused is a finding that names the rule."""
    done = Routed()

    def take(draft: Draft) -> Sequence[Finding]:
        try:
            accepted = accept.accept_rule(store, draft, context, created=created, new_id=new_id)
        except Refused as error:
            return error.findings
        done.rules.append(accepted.rule)
        return accepted.warnings

    done.findings = [found for draft in drafts for found in _about(draft, take(draft))]
    return done


def preview(
    drafts: Sequence[Draft], context: Context, paths: Iterable[str], roots: tuple[str, ...]
) -> Routed:
    """Return what `write` would do once the lessons at some store paths below roots are there."""
    there = tuple(sorted({*context.active, *paths}))
    context = replace(
        context,
        roots=roots,
        has_lesson=lambda path: target.first_match(path, there) is not None,
    )
    done = Routed()
    for draft in drafts:
        found = list(check_rule(draft, context))
        done.findings += _about(draft, found)
        if not errors(found):
            named = target.targets_of(draft.then, context.roots)
            rule = rules.Rule(
                draft.replaces or "", draft.condition, draft.then, "prefer", named, draft.match
            )
            done.rules.append(rule)
    return done


def _about(draft: Draft, findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings of a draft, each with the lesson that it is about."""
    return [replace(found, where=f"{_lesson(draft)}: {found.where}") for found in findings]


def _lesson(draft: Draft) -> str:
    """Return the first lesson of a draft that was made here."""
    return draft.then.split()[1].rstrip(",")
