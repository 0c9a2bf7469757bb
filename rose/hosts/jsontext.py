"""JSON as a person keeps it: read with its places, edited without touching another byte.

Comments and trailing commas are read, since agent programs take them. An edit is an insertion
that its own removal undoes exactly: white space before the new element is ours because the
insertion starts right behind a bracket, an element or a comment.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

MAX_DEPTH = 200
BOM = "\ufeff"
BLANK = " \t\r\n"
_SPACE = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_WORD = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])|(?:true|false|null)\b")
_INDENTED = re.compile(r'^([ \t]{1,8})"', re.MULTILINE)


class Unreadable(ValueError):
    """The text is no JSON; `line` counts from 1."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True, slots=True)
class Child:
    """An element of an array (key None) or a member of an object, with its place."""

    key: str | None
    start: int
    node: Node


@dataclass(frozen=True, slots=True)
class Node:
    """A value and its place; `children` are those of an object or an array."""

    start: int
    end: int
    value: object
    children: tuple[Child, ...] = ()

    def child(self, key: str) -> Child | None:
        """Return the member of that name; of several the last, as every reader does."""
        return next((child for child in reversed(self.children) if child.key == key), None)


def parse(text: str) -> Node:
    """Return the one value of a text; raises Unreadable."""
    reader = _Reader(text)
    node = reader.value(reader.space(len(BOM) if text.startswith(BOM) else 0), 0)
    end = reader.space(node.end)
    if end != len(text):
        raise reader.fault("text after the end", end)
    return node


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text

    def fault(self, message: str, at: int) -> Unreadable:
        return Unreadable(message, line_of(self.text, at))

    def space(self, at: int) -> int:
        found = _SPACE.match(self.text, at)
        return at if found is None else found.end()

    def value(self, at: int, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise self.fault("nested too deeply", at)
        mark = self.text[at : at + 1]
        if mark == "{":
            return self.container(at, depth, "}")
        if mark == "[":
            return self.container(at, depth, "]")
        if mark == '"':
            return self.string(at)
        found = _WORD.match(self.text, at)
        if found is None:
            raise self.fault("a value was expected", at)
        try:
            return Node(at, found.end(), json.loads(found.group()))
        except ValueError as error:
            # A number of more digits than Python converts.
            raise self.fault("a number too long to read", at) from error

    def string(self, at: int) -> Node:
        found = _STRING.match(self.text, at)
        if found is None:
            raise self.fault("a text in double quotes was expected", at)
        try:
            return Node(at, found.end(), json.loads(found.group(), strict=False))
        except ValueError as error:
            raise self.fault("a text with a broken escape", at) from error

    def container(self, start: int, depth: int, close: str) -> Node:
        children: list[Child] = []
        at = self.space(start + 1)
        while self.text[at : at + 1] != close:
            children.append(self.member(at, depth) if close == "}" else self.element(at, depth))
            at = self.space(children[-1].node.end)
            mark = self.text[at : at + 1]
            if mark == ",":
                at = self.space(at + 1)
            elif mark != close:
                raise self.fault(f"a comma or {close} was expected", at)
        value: object = [child.node.value for child in children]
        if close == "}":
            value = {child.key: child.node.value for child in children}
        return Node(start, at + 1, value, tuple(children))

    def element(self, at: int, depth: int) -> Child:
        return Child(None, at, self.value(at, depth + 1))

    def member(self, at: int, depth: int) -> Child:
        key = self.string(at)
        colon = self.space(key.end)
        if self.text[colon : colon + 1] != ":":
            raise self.fault("a colon was expected", colon)
        return Child(str(key.value), at, self.value(self.space(colon + 1), depth + 1))


def line_of(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def append(text: str, holder: Node, value: object, key: str | None = None) -> tuple[str, str]:
    """Return the text with one more child at a container's end, and the white space behind it.

    The second value is what was put between the child and the closing bracket of a container
    that was empty: `remove` needs it to close the container as it was.
    """
    close = holder.end - 1
    last = holder.children[-1].node.end if holder.children else holder.start + 1
    # The end of what stands last: a bracket, an element, a comma or a comment.
    place = _before(text, close)
    trailing = "" if _comma(text, last, close) is None else ","
    is_open = "\n" in text[holder.start : holder.end]
    glue, tail, indent = " " if holder.children else "", "", None
    if is_open or (not holder.children and _has_lines(text)):
        indent = _child_indent(text, holder)
        glue = newline(text) + indent
        if not is_open:
            tail = newline(text) + _line_indent(text, holder.start)
    added = render(value, key, text, indent)
    text = text[:place] + glue + added + trailing + tail + text[place:]
    if holder.children and not trailing:
        text = text[:last] + "," + text[last:]
    return text, tail


def remove(text: str, holder: Node, index: int, tail: str = "") -> str:
    """Return the text without one child of a container, and without what `append` added."""
    child = holder.children[index]
    start, end = _before(text, child.start), child.node.end
    if index + 1 < len(holder.children):
        follower = holder.children[index + 1].start
        if not text[end:follower].strip(BLANK + ","):
            return text[: child.start] + text[follower:]
    comma = _comma(text, end, holder.end - 1)
    if comma is not None:
        # The comma goes; a comment between it and the child is another's.
        text = text[:comma] + text[comma + 1 :]
    elif index:
        previous = holder.children[index - 1].node.end
        at = _comma(text, previous, start)
        if at is not None:
            text = text[:at] + text[at + 1 :]
            start, end = start - 1, end - 1
    if len(holder.children) == 1 and tail and text.startswith(tail, end):
        end += len(tail)
    return text[:start] + text[end:]


def replace(text: str, node: Node, value: object) -> str:
    """Return the text with another value in the place of one."""
    is_open = "\n" in text[node.start : node.end]
    indent = _line_indent(text, node.start) if is_open else None
    return text[: node.start] + render(value, None, text, indent) + text[node.end :]


def render(value: object, key: str | None, text: str, indent: str | None) -> str:
    """Return a value as JSON in the manner of a text: one line where `indent` is None."""
    if indent is None:
        shown = json.dumps(value, ensure_ascii=False)
    else:
        shown = json.dumps(value, ensure_ascii=False, indent=_unit(text))
        shown = shown.replace("\n", newline(text) + indent)
    return shown if key is None else f"{json.dumps(key, ensure_ascii=False)}: {shown}"


def newline(text: str) -> str:
    at = text.find("\n")
    return "\r\n" if at > 0 and text[at - 1] == "\r" else "\n"


def _comma(text: str, start: int, end: int) -> int | None:
    """Return the place of the comma between two places, comments passed over."""
    found = _SPACE.match(text, start)
    at = start if found is None else found.end()
    return at if at < end and text[at] == "," else None


def _before(text: str, at: int) -> int:
    """Return where the white space before a place begins."""
    while at and text[at - 1] in BLANK:
        at -= 1
    return at


def _has_lines(text: str) -> bool:
    """Tell whether a text is written over several lines, or holds too little to tell."""
    return '"' not in text or "\n" in text.strip(BLANK + BOM)


def _line_indent(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at].removeprefix(BOM)
    return line[: len(line) - len(line.lstrip(" \t"))]


def _child_indent(text: str, holder: Node) -> str:
    for child in reversed(holder.children):
        line = text[text.rfind("\n", 0, child.start) + 1 : child.start]
        if not line.strip(" \t"):
            return line
    return _line_indent(text, holder.start) + _unit(text)


def _unit(text: str) -> str:
    """Return the step of a text's indentation; two spaces where it shows none."""
    found = _INDENTED.search(text)
    return "  " if found is None else found.group(1)
