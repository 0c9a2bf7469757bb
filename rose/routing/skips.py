"""What the lessons of a skip rule said when it was written, and whether that still holds.

A skip rule is a rejection that every later session trusts, so it must be told when its lessons
are no longer those that somebody looked at, or were used after all. The rule's file holds no such
state; this record is the machine's own, and a rule without a line in it cannot be checked.
docs/decisions/027.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from rose import files, layout
from rose.errors import Unwritable
from rose.findings import Finding
from rose.routing import ledger, rules, table
from rose.routing import targets as target
from rose.routing.cases import count_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rose.layout import Store
    from rose.routing.cases import Case
    from rose.routing.rules import Rule

VERSION = 1
# Of more, only one digest of them all is noted.
MOST_LESSONS = 1_000
UNNOTED = "nobody noted here what its lessons said when it was written"


@dataclass(frozen=True, slots=True)
class Noted:
    """The lessons of a rule by store path, each with its version, and the ledger's n then.

    Of too many to be named, `digest` stands for what they say, and `of` is how many there were.
    """

    n: int
    lessons: Mapping[str, str]
    digest: str = ""
    of: int = 0


def note(store: Store, rule: Rule, versions: Mapping[str, str], n: int) -> list[Finding]:
    """Note what the lessons of a skip rule are now; any other rule needs no note.

    `versions` are those of all lessons in use, by store path. A disk that refuses costs the note,
    which a warning says.
    """
    if rule.effect != "skip":
        return []
    lessons = led_to(rule, versions)
    line: dict[str, object] = {"v": VERSION, "rule": rule.id, "n": n, "lessons": lessons}
    if len(lessons) > MOST_LESSONS:
        line |= {"lessons": {}, "digest": _digest(lessons), "of": len(lessons)}
    try:
        files.append_line(store.skips, files.dump_json(line))
    except Unwritable as error:
        message = f"Degraded: nobody can tell later whether its lessons changed. {error}"
        repair = f"Mend that, then `rose route --approve {rule.id}`."
        return [Finding("skip-unnoted", rule.id, message, repair, "warning")]
    return []


def _digest(lessons: Mapping[str, str]) -> str:
    """Return a digest of what some lessons say, wherever they lie."""
    return layout.digest("\n".join(sorted(lessons.values())))


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
            n, of = count_of(line.get("n")), count_of(line.get("of"))
            found[rule] = Noted(n, known, str(line.get("digest") or ""), of)
    return found


def differences(noted: Noted, now: Mapping[str, str]) -> Sequence[tuple[str, str]]:
    """Return which lessons of a rule are not as they were noted: path, and changed, new or gone.

    A lesson that only moved, content and all, is the same one. Of too many nobody knows which.
    """
    if noted.digest:
        is_same = noted.digest == _digest(now)
        return [] if is_same else [(f"one or more of {noted.of:,} lessons", "changed")]
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


@dataclass(frozen=True, slots=True)
class Skip:
    """A skip rule to look at again.

    `changes` are store paths with how they differ, `used` the lessons used since with how many
    sessions used each, `misled` the sessions in which it was delivered and its lessons were used.
    """

    rule: Rule
    line: str
    changes: tuple[tuple[str, str], ...]
    used: Mapping[str, int]
    misled: int

    def as_json(self) -> dict[str, object]:
        return {
            "id": self.rule.id,
            "line": self.line,
            "origin": self.rule.origin,
            "reason": self.rule.note.strip(),
            "changed": [{"path": path, "how": how} for path, how in self.changes],
            "used": dict(self.used),
            "misled": self.misled,
        }


class Looked(NamedTuple):
    """The rules to look at again, what could not be checked and why, and how many in all."""

    found: tuple[Skip, ...] = ()
    unchecked: tuple[tuple[str, str], ...] = ()
    of: int = 0


def look(
    store: Store, roots: tuple[str, ...], versions: Mapping[str, str], paths: Mapping[str, str]
) -> Looked:
    """Return a store's skip rules in use whose lessons are not those of then, or were used since.

    `versions` are those of the lessons in use by store path, `paths` the store paths of all by id.
    """
    known = table.read(store, roots)
    broken = [one for one in known.findings if one.severity == "error"]
    unchecked = [(one.where, f"the rule cannot be read: {one.message}") for one in broken]
    standing = [one for one in known.rules if one.effect == "skip" and one.status == "active"]
    if not standing:
        return Looked((), tuple(unchecked))
    try:
        noted, lack = read(store), UNNOTED
    except OSError as error:
        noted, lack = {}, f"{store.skips} cannot be read: {error.strerror or error}"
    unchecked += [(rule.id, lack) for rule in standing if rule.id not in noted]
    cases = ledger.read(store).cases
    found = []
    for rule in standing:
        then = noted.get(rule.id)
        since = max(rule.born, 0 if then is None else then.n)
        changes = [] if then is None else differences(then, led_to(rule, versions))
        later = [case for case in cases if case.n > since]
        used = _used(rule, later, paths)
        misled = sum(case.verdicts.get(rule.id) == "misled" for case in later)
        if changes or used or misled:
            line = rules.line(rule, store.prefix)
            found.append(Skip(rule, line, tuple(changes), used, misled))
    return Looked(tuple(found), tuple(unchecked), len(standing))


def _used(rule: Rule, cases: Sequence[Case], paths: Mapping[str, str]) -> dict[str, int]:
    """Return the lessons of a rule that some sessions used, and how many used each."""
    used: dict[str, int] = {}
    for case in cases:
        for node in dict.fromkeys(case.used):
            if target.lead_to(rule.recorded_targets, paths.get(node, "")):
                used[node] = used.get(node, 0) + 1
    return used
