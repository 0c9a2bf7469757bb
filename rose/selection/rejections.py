"""Rejections: what a session turned down, one hand-editable Markdown file a session.

`.rose/rejections/s_<digest>.md` holds a section for each lesson. Sections are only added; what a
person wrote stays, and what cannot be read is reported with its line. How much was seen is never
written here: `stages` works it out from the traces. docs/store.md has the form.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rose import files, frontmatter, layout, redact, yamltext
from rose import text as texts
from rose.findings import Finding, Refused, errors

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rose.layout import Store

KIND = "rejections"
NOTE = """
What this session turned down. Take a section out, and its lesson is judged again.
"""
MOST_CHARS = 4_000
MOST_BYTES = 1 << 20
FIELDS = ("query", "why", "version", "trace", "scope", "at")
_FILE = re.compile(r"s_[0-9a-f]{16}\.md")
_HEADING = re.compile(r"##(|[ \t].*)")
_FIELD = re.compile(r"[-*][ \t]+([A-Za-z_]+)[ \t]*:(.*)")


@dataclass(frozen=True, slots=True)
class Rejection:
    """One lesson that a session turned down.

    `version` is the one that was seen, `trace` the record that showed it. `scope` is given where
    the task was the reason: the globs that narrowed it then. `where` is the line of its section.
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


def path_of(store: Store, session: str) -> str:
    """Return a session's file; the id comes from outside and is never a path."""
    return os.path.join(store.rejections, f"s_{layout.digest(_line(session))[:16]}.md")


def of_session(store: Store, session: str) -> Page:
    """Return what one session turned down; nothing of a file that names another session."""
    path = path_of(store, session)
    if not os.path.lexists(path):
        return Page()
    page = _read(store, path)
    kept = _line(session)
    return Page(tuple(row for row in page.rows if row.session == kept), page.findings)


def read(store: Store) -> Page:
    """Return what all sessions turned down, file by file."""
    folder = store.rejections
    try:
        names = sorted(name for name in os.listdir(folder) if _FILE.fullmatch(name))
    except FileNotFoundError:
        return Page()
    except OSError as error:
        reason = f"The rejections cannot be listed: {error.strerror or error}."
        fault = Finding("rejections-unreadable", folder, reason, "Make it a readable folder.")
        return Page((), (fault,))
    pages = [_read(store, os.path.join(folder, name)) for name in names]
    rows = tuple(row for page in pages for row in page.rows)
    return Page(rows, tuple(finding for page in pages for finding in page.findings))


def add(store: Store, new: Rejection) -> Rejection:
    """Add a rejection to its session's file and return it, or the same one if it is there.

    Raises Refused where the file cannot be read: it is then left as it is. Raises Locked,
    Unwritable.
    """
    row = _clean(new)
    path = path_of(store, new.session)
    with files.lock(store.lock):
        text = _written(store, path, row.session)
        if text is None:
            head = yamltext.dump({"kind": KIND, "session": row.session})
            text = f"---\n{head}---\n{NOTE}"
        page = parse(text, _where(store, path))
        for old in page.rows:
            if _key(old) == _key(row):
                return old
        gap = "\n" if text.endswith("\n") else "\n\n"
        files.replace(path, text + gap + _section(row))
    return row


def _key(one: Rejection) -> tuple[object, ...]:
    return one.node, one.version, one.query, one.why, one.scope


def _clean(one: Rejection) -> Rejection:
    """Return a rejection as it may be kept: on single lines, without secrets."""
    kept = {name: _line(getattr(one, name)) for name in ("session", "query", "why")}
    scope = None if one.scope is None else tuple(map(_line, one.scope))
    return Rejection(
        node=one.node, version=one.version, trace=one.trace, scope=scope, at=one.at, **kept
    )


def _line(text: str) -> str:
    return redact.redact(texts.clean_line(text[:MOST_CHARS]))


def _written(store: Store, path: str, session: str) -> str | None:
    """Return the text of a session's file, None where there is none yet; raises Refused."""
    if not os.path.lexists(path):
        return None
    text, findings = _text(store, path)
    header, faults = _header(text, _where(store, path))
    findings += faults
    if not errors(findings) and header.get("session") != session:
        message = f"The file names the session {str(header.get('session'))[:60]!r}."
        findings.append(_broken(f"{_where(store, path)}:1", message, f"Write session: {session}."))
    if errors(findings):
        raise Refused(findings)
    return text


def _section(row: Rejection) -> str:
    fields = {"query": row.query, "why": row.why, "version": row.version, "trace": row.trace}
    lines = [f"- {name}: {value}" for name, value in fields.items() if value]
    if row.scope is not None:
        lines.append(f"- scope: {json.dumps(list(row.scope), ensure_ascii=False)}")
    return "\n".join([f"## {row.node}", "", *lines, f"- at: {row.at}", ""])


def _where(store: Store, path: str) -> str:
    return os.path.relpath(path, store.base) if store.kind == "project" else path


def _broken(where: str, message: str, repair: str) -> Finding:
    return Finding("rejection-unreadable", where, message, repair)


def _text(store: Store, path: str) -> tuple[str, list[Finding]]:
    try:
        return files.read_bytes(path, MOST_BYTES).decode("utf-8"), []
    except (OSError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        message = f"The file cannot be read: {said or error}."
        return "", [_broken(_where(store, path), message, "Mend it, or move it away.")]


def _read(store: Store, path: str) -> Page:
    text, findings = _text(store, path)
    return Page((), tuple(findings)) if findings else parse(text, _where(store, path))


def _header(text: str, where: str) -> tuple[dict[str, Any], list[Finding]]:
    fields, _, findings = frontmatter.read(text, where)
    session = fields.get("session")
    if not errors(findings) and not (isinstance(session, str) and session.strip()):
        message = "The header names no session."
        findings.append(_broken(f"{where}:1", message, "Write `session: ID` in it."))
    return fields, findings


def parse(text: str, where: str) -> Page:
    """Return the rejections in a file's text; `where` is how the file is called in a finding."""
    header, findings = _header(text, where)
    if errors(findings):
        return Page((), tuple(findings))
    first = text.count("\n", 0, len(text) - len(frontmatter.split(text).body)) + 1
    rows = []
    for section in _sections(text.split("\n")[first - 1 :], first, where, findings):
        row = section.row(str(header["session"]).strip(), where, findings)
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
            findings.append(_broken(place, message, repair))
            return None
        scope = self.fields.get("scope")
        globs = None if scope is None else _globs(scope)
        if scope is not None and globs is None:
            message = f"`scope` is {scope[:60]!r}."
            repair = 'Write a list of globs, such as ["nodes/testing/**"], or [].'
            findings.append(_broken(place, message, repair))
            return None
        told = {name: self.fields.get(name, "") for name in ("why", "version", "trace", "at")}
        return Rejection(session, self.node, self.fields["query"], scope=globs, where=place, **told)


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
    section = None
    for number, line in enumerate(lines, first):
        heading = _HEADING.fullmatch(line.rstrip())
        if heading is not None:
            if section is not None:
                yield section
            section = _Section(heading[1].strip(), number)
            continue
        if section is None:
            section_fault = "The line belongs to no lesson." if _FIELD.match(line) else ""
        else:
            section_fault = section.take(line)
        if section_fault:
            repair = "Mend it or take it out; it is not read."
            place = f"{where}:{number}"
            findings.append(Finding("rejection-line", place, section_fault, repair, "warning"))
    if section is not None:
        yield section
