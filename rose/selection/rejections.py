"""Rejections: what a session turned down, as the sections of a Markdown page.

Sections are only added; what a person wrote stays, and what cannot be read is reported with its
line. How much was seen is never written here: `stages` works it out from the traces.
docs/store.md has the form.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rose import files, frontmatter, redact, yamltext
from rose import text as texts
from rose.findings import Finding, errors
from rose.selection import session_id

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

KIND = "rejections"
NOTE = """
What this session turned down. Take a section out, and its lesson is judged again.
"""
# Of a query, a reason, or another value but the scope.
MOST_CHARS = 1_000
FIELDS = ("query", "why", "version", "trace", "scope", "at")
_HEADING = re.compile(r"##(|[ \t].*)")
_FIELD = re.compile(r"[-*][ \t]+([A-Za-z_]+)[ \t]*:(.*)")


@dataclass(frozen=True, slots=True)
class Rejection:
    """One lesson that a session turned down.

    `version` is the one that was seen, empty for any, `trace` the record that showed it. `scope`
    is given where the task was the reason: the globs that narrowed it then. `where` is the line
    of its section.
    """

    session: str
    node: str
    query: str
    why: str = ""
    version: str = ""
    trace: str = ""
    scope: tuple[str, ...] | None = None
    at: str = ""
    where: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """The rejections in a file, or in several, and what is wrong with the rest of it."""

    rows: tuple[Rejection, ...] = ()
    findings: tuple[Finding, ...] = ()


def clean(one: Rejection) -> Rejection:
    """Return a rejection as it may be kept: each value on one line, without secrets."""
    kept = {name: _line(getattr(one, name)) for name in ("query", "why", "version", "trace", "at")}
    scope = None if one.scope is None else tuple(map(_line, one.scope))
    return Rejection(session_id.kept(one.session), one.node, scope=scope, **kept)


def _line(text: str) -> str:
    return redact.beginning(texts.clean_line(text), MOST_CHARS).rstrip()


def head(session: str) -> str:
    """Return the text of a page without a section."""
    return f"---\n{yamltext.dump({'kind': KIND, 'session': session})}---\n{NOTE}"


def section(row: Rejection) -> str:
    """Return a rejection as a section of a page."""
    fields = {"query": row.query, "why": row.why, "version": row.version, "trace": row.trace}
    lines = [f"- {name}: {value}" for name, value in fields.items() if value]
    if row.scope is not None:
        lines.append(f"- scope: {json.dumps(list(row.scope), ensure_ascii=False)}")
    return "\n".join([f"## {row.node}", "", *lines, f"- at: {row.at}", ""])


def broken(where: str, message: str, repair: str) -> Finding:
    return Finding("rejection-unreadable", where, message, repair)


def header(text: str, where: str) -> tuple[dict[str, Any], list[Finding]]:
    """Return the header of a page, with the id of its session as it is kept."""
    fields, _, findings = frontmatter.read(text, where)
    session = fields.get("session")
    kept = session_id.kept(session) if isinstance(session, str) else ""
    if not errors(findings) and not kept:
        message = "The header names no session."
        findings.append(broken(f"{where}:1", message, "Write `session: ID` in it."))
    return {**fields, "session": kept}, findings


def parse(text: str, where: str) -> Page:
    """Return the rejections in a file's text; `where` is how the file is called in a finding."""
    fields, findings = header(text, where)
    if errors(findings):
        return Page((), tuple(findings))
    first = text.count("\n", 0, len(text) - len(frontmatter.split(text).body)) + 1
    rows = []
    for one in _sections(text.split("\n")[first - 1 :], first, where, findings):
        row = one.row(fields["session"], where, findings)
        if row is not None:
            rows.append(row)
    return Page(tuple(rows), tuple(findings))


class _Section:
    """One lesson's section, line by line."""

    def __init__(self, node: str, line: int) -> None:
        self.node = node
        self.line = line
        self.fields: dict[str, str] = {}
        self._open = ""

    def take(self, line: str) -> str:
        """Take a line in, and return what is wrong with it."""
        found = _FIELD.fullmatch(line.rstrip())
        if found is None:
            if self._open and line[:1] in " \t" and line.strip():
                # A value that a person broke into lines.
                if len(self.fields[self._open]) < MOST_CHARS:
                    self.fields[self._open] += " " + line.strip()
                return ""
            self._open = ""
            # Anything but a list is a person's own words.
            return "The line is no field of a rejection." if line[:2] in ("- ", "* ") else ""
        name = found[1].lower()
        self._open = ""
        if name not in FIELDS:
            return f"A rejection has no field `{name[:60]}`."
        if name in self.fields:
            return f"`{name}` stands here twice."
        self.fields[name] = found[2].strip()
        self._open = name
        return ""

    def row(self, session: str, where: str, findings: list[Finding]) -> Rejection | None:
        """Return the rejection, None where the section does not say what was turned down."""
        place = f"{where}:{self.line}"
        if not self.node or not self.fields.get("query"):
            message = "The section names no lesson." if not self.node else "There is no `query`."
            repair = "Write `## LESSON` and below it `- query: …`, or take the section out."
            findings.append(broken(place, message, repair))
            return None
        scope = self.fields.pop("scope", None)
        globs = None if scope is None else _globs(scope)
        if scope is not None and globs is None:
            message = f"`scope` is {scope[:60]!r}."
            repair = 'Write a list of globs, such as ["nodes/testing/**"], or [].'
            findings.append(broken(place, message, repair))
            return None
        told = {name: value[:MOST_CHARS].rstrip() for name, value in self.fields.items()}
        return Rejection(session, self.node, scope=globs, where=place, **told)


def _globs(text: str) -> tuple[str, ...] | None:
    try:
        value = files.parse_json(text)
    except ValueError:
        return None
    if not isinstance(value, list) or not all(isinstance(glob, str) for glob in value):
        return None
    return tuple(value)


def _sections(
    lines: Sequence[str], first: int, where: str, findings: list[Finding]
) -> Iterator[_Section]:
    """Yield the sections of a page, and note each line that says nothing that is known."""
    one = None
    for number, line in enumerate(lines, first):
        heading = _HEADING.fullmatch(line.rstrip())
        if heading is not None:
            if one is not None:
                yield one
            one = _Section(heading[1].strip(), number)
            continue
        if one is None:
            fault = "The line belongs to no lesson." if _FIELD.match(line) else ""
        else:
            fault = one.take(line)
        if fault:
            repair = "Mend it or take it out; it is not read."
            place = f"{where}:{number}"
            findings.append(Finding("rejection-line", place, fault, repair, "warning"))
    if one is not None:
        yield one
