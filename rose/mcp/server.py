"""The MCP server on standard streams: the only door to the SDK, which is loaded to serve.

One call at a time, in a thread, so that the program that asks is answered while one takes long.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
import json
import sqlite3
import sys
import traceback
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from rose.errors import RoseError
from rose.mcp import tools
from rose.selection import veil

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rose.mcp.desk import Desk

NAME = "rose"
# Of another major version everything has other names.
MAJOR = "2."
WANTED = "'mcp>=2.0,<2.4'"
# What Codex says of each call; Claude Code gives the session to the process.
_SESSION = "sessionId"


class _Sdk(NamedTuple):
    """What is used of the package."""

    types: Any
    server: Any
    streams: Any


def _sdk() -> _Sdk:
    """Load the package; raises RoseError with what installs it."""
    if reason := _hindrance():
        install = (
            f"`pipx inject rose-router {WANTED}`, or `{sys.executable} -m pip install {WANTED}`"
        )
        raise RoseError(f"{reason} Install it: {install}.")
    import mcp.types
    from mcp.server.lowlevel import Server
    from mcp.server.stdio import stdio_server

    return _Sdk(mcp.types, Server, stdio_server)


def _hindrance() -> str:
    """Return why the package cannot be used, empty where it can."""
    try:
        found = importlib.metadata.version("mcp")
    except importlib.metadata.PackageNotFoundError:
        return "The package mcp is not installed."
    if not found.startswith(MAJOR):
        return f"The package mcp is of version {found}; rose works with {MAJOR}x."
    return ""


def serve(desk: Desk, version: str) -> None:
    """Answer calls until the program that asks closes the stream; raises RoseError."""
    sdk = _sdk()
    asyncio.run(_serve(sdk, _server(sdk, desk, version)))


async def _serve(sdk: _Sdk, server: Any) -> None:
    async with sdk.streams() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


def _server(sdk: _Sdk, desk: Desk, version: str) -> Any:
    turn = asyncio.Lock()

    async def list_tools(_context: object, _params: object) -> Any:
        return sdk.types.ListToolsResult(tools=[_offer(sdk, tool) for tool in tools.TOOLS])

    async def call_tool(_context: object, params: Any) -> Any:
        asked = params.model_dump(by_alias=True)
        own = replace(desk, session=_session(asked.get("_meta")) or desk.session)
        async with turn:
            return await asyncio.to_thread(
                _answer, sdk, own, str(params.name), params.arguments or {}
            )

    return sdk.server(
        NAME,
        version=version,
        instructions=tools.ABOUT,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _offer(sdk: _Sdk, tool: tools.Tool) -> Any:
    hints = {"readOnlyHint": True, "idempotentHint": True, "openWorldHint": False}
    return sdk.types.Tool.model_validate(
        {
            "name": tool.name,
            "title": tool.title,
            "description": tool.description,
            "inputSchema": tool.schema(),
            "annotations": hints,
        }
    )


def _answer(sdk: _Sdk, desk: Desk, name: str, given: Mapping[str, object]) -> Any:
    """Return the result of one call; whatever goes wrong is one too."""
    try:
        answer = tools.call(desk, name, given)
    except (RoseError, OSError, sqlite3.Error) as error:
        return _result(sdk, str(error), None)
    except Exception:  # noqa: BLE001 - the edge: a bug must not end the server
        sys.stderr.write(veil.anything(traceback.format_exc()))
        return _result(sdk, "This is a bug in rose; what it printed says more.", None)
    return _result(sdk, answer.text, answer.fields)


def _result(sdk: _Sdk, text: str, fields: Mapping[str, object] | None) -> Any:
    """Return what is sent: here alone it leaves, so here alone it is veiled."""
    made: dict[str, object] = {"content": [{"type": "text", "text": veil.anything(_utf8(text))}]}
    if fields is not None:
        sendable = json.loads(_utf8(json.dumps(fields, ensure_ascii=False)))
        made["structuredContent"] = veil.anything(sendable)
    return sdk.types.CallToolResult.model_validate({**made, "isError": fields is None})


def _utf8(text: str) -> str:
    """Return a text that can be sent: the path of a store need not be UTF-8."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _session(meta: object) -> str:
    said = meta.get(_SESSION) if isinstance(meta, dict) else None
    return said if isinstance(said, str) and len(said) <= tools.MOST_NAME else ""
