"""Reads one lesson's bytes into what the store knows of it; no content makes it fail.

A lesson whose header is broken is a lesson still: its title comes from its text, and a finding
names the line and the reason. At most the first mebibyte is read for words; all of it is hashed.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from rose import frontmatter, recovery, redact
from rose import text as texts
from rose.findings import Finding, errors
from rose.store import prose

if TYPE_CHECKING:
    from collections.abc import Sequence

HEAD_BYTES = 1 << 20
MAX_GIST = 200
MAX_TITLE = 200
STATUSES = ("active", "archived", "superseded")
# What an editor or an agent program writes down as the files that a text is for.
CONDITIONS = ("globs", "applyTo")
# What may be taken from a broken header: nothing that would change what a lesson is.
_LIKELY = ("title", "name", "gist", "description", *CONDITIONS)
_SAYS = ("title", "gist", "description", "tags")


@dataclass(frozen=True, slots=True)
class Parsed:
    """What one file says about itself; `findings` hold only the line in `where`, such as `:3`."""

    name: str = ""
    title: str = ""
    gist: str = ""
    tags: tuple[str, ...] = ()
    status: str = "active"
    superseded_by: str = ""
    origin: str = ""
    evidence: tuple[str, ...] = ()
    created: str = ""
    version: str = ""
    findings: tuple[Finding, ...] = ()


class Part(NamedTuple):
    """What of a lesson is read for words, the version of all of it, and whether there is more.

    `header` is what stands between its `---` lines, `start` where the body begins.
    """

    text: str
    version: str
    is_cut: bool
    header: str
    start: int

    @property
    def body(self) -> str:
        return self.text[self.start :]


def read(path: str) -> Parsed:
    """Return what a lesson's file says; raises OSError."""
    head, version, is_cut = _head(path)
    return parse(head, path, version=version, is_cut=is_cut)


def read_text(path: str) -> tuple[str, str]:
    """Return a lesson's text, as far as it is read for words, and its version; raises OSError."""
    part = read_part(path)
    return part.text, part.version


def read_part(path: str) -> Part:
    """Return a lesson's text as far as it is read for words; raises OSError."""
    head, version, is_cut = _head(path)
    text = _decode(head, is_cut=is_cut)[0]
    document = frontmatter.split(text)
    return Part(text, version, is_cut, document.header or "", len(text) - len(document.body))


def _head(path: str) -> tuple[bytes, str, bool]:
    """Return the beginning of a file, the digest of all of it, and whether there is more."""
    digest = hashlib.sha256()
    with open(path, "rb") as stream:
        head = stream.read(HEAD_BYTES)
        digest.update(head)
        rest = stream.read(HEAD_BYTES)
        is_cut = bool(rest)
        while rest:
            digest.update(rest)
            rest = stream.read(HEAD_BYTES)
    return head, digest.hexdigest()[:16], is_cut


def parse(raw: bytes, path: str, *, version: str, is_cut: bool = False) -> Parsed:
    """Return what a lesson's bytes say; `path` gives the title where nothing else does."""
    text, findings = _decode(raw, is_cut=is_cut)
    if not text.strip():
        findings.append(_warning("lesson-empty", ":1", "The file is empty.", "Write or delete it."))
    if is_cut:
        message = "The file has more than a mebibyte; only its first is searched."
        findings.append(_warning("lesson-cut", ":1", message, "Divide it into several lessons."))
    fields, body, faults = header(text)
    reader = _Fields(fields, [*findings, *faults])
    stem = os.path.splitext(os.path.basename(path))[0]
    is_skill = stem == "SKILL"
    if is_skill:
        stem = os.path.basename(os.path.dirname(path)) or stem
    title = reader.line("title") or (reader.line("name") if is_skill else "")
    superseded_by = reader.line("superseded_by")
    return Parsed(
        name=reader.text("id"),
        title=_cut(title or prose.first_heading(body) or texts.clean_line(stem), MAX_TITLE),
        gist=_cut(
            reader.line("gist") or reader.line("description") or prose.first_sentence(body),
            MAX_GIST,
        ),
        tags=reader.lines("tags"),
        status=_status(reader, superseded_by),
        superseded_by=superseded_by,
        origin=reader.line("origin"),
        evidence=reader.lines("evidence", separator=None),
        created=reader.line("created"),
        version=version,
        findings=tuple(reader.findings),
    )


