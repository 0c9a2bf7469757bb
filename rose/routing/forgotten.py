"""Rules that a person deleted: each leaves a rejection, so reflection does not write it again.

One Markdown file a rule in `.rose/rejections/`, keyed by match and targets. Whoever deletes the
file, or takes a target out of it, opens the way again.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rose import files, frontmatter, yamltext
from rose.findings import Finding, errors
from rose.routing import features, rules
from rose.routing import targets as target

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from rose.layout import Store

KIND = "forgotten-rule"
NOTE = "A person deleted this rule. Delete this file and reflection may write it again.\n"


@dataclass(frozen=True, slots=True)
class Forgotten:
    """A deleted rule; `match` and `targets` are what it is known by, `at` is when it went."""

    rule: str
    effect: str
    match: tuple[str, ...]
    targets: tuple[str, ...]
    at: str = ""


def path_of(store: Store, rule_id: str) -> str:
    return os.path.join(store.rejections, f"{rule_id}.md")


def write(store: Store, rule: rules.Rule, at: str) -> str:
    """Write the rejection of a rule and return its path. The caller holds the lock."""
    fields: dict[str, Any] = {"kind": KIND, "rule": rule.id, "when": rule.when, "then": rule.then}
    fields |= {"effect": rule.effect, "match": list(rule.match), "targets": list(rule.targets)}
    path = path_of(store, rule.id)
    files.replace(path, f"---\n{yamltext.dump({**fields, 'at': at})}---\n{NOTE}")
    return path


def read(store: Store) -> tuple[tuple[Forgotten, ...], list[Finding]]:
    """Return the forgotten rules of a store and what is wrong with files among them.

    Other rejections lie in the same folder and are passed over.
    """
    folder = store.rejections
    try:
        names = sorted(name for name in os.listdir(folder) if rules.ID.fullmatch(name[:-3]))
    except FileNotFoundError:
        return (), []
    except OSError as error:
        reason = f"The rejections cannot be listed: {error.strerror or error}."
        return (), [Finding("rejections-unreadable", folder, reason, "Make it a readable folder.")]
    found: list[Forgotten] = []
    findings: list[Finding] = []
    for name in names:
        if name.endswith(".md"):
            path = os.path.join(folder, name)
            where = os.path.relpath(path, store.base) if store.kind == "project" else path
            _take(path, where, found, findings)
    return tuple(found), findings


def _take(path: str, where: str, found: list[Forgotten], findings: list[Finding]) -> None:
    try:
        fields, _, faults = frontmatter.read(files.read_text(path), where)
    except (OSError, ValueError) as error:
        reason = f"The file cannot be read: {error}."
        repair = "Make it a UTF-8 text file, or delete it."
        faults = [Finding("rejection-unreadable", where, reason, repair)]
        fields = {}
    findings.extend(faults)
    if not errors(faults) and fields.get("kind", KIND) == KIND:
        found.append(_forgotten(fields, path))


def _forgotten(fields: Mapping[str, Any], path: str) -> Forgotten:
    effect, at = fields.get("effect"), fields.get("at")
    return Forgotten(
        rule=os.path.basename(path)[:-3],
        effect=effect if effect and isinstance(effect, str) else "prefer",
        match=_texts(fields.get("match")),
        targets=_texts(fields.get("targets")),
        at=at if isinstance(at, str) else "",
    )


def _texts(value: object) -> tuple[str, ...]:
    items = [value] if isinstance(value, str) else value
    return tuple(i for i in items if isinstance(i, str)) if isinstance(items, list) else ()


def covers(
    gone: Iterable[Forgotten], match: Sequence[str], targets: Sequence[str], effect: str = "prefer"
) -> bool:
    """Tell whether one forgotten rule says all that a rule of this match and targets would.

    A rule in words alone is covered by a forgotten rule in words alone with the same targets.
    """
    return any(
        old.effect == effect
        and bool(old.match) == bool(match)
        and all(features.features_meet(old.match, [feature]) for feature in match)
        and bool(targets)
        and all(any(target.holds(wide, narrow) for wide in old.targets) for narrow in targets)
        for old in gone
    )


def test_of(stores: Iterable[Store]) -> Callable[[Sequence[str], Sequence[str]], bool]:
    """Return the test that reflection asks before it writes a prefer rule."""
    gone = [old for store in stores for old in read(store)[0]]
    return lambda match, targets: covers(gone, match, targets)
