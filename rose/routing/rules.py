"""A selection rule: its text on disk, and the one line it becomes.

A file holds no counters, so it changes only when the rule's text or state does. What a person
wrote is kept as it stands; the line that reaches the model is made from it each time.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rose import frontmatter, redact, yamltext
from rose.findings import Finding, errors
from rose.routing import features, wording
from rose.routing import targets as target

EFFECTS = ("prefer", "skip")
STATUSES = ("proposed", "active", "declined", "retired")
ORIGINS = ("manual", "reflection")
APPROVALS = ("approved", "declined")
ID = re.compile(r"r_[0-9a-f]{6}")
_DIGITS = re.compile(r"[0-9]{1,18}")


@dataclass(frozen=True, slots=True)
class Evidence:
    """A quote from one session; region and lines tell one occurrence from another."""

    session: str
    quote: str
    region: int | None = None
    lines: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """One when/then rule; `path` is its file, `note` the text below the header.

    `formerly` are targets whose lessons were renamed: the record of before names them so.
    """

    id: str
    when: str
    then: str
    effect: str = "prefer"
    targets: tuple[str, ...] = ()
    match: tuple[str, ...] = ()
    origin: str = "manual"
    status: str = "active"
    approval: str | None = None
    born: int = 0
    created: str = ""
    evidence: tuple[Evidence, ...] = ()
    note: str = ""
    path: str = ""
    formerly: tuple[str, ...] = ()

    @property
    def is_persons(self) -> bool:
        """Tell whether a person wrote it or decided on it: reflection leaves it alone."""
        return self.origin == "manual" or self.approval is not None

    @property
    def recorded_targets(self) -> tuple[str, ...]:
        """Return the targets by which the record may know the rule's lessons."""
        return (*self.targets, *self.formerly)


def line(rule: Rule, base: str | None = None) -> str:
    """Return the rule as it is injected; with a base its targets are absolute below it."""
    then = rule.then if base is None else wording.absolute(rule.then, rule.targets, base)
    return wording.line(rule.when, then)


def parse(
    text: str, path: str, roots: tuple[str, ...], *, where: str | None = None
) -> tuple[Rule | None, list[Finding]]:
    """Return the rule in a file's text and what is wrong; with an error there is no rule.

    Keys that a person left out have defaults, and targets are then read from `then`.
    """
    named = where or path
    fields, body, findings = frontmatter.read(text, named)
    reader = Reader(text, named, fields, findings)
    if errors(findings):
        return None, findings
    match = reader.words("match")
    rule = Rule(
        id=reader.stem(path),
        when=wording.condition(reader.text("when")) or features.when_from_match(match),
        then=wording.clause(reader.text("then")),
        effect=reader.choice("effect", EFFECTS, "prefer"),
        targets=reader.words("targets"),
        match=match,
        origin=reader.choice("origin", ORIGINS, "manual"),
        status=reader.choice("status", STATUSES, "active"),
        approval=reader.choice("approval", APPROVALS, "") or None,
        born=reader.number("born"),
        created=reader.text("created"),
        evidence=reader.evidence(),
        note=body,
        path=path,
        formerly=reader.words("formerly"),
    )
    if not fields.get("targets"):
        rule = replace(rule, targets=target.targets_of(rule.then, roots))
    reader.require(rule)
    return (None if errors(findings) else rule), findings


def render(rule: Rule) -> str:
    """Return the text of a rule's file; `parse` gives back an equal rule."""
    fields: dict[str, Any] = {"id": rule.id, "when": rule.when, "then": rule.then}
    fields["effect"] = rule.effect
    if rule.targets:
        fields["targets"] = list(rule.targets)
    if rule.match:
        fields["match"] = list(rule.match)
    if rule.formerly:
        fields["formerly"] = list(rule.formerly)
    fields |= {"origin": rule.origin, "status": rule.status}
    if rule.approval is not None:
        fields["approval"] = rule.approval
    fields["born"] = str(rule.born)
    if rule.created:
        fields["created"] = rule.created
    if rule.evidence:
        fields["evidence"] = [evidence_fields(item) for item in rule.evidence]
    return f"---\n{yamltext.dump(fields)}---\n{rule.note}"


def evidence_fields(item: Evidence) -> dict[str, Any]:
    """Return one piece of evidence as it stands in a header."""
    fields: dict[str, Any] = {"session": item.session} if item.session else {}
    fields["quote"] = item.quote
    if item.region is not None:
        fields["region"] = str(item.region)
    if item.lines is not None:
        fields["lines"] = [str(number) for number in item.lines]
    return fields


def _place(value: object) -> int:
    """Return a number counted from 1; 0, which is no place, for anything else."""
    return int(value) if isinstance(value, str) and _DIGITS.fullmatch(value) else 0


def _span(value: object) -> tuple[int, int]:
    first, last = value if isinstance(value, list) and len(value) == 2 else ("", "")  # noqa: PLR2004 - first and last
    return _place(first), _place(last)


