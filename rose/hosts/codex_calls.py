"""Codex's tool calls: what a call asks for, and what its output says."""

from __future__ import annotations

import json
import os
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

_SHELL_TOOLS = frozenset(
    {"exec_command", "shell", "shell_command", "local_shell", "container.exec"}
)
_WEB_TOOLS = frozenset({"web_search", "web_search_call", "web.run"})
# An MCP tool is named server__tool.
_MCP_MARK = "__"
# A header line of a command's output; "Output:" ends the header.
_HEADER = re.compile(
    r"(?:Chunk ID|Wall time|Exit code|Original token count|Total output lines|Process [^:\n]*)"
    r"[^\n]*\n"
)
_OUTPUT = "Output:\n"
_EXIT = re.compile(r"^(?:Process exited with code|Exit code:) (-?\d+)", re.MULTILINE)
_SANDBOX_EXIT = re.compile(r"\bexit code: (-?\d+)")
_REFUSALS = (
    "failed in sandbox",
    "execution error:",
    "exec_command failed",
    "unsupported call",
    "unsupported custom tool call",
    "patch rejected",
    "apply_patch verification failed",
    "failed to parse function arguments",
    "exec command rejected",
)


def made(item: Mapping[str, object], place: tuple[int, int], cwd: str) -> tuple[str, Call]:
    """Return the id and the call that an item makes at a place (turn, order)."""
    name = text_in(item, "name") or text_in(item, "type").removesuffix("_call")
    tool_input = _input(item)
    command = command_of(tool_input) if name in _SHELL_TOOLS else None
    patch = command if command is not None else text_in(tool_input, "input")
    paths = patch_paths(patch) or (paths_of(tool_input) if command is None else ())
    folder = text_in(tool_input, "workdir") or text_in(tool_input, "working_directory")
    call = Call(
        turn=place[0],
        order=place[1],
        name=name,
        input=tool_input,
        command=command,
        paths=paths,
        cwd=os.path.join(cwd, folder) if folder else cwd,
        foreign=name in _WEB_TOOLS
        or _MCP_MARK in name
        or bool(text_in(item, "namespace"))
        or fetches(command or ""),
    )
    return text_in(item, "call_id") or text_in(item, "id"), call


def _input(item: Mapping[str, object]) -> dict[str, object]:
    """Return a call's input: its arguments (JSON in a string), its action, or its free text."""
    arguments = item.get("arguments")
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return bounded({"arguments": arguments})
    for value in (arguments, item.get("action")):
        if isinstance(value, dict):
            return bounded(value)
    return bounded({"input": item["input"]} if "input" in item else arguments)


def answered(calls: Pairing, item: Mapping[str, object], place: tuple[int, str]) -> Iterator[Call]:
    """Yield the call that an output item answers; place is (turn, folder) of an unknown one."""
    result, failed = read_output(item.get("output"))
    unknown = Call(place[0], 0, "", {}, cwd=place[1])
    yield from calls.answer(text_in(item, "call_id"), unknown, result, failed=failed)


def read_output(output: object) -> tuple[str, bool]:
    """Return (text, whether the host recorded a failure) of an output in any version's form."""
    if isinstance(output, str):
        if output.startswith("{"):
            wrapped = _wrapped(output)
            if wrapped is not None:
                return wrapped
        return _plain_output(output)
    if isinstance(output, dict):
        failed = output.get("success") is False or is_failure(output.get("metadata"))
        body = output.get("content") if "content" in output else output.get("output")
        text, refused = _plain_output(text_of(body))
        return text, failed or refused
    return text_of(output), False


def _wrapped(output: str) -> tuple[str, bool] | None:
    """Return the parts of {"output", "metadata": {"exit_code"}}, or None for other JSON."""
    try:
        value = json.loads(output)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or not isinstance(value.get("output"), str):
        return None
    if not isinstance(value.get("metadata"), dict):
        return None
    return value["output"], is_failure(value["metadata"])


def _plain_output(output: str) -> tuple[str, bool]:
    place = 0
    while match := _HEADER.match(output, place):
        place = match.end()
    if place and output.startswith(_OUTPUT, place):
        code = _EXIT.search(output, 0, place)
        return output[place + len(_OUTPUT) :], code is not None and int(code[1]) != 0
    code = _SANDBOX_EXIT.search(output[:400]) if output.startswith(_REFUSALS[0]) else None
    failed = output.startswith(_REFUSALS) and (code is None or int(code[1]) != 0)
    return output, failed


def is_failure(record: object) -> bool:
    """Return whether a record of the host's holds an exit code other than 0."""
    code = record.get("exit_code") if isinstance(record, dict) else None
    return isinstance(code, int) and code != 0
