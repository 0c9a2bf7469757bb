"""Carries the targets of rules along when git knows that their lessons were renamed.

Only the path changes: in `then`, in `targets`, and as a former target, by which the rule's past
still counts. A rule whose target is there, or has no heir that git knows, is left as it is.
"""

from __future__ import annotations

import contextlib
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rose import files, frontmatter
from rose import text as texts
from rose.errors import RoseError
from rose.findings import Refused
from rose.history import past
from rose.reflection import commits, journal, notes
from rose.reflection.commits import Told
from rose.routing import forgotten, table, wording
from rose.routing import targets as target

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from rose.routing.rules import Rule
    from rose.store.lessons import Holding

MOST_FORMER = 6


@dataclass(frozen=True, slots=True)
class Ground:
    """What git and the store know: sorted paths of all lessons, where lessons went, the roots."""

    paths: Sequence[str]
    renames: Mapping[str, str]
    roots: Collection[str]

    def missing(self, targets: Iterable[str]) -> list[str]:
        return [path for path in targets if target.first_match(path, self.paths) is None]

    def heirs(self, targets: Iterable[str]) -> dict[str, str]:
        """Return what has become of those targets that match nothing, where that is sure."""
        found = {old: _heir(old, self) for old in self.missing(targets)}
        return {old: new for old, new in found.items() if new is not None and _is_sound(new)}


def carry(holding: Holding, at: str) -> list[str]:
    """Let the rules of a store follow their lessons; returns the ids of those that changed.

    Git is asked only where a rule has a target that matches no lesson, before the store's lock
    is taken. What cannot be changed now is left to the next time. `at` is the time as traced.
    """
    store, roots = holding.store, holding.settings.lessons_paths
    paths = sorted(lesson.path for lesson in holding.shelf.lessons)
    ground = Ground(paths, {}, roots)
    targets = [rule.targets for rule in table.read(store, roots).rules]
    targets += [old.targets for old in forgotten.read(store)[0]]
    if not any(map(ground.missing, targets)):
        return []
    ground = Ground(paths, past.renames(store.base, roots), roots)
    if not any(map(ground.heirs, targets)):
        return []
    carried: dict[str, Mapping[str, str]] = {}
    changed: dict[str, tuple[str, str]] = {}
    try:
        with files.lock(store.lock):
            for rule, moves in moved(table.read(store, roots).rules, ground):
                before = notes.digest(notes.text_of(rule.path))
                if _carry(holding, rule, moves):
                    carried[rule.id] = moves
                    changed[rule.path] = (before, notes.digest(notes.text_of(rule.path)))
            notes.follow(store, changed)
            changed |= _carry_forgotten(holding, ground)
            if carried:
                journal.carried(store, carried, at)
    except RoseError:
        # Another process holds the lock, or the disk refuses: the next pass finds it again.
        return [*carried]
    commits.commit(holding, changed, _message(carried))
    return [*carried]


def moved(rules: Iterable[Rule], ground: Ground) -> list[tuple[Rule, dict[str, str]]]:
    """Return the rules whose targets moved, each with its new targets by the old ones."""
    found = ((rule, ground.heirs(rule.targets)) for rule in rules)
    return [(rule, heirs) for rule, heirs in found if heirs]


def _heir(old: str, ground: Ground) -> str | None:
    """Return what a target that matches nothing has become, None where that is not sure."""
    if target.first_match(new := ground.renames.get(old, ""), ground.paths) == new:
        return new
    folder, rest = old.rstrip("/") + "/", ""
    if target.is_glob(old):
        folder = target.fixed_part(old).rpartition("/")[0] + "/"
        rest = old[len(folder) :]
    home = _home(folder, ground)
    if home is None or home.rstrip("/") in ground.roots:
        # A whole lessons folder as a target would say nothing.
        return None
    new = home + rest if rest or old.endswith("/") else home.rstrip("/")
    return new if target.first_match(new, ground.paths) is not None else None


def _home(folder: str, ground: Ground) -> str | None:
    """Return the folder that a folder was renamed to as a whole, with its slash.

    All of its lessons went there, and they are at least half of what is there now.
    """
    known = frozenset(ground.paths)
    went = {old: new for old, new in ground.renames.items() if old.startswith(folder)}
    homes = set()
    heirs = {old: new for old, new in went.items() if new in known}
    for old, new in heirs.items():
        inner = os.path.dirname(old[len(folder) :])
        above = os.path.dirname(new)
        if inner and not above.endswith(f"/{inner}"):
            return None
        homes.add(above[: len(above) - len(inner)].rstrip("/") + "/")
    home = homes.pop() if len(homes) == 1 else None
    if home is None or 2 * len(heirs) < sum(path.startswith(home) for path in ground.paths):
        return None
    return home


def _is_sound(path: str) -> bool:
    """Tell whether a path can stand in a `then`: file names are anybody's text."""
    return (
        target.strip(path) == path
        and not any(char.isspace() for char in path)
        and texts.clean_line(path) == path
        and wording.markup(path) is None
    )


def _carry(holding: Holding, rule: Rule, moves: Mapping[str, str]) -> bool:
    """Change the paths in a rule's file; False where the file cannot be changed exactly."""
    store, roots = holding.store, holding.settings.lessons_paths
    try:
        fields = frontmatter.read(table.read_file(rule.path), rule.path)[0]
        changes: dict[str, Any] = {}
        if isinstance(fields.get("then"), str):
            changes["then"] = reworded(fields["then"], moves)
        if fields.get("targets"):
            # A file without them goes by its `then`.
            changes["targets"] = list(dict.fromkeys(moves.get(t, t) for t in rule.targets))
        former = list(dict.fromkeys([*rule.formerly, *moves]))
        changes["formerly"] = former[-MOST_FORMER:]
        table.update(store, rule.id, changes, roots)
    except (table.Unreadable, RoseError):
        # Its own finding says what is wrong with the file.
        return False
    return True


def _carry_forgotten(holding: Holding, ground: Ground) -> dict[str, tuple[str, str]]:
    """Let the rejections follow too: what a person deleted must not come back by a new path."""
    changed = {}
    for old in forgotten.read(holding.store)[0]:
        moves = ground.heirs(old.targets)
        path = forgotten.path_of(holding.store, old.rule)
        text = notes.text_of(path) if moves else None
        if text is None:
            continue
        targets = list(dict.fromkeys(moves.get(t, t) for t in old.targets))
        # A header that cannot be read exactly is a person's to mend.
        with contextlib.suppress(Refused):
            edited = frontmatter.edit(text, {"targets": targets}, path)
            files.replace(path, edited)
            changed[path] = (notes.digest(text), notes.digest(edited))
    return changed


def reworded(then: str, moves: Mapping[str, str]) -> str:
    """Return a `then` with new paths in it; every other word and mark stays as it is."""

    def put(token: re.Match[str]) -> str:
        core = target.strip(token[0])
        return token[0].replace(core, moves[core], 1) if core in moves else token[0]

    return re.sub(r"\S+", put, then)


def _message(carried: Mapping[str, Mapping[str, str]]) -> str:
    told = [
        Told("carry", rule, why=f"{old} is now {new}")
        for rule, moves in carried.items()
        for old, new in moves.items()
    ]
    return commits.message("", told)
