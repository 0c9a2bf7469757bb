"""The table of rules: `.rose/routing/`, read through a cache of parsed rules.

Files are truth. The cache is keyed by each file's stamp and may be deleted at any time; an entry
whose file changed within a clock tick of being read is not kept (rose.racy).
"""

from __future__ import annotations

import os
import secrets
import stat
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from rose import derived, files, frontmatter, racy, redact
from rose.errors import RoseError
from rose.findings import Finding, Refused, errors
from rose.routing import conditions, rules
from rose.routing.rules import Evidence, Rule

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping

    from rose.layout import Store

MAX_FILE_BYTES = 64_000


@dataclass(frozen=True, slots=True)
class Table:
    """The rules that can be read, what is wrong with the others, and the stamp of each file.

    `lines` holds each rule as it is injected and `keys` what its condition says, by id.
    """

    rules: tuple[Rule, ...]
    findings: tuple[Finding, ...]
    stamps: Mapping[str, list[int]] = field(default_factory=dict)
    lines: Mapping[str, str] = field(default_factory=dict)
    keys: Mapping[str, str] = field(default_factory=dict)
    unread: int = 0

    def ids(self) -> frozenset[str]:
        """Return every id that is taken, those of broken files too."""
        return frozenset(os.path.basename(path).removesuffix(".md") for path in self.stamps)


def path_of(store: Store, rule_id: str) -> str:
    """Return the file of a rule; raises RoseError for what is no rule id."""
    if rules.ID.fullmatch(rule_id) is None:
        raise RoseError(f"{rule_id!r} is no rule id. `rose route` lists the rules.")
    return os.path.join(store.routing, rule_id + ".md")


def read(
    store: Store,
    roots: tuple[str, ...],
    *,
    cache: bool = True,
    most_new: int | None = None,
) -> Table:
    """Return the rules of a store in order of id; broken files are findings, never lost.

    Stamps are taken before a file is read, so a change in between shows at the next reading.
    Files that no cache knows beyond `most_new` are left out and counted as `unread`.
    """
    listed, findings = _listed(store)
    known = _load_cache(store, roots) if cache else {}
    read_ns = racy.now_ns()
    kept: dict[str, Any] = {}
    found: list[Rule] = []
    lines: dict[str, str] = {}
    keys: dict[str, str] = {}
    stamps: dict[str, list[int]] = {}
    stale = len(known) != len(listed)
    new = unread = 0
    for name, stamp in listed:
        path = os.path.join(store.routing, name)
        stamps[path] = stamp
        row = known.get(name)
        if row is None or row[0] != stamp:
            if most_new is not None and new >= most_new:
                unread += 1
                continue
            new += 1
            stale = True
            row = [stamp, *_row(store, path, roots)]
        if racy.is_settled(stamp[1], read_ns):
            kept[name] = row
        else:
            stale = True
        if row[1] is not None:
            rule_id = row[1][0]
            found.append(_rule_of(row[1], path))
            lines[rule_id], keys[rule_id] = row[3:]
        findings.extend(Finding(*fields) for fields in row[2])
    if cache and stale:
        fields = {"base": store.base, "roots": list(roots), "files": kept}
        derived.save(store.rules_cache, fields)
    return Table(tuple(found), tuple(findings), stamps, lines, keys, unread)


def _listed(store: Store) -> tuple[list[tuple[str, list[int]]], list[Finding]]:
    """Return the rule files with their stamps, and findings for whatever else lies there."""
    listed = []
    findings = []
    try:
        with os.scandir(store.routing) as entries:
            names = sorted(e.name for e in entries if e.name.endswith(".md") and e.name[0] != ".")
    except FileNotFoundError:
        return [], []
    except OSError as error:
        reason = f"The rules cannot be listed: {error.strerror or error}."
        repair = "Make it a folder that you can read."
        return [], [Finding("routing-unreadable", store.routing, reason, repair)]
    for name in names:
        stamp = files.stat_stamp(os.path.join(store.routing, name))
        if rules.ID.fullmatch(name[:-3]) is None:
            repair = "Name a rule r_ and six hex digits, or move the file out of the folder."
            where = where_of(store, name)
            reason = "The file is not named as a rule, so it is not read."
            findings.append(Finding("not-a-rule", where, reason, repair, severity="warning"))
        elif stamp is None:
            repair = "Delete the link or restore the file that it points to."
            where = where_of(store, name)
            findings.append(Finding("rule-unreadable", where, "The file is not there.", repair))
        else:
            listed.append((name, stamp))
    return listed, findings


def where_of(store: Store, name: str) -> str:
    """Return how a rule's file is called in a finding: short in a project, whole at home."""
    path = os.path.join(store.routing, name)
    return os.path.relpath(path, store.base) if store.kind == "project" else path


def _row(store: Store, path: str, roots: tuple[str, ...]) -> list[Any]:
    """Read one file into the form in which the cache holds it."""
    where = where_of(store, os.path.basename(path))
    rule: Rule | None = None
    try:
        text = read_file(path)
    except Unreadable as error:
        faults = [error.finding(where)]
    else:
        rule, faults = rules.parse(text, path, roots, where=where)
        if rule is not None:
            faults += _content_faults(rule, where, roots)
    rows = [[f.rule, f.where, f.message, f.repair, f.severity, f.expected] for f in faults]
    if rule is None or errors(faults):
        return [None, rows, "", ""]
    line = rules.line(rule, store.prefix)
    evidence = [[e.session, e.quote, e.region, e.lines] for e in rule.evidence]
    head = [rule.id, rule.when, rule.then, rule.effect, rule.targets, rule.match, rule.origin]
    tail = [rule.status, rule.approval, rule.born, rule.created, evidence, rule.note, rule.formerly]
    return [[*head, *tail], rows, line, conditions.key(rule.when)]


