"""Finds our hook handlers in another program's settings."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rose.findings import Finding, Refused
from rose.hosts import jsontext

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from rose.hosts.jsontext import Child, Node

MARK = "_rose"
HOOKS = "hooks"
_OURS = re.compile(r"(?:^|[\s/\\'\"])rose[/\\]launch\.py\b|(?:^|[\s/;&|])rose\s+hook\b")


@dataclass(frozen=True, slots=True)
class Found:
    """One of our handlers; `path` leads to it, as (container, index of its child) pairs."""

    event: str
    handler: Mapping[str, object]
    path: tuple[tuple[Node, int], ...]
    is_shadowed: bool = False

    @property
    def place(self) -> tuple[int, int]:
        """Return the index of the group and of the handler in it, as hosts count them."""
        _, _, (_, group), *rest = self.path
        return group, rest[0][1] if rest else 0

    @property
    def node(self) -> Node:
        holder, index = self.path[-1]
        return holder.children[index].node


def is_ours(handler: object) -> bool:
    """Tell whether a handler is rose's: by its mark, or by the command that it runs."""
    if not isinstance(handler, dict):
        return False
    command = handler.get("command")
    by_command = isinstance(command, str) and _OURS.search(command) is not None
    return handler.get(MARK) is True or by_command


def find(text: str) -> list[Found]:
    """Return our handlers in a text; raises jsontext.Unreadable."""
    return [] if is_blank(text) else list(_handlers(jsontext.parse(text)))


def read(text: str, where: str, paste: str, events: Collection[str] = ()) -> list[Found]:
    """Return our handlers in a person's settings; raises Refused where it has no place for them.

    `events` are those that are to get one; `paste` is what the person may put there by hand.
    """
    repair = "Mend it and call again"
    repair += f", or merge this into it by hand:\n{paste}" if paste else "."
    try:
        root = None if is_blank(text) else jsontext.parse(text)
    except jsontext.Unreadable as error:
        message = f"It is no JSON: {error}. Nothing was written."
        place = f"{where}:{error.line}"
        raise Refused([Finding("settings-unreadable", place, message, repair)]) from error
    if root is None:
        return []
    for node, name, kind in _expected(root, events):
        if not isinstance(node.value, kind):
            shape = "an object" if kind is dict else "a list"
            message = f"{name} is not {shape}. Nothing was written."
            place = f"{where}:{jsontext.line_of(text, node.start)}"
            raise Refused([Finding("settings-unreadable", place, message, repair)])
    return list(_handlers(root))


def _expected(root: Node, events: Collection[str]) -> Iterator[tuple[Node, str, type]]:
    """Yield what must have a certain shape before a handler can be put there."""
    if not events:
        return
    yield root, "The whole", dict
    hooks = root.child(HOOKS)
    if hooks is None:
        return
    yield hooks.node, f"`{HOOKS}`", dict
    for event in events:
        child = hooks.node.child(event)
        if child is not None:
            yield child.node, f"`{HOOKS}.{event}`", list


def _handlers(root: Node) -> Iterator[Found]:
    """Yield our handlers, those of shadowed double keys too."""
    for i, hooks in _named(root, HOOKS):
        for j, event in enumerate(hooks.node.children):
            if event.key is None or not isinstance(event.node.value, list):
                continue
            shadowed = root.child(HOOKS) is not hooks or hooks.node.child(event.key) is not event
            for path, handler in _entries(event.node):
                whole = ((root, i), (hooks.node, j), *path)
                yield Found(event.key, handler, whole, shadowed)


def _named(holder: Node, key: str) -> Iterator[tuple[int, Child]]:
    for index, child in enumerate(holder.children):
        if child.key == key and isinstance(child.node.value, dict):
            yield index, child


def _entries(event: Node) -> Iterator[tuple[tuple[tuple[Node, int], ...], dict[str, object]]]:
    for k, group in enumerate(event.children):
        value = group.node.value
        if isinstance(value, dict) and is_ours(value):
            yield ((event, k),), value
            continue
        handlers = group.node.child(HOOKS) if isinstance(value, dict) else None
        if handlers is None or not isinstance(handlers.node.value, list):
            continue
        for m, handler in enumerate(handlers.node.children):
            held = handler.node.value
            if isinstance(held, dict) and is_ours(held):
                yield ((event, k), (handlers.node, m)), held


def is_blank(text: str) -> bool:
    return not text.strip(jsontext.BLANK + jsontext.BOM)
