"""The standing of every rule, kept as long as neither its ledger nor what it claims has moved.

A prompt that finds one rule changed would otherwise fold the whole ledger again, which takes
longer the longer a project has used rose. Derived: deleting it changes no result.
"""

from __future__ import annotations

from dataclasses import astuple, fields
from typing import TYPE_CHECKING

from rose import derived, files, layout
from rose.routing import evidence, ledger
from rose.routing.evidence import Standing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rose.layout import Store
    from rose.routing.evidence import LessonPath
    from rose.routing.rules import Rule

_FIELDS = [field.name for field in fields(Standing)]


def read(
    store: Store, rules: Sequence[Rule], lesson_path: LessonPath, paths: Mapping[str, str]
) -> dict[str, Standing]:
    """Return the standing of each rule by id; `paths` is what `lesson_path` answers from."""
    ground = [_FIELDS, ledger.stamps(store), _digest(sorted(paths.items()))]
    stored = derived.load(store.standings_cache)
    is_same = stored.get("ground") == ground
    kept = stored["of"] if is_same else {}
    found: dict[str, Standing] = {}
    unknown = []
    for rule in rules:
        row = kept.get(rule.id)
        if row is not None and row[0] == _claim(rule):
            found[rule.id] = Standing(*row[1])
        elif is_same and rule.born >= stored["n"]:
            # Born after the last session: nothing can speak about it yet.
            found[rule.id] = Standing()
        else:
            unknown.append(rule)
    if not unknown and is_same:
        return found
    record = ledger.read(store)
    found |= evidence.standings(unknown, record.cases, lesson_path)
    of = {rule.id: [_claim(rule), astuple(found[rule.id])] for rule in rules}
    derived.save(store.standings_cache, {"ground": ground, "n": record.greatest_n, "of": of})
    return found


def _claim(rule: Rule) -> str:
    """Return what a standing rests on of a rule; its wording is no part of it."""
    return _digest([rule.born, rule.effect, rule.match, rule.recorded_targets])


def _digest(value: object) -> str:
    return layout.digest(files.dump_json(value))[:16]
