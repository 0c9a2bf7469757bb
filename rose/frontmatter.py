"""The only door to PyYAML: reads, edits and writes frontmatter.

Every scalar is read as the text that stands in the file, so `no`, `012` and dates stay what a
person wrote. An edit is textual: only the named keys change (docs/decisions/003).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rose import recovery, yamltext
from rose.findings import Finding, Refused

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

# What is found of a header that YAML refuses and that was read line by line.
RECOVERED = "frontmatter-recovered"
READ_ALL_THE_SAME = "rose reads the header line by line all the same."
MAX_HEADER_CHARS = 100_000
MAX_DEPTH = 50
_FENCE = re.compile(r"---[ \t]*")
_CLOSING = re.compile(r"^---[ \t]*\r*$\n?", re.MULTILINE)
_CONFLICT = re.compile(r"(<{7}|>{7}|\|{7})( |$)|={7}$")


@dataclass(frozen=True, slots=True)
class Document:
    """A file taken apart; joined again it is the same text."""

    bom: str
    opening: str
    header: str | None
    closing: str
    body: str
    newline: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One top-level key of a header and the lines [first, last) that hold it."""

    key: str
    value: Any
    first: int
    last: int


def split(text: str) -> Document:
    """Take a text apart at its `---` lines; without two of them it is all body.

    A header that cannot be read is one still. What begins with a blank line and holds no key
    stands between two rules in prose.
    """
    bom = "\ufeff" if text.startswith("\ufeff") else ""
    start = len(bom)
    # Only a line feed ends a line in a file.
    first = (text.find("\n", start) + 1) or len(text)
    opening = text[start:first]
    newline = "\r\n" if opening.endswith("\r\n") else "\n"
    if _FENCE.fullmatch(opening.rstrip("\r\n")):
        closing = _CLOSING.search(text, first)
        if closing is not None and not _is_prose(text[first : closing.start()]):
            header, body = text[first : closing.start()], text[closing.end() :]
            return Document(bom, opening, header, closing[0], body, newline)
    return Document(bom, "", None, "", text[start:], newline)


def _is_prose(header: str) -> bool:
    lines = [line.rstrip("\r").rstrip() for line in header.split("\n")]
    return not lines[0] and any(lines) and not any(map(recovery.KEY_LINE.fullmatch, lines))


def read(text: str, where: str) -> tuple[dict[str, Any], str, list[Finding]]:
    """Return the fields, the body and what is wrong; scalars are str, lists and maps nest.

    A header that YAML refuses is read line by line where that leaves no doubt (a warning);
    otherwise there are no fields and one error finding with the line.
    """
    document = split(text)
    conflict = _conflict(text, where)
    if conflict is not None:
        return {}, document.body, [conflict]
    if document.header is None:
        unclosed = _unclosed(document, where)
        return {}, document.body, [] if unclosed is None else [unclosed]
    fields, findings = load(document.header, where, first_line=2)
    return fields, document.body, findings


def _conflict(text: str, where: str) -> Finding | None:
    # A line of equals signs alone underlines a heading, so the opening mark must be there too.
    if "<<<<<<< " not in text or ">>>>>>> " not in text:
        return None
    for number, line in enumerate(text.split("\n"), 1):
        if _CONFLICT.match(line.rstrip("\r")) and line.startswith("<"):
            return Finding(
                "merge-conflict",
                f"{where}:{number}",
                "The file holds merge-conflict markers.",
                "Settle the conflict and save the file.",
            )
    return None


def _unclosed(document: Document, where: str) -> Finding | None:
    first, _, rest = document.body.partition("\n")
    if not _FENCE.fullmatch(first.rstrip("\r")) or not recovery.KEY_LINE.match(
        rest.partition("\n")[0].rstrip("\r")
    ):
        return None
    return Finding(
        "frontmatter-unclosed",
        f"{where}:1",
        "The frontmatter is opened by `---` and never closed.",
        "Add a line `---` after the last key.",
    )


def load(text: str, where: str, *, first_line: int = 1) -> tuple[dict[str, Any], list[Finding]]:
    """Return the mapping of a YAML text and what is wrong with it; see `read`."""
    try:
        entries = _entries(text)
    except _Broken as broken:
        fault = Finding(
            "frontmatter",
            f"{where}:{first_line + broken.line}",
            f"{broken.reason}.",
            broken.repair,
        )
        recovered = recovery.recover(text)
        if recovered is None:
            return {}, [fault]
        mild = Finding(RECOVERED, fault.where, fault.message, READ_ALL_THE_SAME, severity="warning")
        return recovered, [mild]
    return {entry.key: entry.value for entry in entries}, []


class _Broken(Exception):
    """Why a YAML text is not a plain mapping, and on which line (from 0)."""

    def __init__(self, line: int, reason: str, repair: str = "Mend that line.") -> None:
        super().__init__(reason)
        self.line = line
        self.reason = reason
        self.repair = repair


def _yaml() -> Any:
    import yaml

    return yaml


