"""Reads one lesson's bytes into what the store knows of it; no content makes it fail.

A lesson whose header is broken is a lesson still: its title comes from its text, and a finding
names the line and the reason. At most the first mebibyte is read for words; all of it is hashed.
"""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from rose import frontmatter, recovery
from rose import text as texts
from rose.findings import Finding, errors

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HEAD_BYTES = 1 << 20
MAX_GIST = 200
MAX_TITLE = 200
# How much of a line is looked at: a title or a first sentence is never that long.
MAX_LINE = 2_000
MAX_LINES = 2_000
STATUSES = ("active", "archived", "superseded")
# What an editor or an agent program writes down as the files that a text is for.
CONDITIONS = ("globs", "applyTo")
# What may be taken from a broken header: nothing that would change what a lesson is.
_LIKELY = ("title", "name", "gist", "description", *CONDITIONS)
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(.*)")
_CLOSING = re.compile(r"(?:^|[ \t]+)#+[ \t]*$")
_FENCE = re.compile(r" {0,3}(```|~~~)")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*")
_NO_PROSE = re.compile(r" {0,3}(#{1,6}[ \t]|<!--|!\[|\[!\[|\||---|\*\*\*|___|:::|<[A-Za-z/])")
_LIST_MARK = re.compile(r"[ \t]*(?:>[ \t]*)*(?:[-*+]|[0-9]{1,3}[.)])?[ \t]+(?=\S)|[ \t]*>[ \t]*")
# A full stop before a small letter is an abbreviation more often than an end.
_SENTENCE_END = re.compile(r"[.!?](?=[ ][^a-z ]|$)|[\u3002\uff01\uff1f]")


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
    """What of a lesson is read for words, the version of all of it, and whether there is more."""

    text: str
    version: str
    is_cut: bool


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
    return Part(_decode(head, is_cut=is_cut)[0], version, is_cut)


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
        title=_cut(title or _first_heading(body) or texts.clean_line(stem), MAX_TITLE),
        gist=_cut(
            reader.line("gist") or reader.line("description") or _first_sentence(body), MAX_GIST
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


def _prose(body: str) -> Iterator[str]:
    """Yield the lines of a body outside its code fences, each cut to what is looked at."""
    fence = ""
    start = 0
    for _ in range(MAX_LINES):
        if start >= len(body):
            return
        end = body.find("\n", start)
        end = len(body) if end < 0 else end
        line = body[start : min(end, start + MAX_LINE)].rstrip("\r")
        start = end + 1
        mark = _FENCE.match(line)
        if mark is not None and fence in ("", mark[1]):
            fence = "" if fence else mark[1]
        elif not fence:
            yield line


def _first_heading(body: str) -> str:
    above = ""
    for line in _prose(body):
        found = _HEADING.match(line)
        if found is not None:
            title = texts.clean_line(_CLOSING.sub("", found[1]))
            if title:
                return title
        elif above.strip() and "=" in line and _UNDERLINE.fullmatch(line):
            return texts.clean_line(above)
        above = line
    return ""


def _first_sentence(body: str) -> str:
    """Return the first sentence of the first paragraph of prose."""
    sentence = texts.clean_line(" ".join(_first_paragraph(body))[:MAX_LINE])
    end = _SENTENCE_END.search(sentence)
    return sentence if end is None else sentence[: end.end()]


def _first_paragraph(body: str) -> list[str]:
    paragraph: list[str] = []
    for line in _without_markup(list(_prose(body))):
        mark = _LIST_MARK.match(line)
        begins_item = mark is not None and bool(mark[0].strip())
        if paragraph and (not line or begins_item or sum(map(len, paragraph)) > MAX_LINE):
            break
        if line:
            paragraph.append(line if mark is None else line[mark.end() :])
    return paragraph


def _without_markup(lines: list[str]) -> Iterator[str]:
    """Yield each line of prose, and a blank one for every line of markup."""
    in_comment = False
    for number, line in enumerate(lines):
        was_in_comment = in_comment
        in_comment = (in_comment or "<!--" in line) and "-->" not in line
        below = lines[number + 1] if number + 1 < len(lines) else ""
        is_title = "=" in below and _UNDERLINE.fullmatch(below) is not None
        is_markup = (
            was_in_comment
            or is_title
            or not line.strip()
            or _NO_PROSE.match(line) is not None
            or _UNDERLINE.fullmatch(line) is not None
        )
        yield "" if is_markup else line


def _cut(line: str, limit: int) -> str:
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