def header(text: str) -> tuple[dict[str, Any], str, list[Finding]]:
    """Return a lesson's fields, its body and what is wrong with its header.

    Of a header that cannot be read, what names and describes the lesson is taken where it stands.
    """
    fields, body, faults = frontmatter.read(text, "")
    if errors(faults):
        fields = recovery.likely(frontmatter.split(text).header or "", _LIKELY)
    return fields, body, faults


def described(header: str) -> str:
    """Return what a header says of its lesson, for words to be looked for: `_SAYS`, in order.

    It need not be YAML, and nothing else in it is about the lesson.
    """
    fields = recovery.likely(header, _SAYS)
    told = filter(None, map(fields.get, _SAYS))
    return "\n".join(" ".join(x) if isinstance(x, list) else x for x in told)


def _warning(rule: str, where: str, message: str, repair: str) -> Finding:
    return Finding(rule, where, message, repair, severity="warning")


def _decode(raw: bytes, *, is_cut: bool) -> tuple[str, list[Finding]]:
    """Return a text that can be read for words, and what is wrong with the bytes."""
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        fault = Finding("not-utf-8", ":1", "The text is UTF-16.", "Save it as UTF-8.")
        return raw.decode("utf-16", "replace"), [fault]
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        if is_cut and error.start > len(raw) - 4:
            return raw[: error.start].decode("utf-8"), []
        line = raw.count(b"\n", 0, error.start) + 1
        message = f"The text is not UTF-8 (byte {raw[error.start]:#04x})."
        return raw.decode("latin-1"), [
            Finding("not-utf-8", f":{line}", message, "Save it as UTF-8.")
        ]
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        message = "The text holds a NUL character."
        fault = Finding("nul-character", f":{line}", message, "Save it as plain UTF-8 text.")
        return text.replace("\0", ""), [fault]
    return text, []


class _Fields:
    """Takes known keys out of a header; a value of the wrong kind is a finding."""

    def __init__(self, fields: dict[str, Any], findings: Sequence[Finding]) -> None:
        self.fields = fields
        self.findings = list(findings)

    def text(self, key: str) -> str:
        """Return a text as it stands in the file."""
        value = self.fields.get(key, "")
        if isinstance(value, str):
            return value
        self._report(key, "one line of text")
        return ""

    def line(self, key: str) -> str:
        """Return a text as one clean line."""
        return texts.clean_line(self.text(key))

    def lines(self, key: str, separator: str | None = ",") -> tuple[str, ...]:
        """Return a list of texts; one text is split at the separator."""
        value = self.fields.get(key, [])
        if isinstance(value, str):
            value = value.split(separator) if separator else [value]
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            if key != "evidence":
                self._report(key, "a list of words")
            return ()
        cleaned = (texts.clean_line(item) for item in value)
        return tuple(dict.fromkeys(item for item in cleaned if item))

    def _report(self, key: str, expected: str) -> None:
        message = f"`{key}` is not read: it is no {expected}."
        self.findings.append(_warning("lesson-field", "", message, f"Write {expected}."))


def _status(reader: _Fields, superseded_by: str) -> str:
    value = reader.line("status").lower()
    if not value:
        return "superseded" if superseded_by else "active"
    if value in STATUSES:
        return value
    message = f"The status {value!r} is unknown, so the lesson counts as active."
    repair = f"Expected: {', '.join(STATUSES)}."
    reader.findings.append(_warning("lesson-status", "", message, repair))
    return "active"


def _cut(line: str, limit: int) -> str:
    return line if len(line) <= limit else redact.beginning(line, limit - 1).rstrip() + "…"