def _entries(text: str) -> list[Entry]:
    """Return the top-level entries in file order; raises _Broken."""
    yaml = _yaml()
    if len(text) > MAX_HEADER_CHARS:
        raise _Broken(0, f"The header is longer than {MAX_HEADER_CHARS} characters")
    # The loader without types: a scalar is the text that stands there.
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        depth = 0
        for event in yaml.parse(text, Loader=loader):
            if isinstance(event, yaml.AliasEvent):
                raise _Broken(
                    event.start_mark.line, "A bare `*` starts an alias", "Quote the value."
                )
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > MAX_DEPTH:
                raise _Broken(event.start_mark.line, f"Nested deeper than {MAX_DEPTH} levels")
        root = yaml.compose(text, Loader=loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        parts = (error.context, error.problem or str(error))
        reason = ": ".join(part.strip() for part in parts if part)
        raise _Broken(mark.line if mark else 0, _plain(reason), "Quote the value.") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise _Broken(0, _plain(str(error).splitlines()[0])) from error
    if root is None:
        return []
    if not isinstance(root, yaml.MappingNode):
        raise _Broken(root.start_mark.line, "The header is no list of `key: value` lines")
    return list(_read_entries(yaml, root, text.count("\n") + 1))


def _plain(reason: str) -> str:
    return reason[:1].upper() + reason[1:]


def _read_entries(yaml: Any, root: Any, end: int) -> Iterator[Entry]:
    seen: set[str] = set()
    starts = [key.start_mark.line for key, _ in root.value]
    ends = [*starts[1:], end][: len(starts)]
    for (key, node), last in zip(root.value, ends, strict=True):
        name = str(key.value)
        if name in seen:
            raise _Broken(
                key.start_mark.line,
                f"The key `{name}` occurs twice",
                "Keep one of the two.",
            )
        seen.add(name)
        yield Entry(name, _value(yaml, node), key.start_mark.line, last)


def _value(yaml: Any, node: Any) -> Any:
    if isinstance(node, yaml.ScalarNode):
        return str(node.value)
    if isinstance(node, yaml.SequenceNode):
        return [_value(yaml, item) for item in node.value]
    fields: dict[str, Any] = {}
    for key, item in node.value:
        name = str(key.value)
        if name in fields:
            raise _Broken(
                key.start_mark.line, f"The key `{name}` occurs twice", "Keep one of the two."
            )
        fields[name] = _value(yaml, item)
    return fields


def edit(text: str, changes: Mapping[str, Any], where: str = "text") -> str:
    """Return the text with the named top-level keys set, or deleted where None.

    Everything else keeps its bytes: order, comments, unknown keys, BOM, line ends, body.
    Raises Refused where the header cannot be read exactly, or one key not be changed alone.
    """
    document = split(text)
    findings: list[Finding] = []
    conflict = _conflict(text, where) or (
        _unclosed(document, where) if document.header is None else None
    )
    if conflict is None and document.header is not None:
        findings = load(document.header, where, first_line=2)[1]
    if conflict is not None or findings:
        raise Refused([conflict] if conflict is not None else findings)
    header = edit_header(document.header or "", changes, document.newline, where)
    if document.header is None:
        fence = "---" + document.newline
        return document.bom + fence + header + fence + document.body
    return document.bom + document.opening + header + document.closing + document.body


def edit_header(header: str, changes: Mapping[str, Any], newline: str, where: str) -> str:
    """Return a YAML mapping with its named keys set; the header must be readable.

    Raises Refused where the other keys would not stay what they are.
    """
    lines = header.split("\n")
    if not lines[-1]:
        lines.pop()
    entries = {entry.key: entry for entry in _entries(header)}
    for key in sorted(
        (key for key in changes if key in entries), key=lambda key: -entries[key].first
    ):
        entry = entries[key]
        last = _without_trailing_comments(lines, entry.first, min(entry.last, len(lines)))
        value = changes[key]
        put = [] if value is None else yamltext.entry(key, value, newline).split("\n")[:-1]
        lines[entry.first : last] = put
    for key, value in changes.items():
        if key not in entries and value is not None:
            lines.extend(yamltext.entry(key, value, newline).split("\n")[:-1])
    edited = "\n".join(lines) + "\n" if lines else ""
    _refuse_loss(entries.values(), changes, edited, where)
    return edited


def _refuse_loss(
    before: Iterable[Entry], changes: Mapping[str, Any], edited: str, where: str
) -> None:
    """Raise Refused unless an edited header says what it said and what was set."""
    now, findings = load(edited, where)
    put = {key for key, value in changes.items() if value is not None}
    kept = {entry.key: entry.value for entry in before if entry.key not in changes}
    rest = {key: value for key, value in now.items() if key not in put}
    if not findings and rest == kept and put <= now.keys():
        return
    fault = Finding(
        "frontmatter-not-editable",
        where,
        "No single key can be changed here without damage to the rest, so all stays as it is.",
        "Write each key on lines of its own, with no braces around them, and try again.",
    )
    raise Refused([fault])


def _without_trailing_comments(lines: list[str], first: int, last: int) -> int:
    """Return the end of an entry less the comments and blank lines that follow it."""
    while last > first + 1 and (
        not lines[last - 1].strip() or lines[last - 1].lstrip().startswith("#")
    ):
        last -= 1
    return last
