"""Puts our hook handlers into another program's settings, and takes exactly them out again.

What was made around the handlers (`Marks`) is kept by the caller, never a copy of the person's
text, which may hold secrets. A handler that is already right is not touched: Codex trusts the
hash of it.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rose.findings import Finding, Refused
from rose.hosts import handlers, jsontext
from rose.hosts.handlers import HOOKS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rose.hosts.handlers import Found


@dataclass(frozen=True, slots=True)
class Wanted:
    """Our handlers by event, and what else the file must say at its root.

    `grouped` is the shape of Claude Code: an event holds groups, a group holds handlers.
    """

    handlers: Mapping[str, Mapping[str, object]]
    grouped: bool = True
    keys: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Marks:
    """What an installation made around the handlers.

    `created` names the containers: "" is the root, then `hooks`, `hooks.EVENT` and keys of the
    root. `tails` holds the white space put before the closing bracket of one that was empty.
    """

    created: frozenset[str] = frozenset()
    tails: Mapping[str, str] = field(default_factory=dict)

    def plus(self, name: str, tail: str, made: Sequence[str]) -> Marks:
        tails = {**self.tails, name: tail} if tail else self.tails
        return Marks(self.created | frozenset(made), tails)


@dataclass(frozen=True, slots=True)
class Edited:
    """A text after an edit, the keys that changed in it, and the marks to keep."""

    text: str
    touched: tuple[str, ...]
    marks: Marks


def install(text: str, wanted: Wanted, marks: Marks | None, where: str) -> Edited:
    """Return the text with each wanted handler in it once; raises Refused.

    `marks` are those of an earlier installation, None where none is known.
    """
    present = handlers.read(text, where, pasted(wanted), wanted.handlers)
    if not present:
        marks = Marks()
    elif marks is None:
        marks = _assumed(present)
    touched: list[str] = []
    if handlers.is_blank(text):
        text, marks = text + "{}" + jsontext.newline(text), marks.plus("", "", [""])
    text = _settle(text, wanted, marks, touched)
    for key, value in wanted.keys.items():
        root = jsontext.parse(text)
        if root.child(key) is None:
            text, tail = jsontext.append(text, root, value, key)
            marks = marks.plus("", tail, [key])
            touched.append(key)
    held = {found.event for found in handlers.find(text)}
    for event, handler in wanted.handlers.items():
        if event not in held:
            text, marks = _add(text, event, _entry(handler, wanted), marks)
            touched.append(f"{HOOKS}.{event}")
    return Edited(text, tuple(dict.fromkeys(touched)), marks)


def uninstall(text: str, wanted: Wanted, marks: Marks | None, where: str) -> Edited:
    """Return the text without our handlers and without what was made for them; raises Refused."""
    present = handlers.read(text, where, "")
    kept = _assumed(present) if marks is None else marks
    touched = [f"{HOOKS}.{found.event}" for found in present]
    while present:
        text = _without(text, present[0], kept)
        present = handlers.find(text)
    if touched:
        text = _without_keys(text, wanted, kept)
    root = None if handlers.is_blank(text) else jsontext.parse(text)
    if root is not None and "" in kept.created and touched and not root.children:
        rest = text[root.end :]
        text = text[: root.start] + rest.removeprefix(jsontext.newline(text))
    return Edited(text, tuple(dict.fromkeys(touched)), Marks())


def pasted(wanted: Wanted) -> str:
    """Return what a person may paste where the file cannot be edited."""
    return json.dumps(_whole(wanted), indent=2, ensure_ascii=False)


def outside(where: str, wanted: Wanted | None) -> Refused:
    """Return the refusal of a project's file that a link leads out, into a person's own."""
    message = f"A link leads it outside of the project, to {os.path.realpath(where)}."
    repair = "Take the link away, or wire every project with `--scope user`"
    paste = "." if wanted is None else f", or merge this into it by hand:\n{pasted(wanted)}"
    return Refused([Finding("settings-outside", where, message, repair + paste)])


def _whole(wanted: Wanted) -> dict[str, object]:
    entries = {event: [_entry(handler, wanted)] for event, handler in wanted.handlers.items()}
    return {**wanted.keys, HOOKS: entries}


def _entry(handler: Mapping[str, object], wanted: Wanted) -> dict[str, object]:
    return {HOOKS: [dict(handler)]} if wanted.grouped else dict(handler)


def _assumed(present: Sequence[Found]) -> Marks:
    """Return the marks of an installation nobody recorded: what it would leave empty is its."""
    events = {f"{HOOKS}.{found.event}" for found in present}
    return Marks(frozenset({HOOKS, *events}))


def _settle(text: str, wanted: Wanted, marks: Marks, touched: list[str]) -> str:
    """Leave one handler of ours to each wanted event, as wanted, and none elsewhere."""
    while True:
        present = handlers.find(text)
        kept = _chosen(present, wanted)
        extra = next((found for found in present if id(found) not in kept), None)
        wrong = (found for found in present if found.handler != wanted.handlers.get(found.event))
        if extra is not None:
            changed, text = extra, _without(text, extra, marks)
        elif (odd := next(wrong, None)) is not None:
            changed = odd
            text = jsontext.replace(text, odd.node, dict(wanted.handlers[odd.event]))
        else:
            return text
        touched.append(f"{HOOKS}.{changed.event}")


def _chosen(present: Sequence[Found], wanted: Wanted) -> set[int]:
    """Return which of our handlers stay, by identity: one an event, one that is right if any."""
    first: dict[str, Found] = {}
    for found in present:
        right = wanted.handlers.get(found.event)
        if found.is_shadowed or right is None:
            continue
        held = first.setdefault(found.event, found)
        if held.handler != right and found.handler == right:
            first[found.event] = found
    return {id(found) for found in first.values()}


def _add(text: str, event: str, entry: Mapping[str, object], marks: Marks) -> tuple[str, Marks]:
    """Append one entry to an event, and what it needs around it."""
    root = jsontext.parse(text)
    hooks = root.child(HOOKS)
    name = f"{HOOKS}.{event}"
    if hooks is None:
        text, tail = jsontext.append(text, root, {event: [entry]}, HOOKS)
        return text, marks.plus("", tail, [HOOKS, name])
    held = hooks.node.child(event)
    if held is None:
        text, tail = jsontext.append(text, hooks.node, [entry], event)
        return text, marks.plus(HOOKS, tail, [name])
    text, tail = jsontext.append(text, held.node, entry)
    return text, marks.plus(name, tail, [])


def _without(text: str, found: Found, marks: Marks) -> str:
    """Return the text without a handler and what is left empty by that and ours."""
    names = ["", HOOKS, f"{HOOKS}.{found.event}"]
    level = len(found.path) - 1
    if level == len(names) and len(found.path[level][0].children) == 1:
        # A group without a handler does nothing, whoever made it.
        level -= 1
    while 0 < level < len(names) and names[level] in marks.created:
        if len(found.path[level][0].children) > 1:
            break
        level -= 1
    holder, index = found.path[level]
    tail = marks.tails.get(names[level], "") if level < len(names) else ""
    return jsontext.remove(text, holder, index, tail)


def _without_keys(text: str, wanted: Wanted, marks: Marks) -> str:
    """Take out the root's keys that came with ours, unless what a person added needs them."""
    root = jsontext.parse(text)
    if HOOKS in marks.created and root.child(HOOKS) is not None:
        return text
    for key, value in wanted.keys.items():
        index = next((i for i, child in enumerate(root.children) if child.key == key), None)
        if key in marks.created and index is not None and root.children[index].node.value == value:
            text = jsontext.remove(text, root, index, marks.tails.get("", ""))
            root = jsontext.parse(text)
    return text
