"""Claude Code's tool calls: what a call asks for, and what its result says."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rose.hosts.base import Call
from rose.hosts.calls import (
    Pairing,
    bounded,
    command_of,
    fetches,
    patch_paths,
    paths_of,
    text_in,
    text_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_SHELL_TOOLS = frozenset({"Bash", "PowerShell", "Shell"})
_WEB_TOOLS = frozenset({"WebFetch", "WebSearch", "web_fetch", "web_search"})
_MCP_PREFIX = "mcp__"
_LINE_NUMBER = re.compile(r"^ *\d+(?:→|\t)", re.MULTILINE)


def made(
    block: Mapping[str, object],
    row: Mapping[str, object],
    place: tuple[int, int],
    agent: str | None,
) -> Call:
    """Return the call that a block makes at a place (turn, order)."""
    name = text_in(block, "name")
    tool_input = bounded(block.get("input"))
    command = command_of(tool_input) if name in _SHELL_TOOLS else None
    served = block.get("type") == "server_tool_use"
    return Call(
        turn=place[0],
        order=place[1],
        name=name,
        input=tool_input,
        command=command,
        paths=paths_of(tool_input) if command is None else patch_paths(command),
        cwd=text_in(row, "cwd"),
        agent=agent,
        foreign=served
        or name in _WEB_TOOLS
        or name.startswith(_MCP_PREFIX)
        or fetches(command or ""),
    )


def unread(note: object, row: Mapping[str, object], turn: int, agent: str | None) -> Call:
    """Return the call that stands for one whose row could not be read."""
    paths: tuple[str, ...] = ()
    if isinstance(note, dict):
        file = note.get("file")
        paths = paths_of(file if isinstance(file, dict) else note)
    return Call(turn, 0, "", {}, paths=paths, cwd=text_in(row, "cwd"), agent=agent)


def answered(
    calls: Pairing, block: Mapping[str, object], note: object, unknown: Call
) -> Iterator[Call]:
    """Yield the call that a result block answers; `note` is the host's own record of it."""
    call_id = text_in(block, "tool_use_id")
    call = calls.waiting(call_id)
    result = _file_text(note)
    if result is None:
        result = text_of(block.get("content"))
        if call is not None and call.name == "Read":
            result = _LINE_NUMBER.sub("", result)
    failed = block.get("is_error") is True or (isinstance(note, str) and note.startswith("Error:"))
    yield from calls.answer(call_id, unknown, result, failed=failed)


def _file_text(note: object) -> str | None:
    """Return the plain text of a file that was read, without the host's line numbers."""
    file = note.get("file") if isinstance(note, dict) else None
    content = file.get("content") if isinstance(file, dict) else None
    return content if isinstance(content, str) else None
