"""What the lessons of a skip rule said when it was written: the version of each.

A skip rule is a rejection that every later session trusts, so it must be told when its lessons
are no longer those that somebody looked at. The rule's file holds no such state; this record is
the machine's own, and a rule without a line in it cannot be checked. docs/decisions/027.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rose import files
from rose.errors import Unwritable
from rose.routing import targets as target
from rose.routing.cases import count_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rose.layout import Store
    from rose.routing.rules import Rule

VERSION = 1
# A rule that leads to more says nothing about any one of them.
MOST_LESSONS = 1_000


@dataclass(frozen=True, slots=True)
class Noted:
    """The lessons of a rule by store path, each with its version, and the ledger's n then."""

    n: int
    lessons: Mapping[str, str]


def note(store: Store, rule: Rule, versions: Mapping[str, str], n: int) -> None:
    """Note what the lessons of a skip rule are now; any other rule needs no note.

    `versions` are those of all lessons in use, by store path. A disk that refuses costs the note.
    """
    if rule.effect != "skip":
        return
    lessons = led_to(rule, versions)
    if len(lessons) <= MOST_LESSONS:
        line = files.dump_json({"v": VERSION, "rule": rule.id, "n": n, "lessons": lessons})
        with contextlib.suppress(Unwritable):
            files.append_line(store.skips, line)


def led_to(rule: Rule, versions: Mapping[str, str]) -> dict[str, str]:
    """Return the lessons that a rule's targets lead to, with their versions."""
    return {p: version for p, version in versions.items() if target.lead_to(rule.targets, p)}


def read(store: Store) -> dict[str, Noted]:
    """Return the last note on each rule; raises OSError where the record cannot be read."""
    found = {}
    for _, line in files.read_jsonl(store.skips):
        rule, lessons = line.get("rule"), line.get("lessons")
        if isinstance(rule, str) and isinstance(lessons, dict):
            known = {path: str(version) for path, version in lessons.items()}
            found[rule] = Noted(count_of(line.get("n")), known)
    return found


def differences(noted: Noted, now: Mapping[str, str]) -> Sequence[tuple[str, str]]:
    """Return which lessons of a rule are not as they were noted: path, and changed, new or gone.

    A lesson that only moved, content and all, is the same one.
    """
    then, contents = set(noted.lessons.values()), set(now.values())
    found = []
    for path, version in sorted(now.items()):
        if path in noted.lessons and noted.lessons[path] != version:
            found.append((path, "changed"))
        elif path not in noted.lessons and version not in then:
            found.append((path, "new"))
    for path, version in sorted(noted.lessons.items()):
        if path not in now and version not in contents:
            found.append((path, "gone"))
    return found