def _content_faults(rule: Rule, where: str, roots: tuple[str, ...]) -> list[Finding]:
    """Report a rule that would be refused if it were taught, whoever wrote the file."""
    faults = []
    if conditions.is_vacuous(rule.when):
        message = "The condition holds for every task."
        faults.append(
            Finding("when-vacuous", where, message, "Name a kind of task, or delete the rule.")
        )
    named = conditions.named_lesson(rule.when, roots, match=rule.match)
    if named is not None:
        message = f"The condition is about the lesson {named}, not about a kind of task."
        faults.append(Finding("when-names-a-lesson", where, message, "Name a kind of task."))
    if redact.holds_secret(f"{rule.when}\n{rule.then}"):
        message = "The rule holds something that looks like a secret."
        faults.append(Finding("secret", where, message, "Take it out of the file and revoke it."))
    return faults


class Unreadable(Exception):
    """Why a file holds no text that could be a rule."""

    def __init__(self, rule: str, reason: str, repair: str, line: int = 1) -> None:
        super().__init__(reason)
        self.rule = rule
        self.repair = repair
        self.line = line

    def finding(self, where: str) -> Finding:
        return Finding(self.rule, f"{where}:{self.line}", f"{self}.", self.repair)


def read_file(path: str) -> str:
    """Return the text of a rule's file; raises Unreadable with the line and the reason."""
    try:
        found = os.stat(path)
        if not stat.S_ISREG(found.st_mode):
            kind = "a folder" if stat.S_ISDIR(found.st_mode) else "no regular file"
            raise Unreadable("rule-unreadable", f"It is {kind}", "Move it elsewhere.")
        if found.st_size > MAX_FILE_BYTES:
            reason = f"The file has {found.st_size} bytes, more than {MAX_FILE_BYTES}"
            raise Unreadable("rule-too-long", reason, "Cut it down to one rule.")
        raw = files.read_bytes(path)
    except OSError as error:
        reason = f"The file cannot be read: {error.strerror or error}"
        raise Unreadable("rule-unreadable", reason, "Make it readable.") from error
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        encoding = "UTF-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "not UTF-8"
        line = raw.count(b"\n", 0, error.start) + 1
        reason = f"The text is {encoding}"
        raise Unreadable("not-utf-8", reason, "Save it as UTF-8.", line) from error
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise Unreadable("nul-character", "The text holds a NUL character", "Delete it.", line)
    return text


def _rule_of(row: list[Any], path: str) -> Rule:
    rule_id, when, then, effect, targets, match, origin, *rest = row
    status, approval, born, created, evidence, note, formerly = rest
    quotes = tuple(Evidence(s, q, r, tuple(n) if n else None) for s, q, r, n in evidence)
    state = (origin, status, approval, born, created, quotes, note, path)
    return Rule(rule_id, when, then, effect, tuple(targets), tuple(match), *state, tuple(formerly))


def _load_cache(store: Store, roots: tuple[str, ...]) -> dict[str, Any]:
    """Return the cached rows by file name; anything but a cache of this version is empty."""
    stored = derived.load(store.rules_cache)
    same = stored.get("roots") == list(roots) and stored.get("base") == store.base
    rows = stored.get("files") if same else None
    return rows if isinstance(rows, dict) and all(map(_is_row, rows.values())) else {}


def _is_row(row: object) -> bool:
    return isinstance(row, list) and len(row) == 5  # noqa: PLR2004 - stamp, rule, findings, line, key


def write(store: Store, rule: Rule) -> Rule:
    """Write a rule's file and return the rule with its path. The caller holds the lock."""
    path = path_of(store, rule.id)
    files.replace(path, rules.render(rule), follow=store.base)
    return replace(rule, path=path)


def update(
    store: Store,
    rule_id: str,
    changes: Mapping[str, object | None],
    roots: tuple[str, ...],
) -> Rule:
    """Set or delete keys in a rule's file and return the rule; all else keeps its bytes.

    Raises RoseError where there is no such rule, Refused where its file cannot be read exactly
    or would be broken by the change. The caller holds the lock.
    """
    path = path_of(store, rule_id)
    try:
        text = read_file(path)
    except Unreadable as error:
        raise RoseError(f"{rule_id}: {error}. `rose route` lists the rules.") from error
    texts = {key: str(value) if isinstance(value, int) else value for key, value in changes.items()}
    edited = frontmatter.edit(text, texts, path)
    rule, findings = rules.parse(edited, path, roots)
    if rule is None:
        raise Refused(findings)
    files.replace(path, edited, follow=store.base)
    return rule


def delete(store: Store, rule_id: str) -> None:
    """Delete a rule's file; raises RoseError where there is none. The caller holds the lock."""
    if not files.delete(path_of(store, rule_id)):
        raise RoseError(f"There is no rule {rule_id}. `rose route` lists the rules.")


def new_id(
    existing: Container[str], random: Callable[[], str] = lambda: secrets.token_hex(3)
) -> str:
    """Return a rule id that is not among those in use."""
    while (rule_id := f"r_{random()}") in existing:
        continue
    return rule_id