class Reader:
    """Reads the fields of one header and collects what is wrong with them.

    `broken` are the keys at fault, whose values say nothing, and parts of them: `evidence 2`.
    """

    def __init__(
        self, text: str, where: str, fields: Mapping[str, Any], findings: list[Finding]
    ) -> None:
        self.raw = text
        self.where = where
        self.fields = fields
        self.findings = findings
        self.broken: set[str] = set()

    def fail(
        self, key: str, rule: str, message: str, repair: str, expected: str = "", *, part: str = ""
    ) -> None:
        """Report a key, or a part of it: what else it holds is then judged all the same."""
        found = re.search(rf"^{re.escape(key)}[ \t]*:", self.raw, re.MULTILINE)
        number = self.raw.count("\n", 0, found.start()) + 1 if found else 1
        place = f"{self.where}:{number}"
        self.broken.add(part or key)
        self.findings.append(Finding(rule, place, message, repair, expected=expected or None))

    def text(self, key: str) -> str:
        value = self.fields.get(key, "")
        if isinstance(value, str):
            return value.strip()
        self.fail(key, "field-type", f"`{key}` is no text.", "Write it in quotes on one line.")
        return ""

    def choice(self, key: str, allowed: tuple[str, ...], default: str) -> str:
        value = self.fields.get(key, "") or default
        if value == default or value in allowed:
            return str(value)
        expected = " or ".join(allowed)
        message = f"`{key}` is {redact.quoted(str(value))}."
        self.fail(key, "field-value", message, f"Write {expected}.", expected)
        return default

    def number(self, key: str) -> int:
        value = self.fields.get(key, "") or "0"
        if isinstance(value, str) and _DIGITS.fullmatch(value):
            return int(value)
        message = f"`{key}` is {redact.quoted(str(value))}."
        self.fail(key, "field-value", message, "Write a whole number from 0.", "a number from 0")
        return 0

    def words(self, key: str) -> tuple[str, ...]:
        """Return a list of texts; a single text stands for a list of one."""
        value = self.fields.get(key, [])
        items = [value] if isinstance(value, str) else value
        if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
            self.fail(key, "field-type", f"`{key}` is no list of texts.", f"Write {key}: [a, b].")
            return ()
        return tuple(dict.fromkeys(item.strip() for item in items if item.strip()))

    def evidence(self) -> tuple[Evidence, ...]:
        value = self.fields.get("evidence", [])
        items = value if isinstance(value, list) else [value]
        given = enumerate(filter(None, items), 1)
        return tuple(self._evidence_item(item, f"evidence {number}") for number, item in given)

    def _evidence_item(self, item: object, part: str) -> Evidence:
        if isinstance(item, str):
            return Evidence("", item)
        if isinstance(item, Mapping) and isinstance(item.get("quote"), str):
            session = item.get("session", "")
            return Evidence(
                session if isinstance(session, str) else "",
                item["quote"],
                _place(item["region"]) if item.get("region") else None,
                _span(item["lines"]) if item.get("lines") else None,
            )
        message = f"`{part}` has no quote."
        self.fail("evidence", "field-type", message, 'Write {quote: "…"}.', part=part)
        return Evidence("", "")

    def stem(self, path: str) -> str:
        """Return the id that the file's name gives; the header may only repeat it."""
        stem = os.path.basename(path).removesuffix(".md")
        given = self.text("id")
        if given and given != stem:
            message = f"The id is {redact.quoted(given)}, the file is named {stem!r}."
            self.fail("id", "id-mismatch", message, f"Write id: {stem}, or rename the file.", stem)
        return stem

    def require(self, rule: Rule) -> None:
        """Report a rule that says nothing, or whose match or targets cannot be used."""
        if self.is_bare():
            return
        for key, value in (("when", rule.when), ("then", rule.then)):
            if not wording.safe(value) and isinstance(self.fields.get(key, ""), str):
                self.fail(key, f"{key}-missing", f"There is no `{key}`.", f"Write `{key}: …`.")
            elif len(value) > wording.MOST_CHARS:
                message = f"`{key}` is longer than {wording.MOST_CHARS} characters."
                self.fail(key, "too-large", message, "Shorten it.")
        for feature in rule.match:
            reason = features.fault(feature)
            if reason is not None:
                self.fail("match", "match-invalid", f"{reason}.", "Mend or drop that feature.")
        self.require_inside(rule.targets)

    def is_bare(self) -> bool:
        """Tell whether there is no header at all, and report it."""
        if self.fields or self.findings:
            return False
        message = "The file is empty." if not self.raw.strip() else "There is no frontmatter."
        repair = "Write `when:` and `then:` between two lines `---`, or delete the file."
        self.fail("when", "frontmatter-missing", message, repair)
        return True

    def require_inside(self, targets: Sequence[str]) -> None:
        """Report each target that leads out of the store."""
        for path in targets:
            if not target.is_inside(path):
                message = f"The target {redact.quoted(path)} is no path inside the store."
                self.fail("targets", "target-outside", message, "Write a path below the project.")
