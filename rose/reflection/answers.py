"""The answers of rose's own tools (`rose mcp`), read as the texts that they put before the model.

Hosts write such an answer down as JSON, in which no line of a lesson stands as it is. What is read
here proves nothing by its name: a lesson counts as opened where lines of it are shown, as in any
other result.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from rose.hosts.base import Call
from rose.reflection import usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rose.hosts.base import Event

TOOLS = frozenset(("search", "open", "explain"))
# Which of them names a lesson as one that is read.
_OPENS = "open"
_PATH = re.compile(r'"path":\s*"((?:[^"\\]|\\.)+)"')
_ESCAPE = re.compile(r'\\(?:u[0-9a-fA-F]{4}|["\\/bfnrt])')


def plain(events: Iterable[Event]) -> Iterator[Event]:
    """Yield the events, each answer of a tool of rose's as the texts that it holds."""
    for event in events:
        yield _plain(event) if isinstance(event, Call) else event


def is_one(call: Call) -> bool:
    """Tell whether a call is one to a tool of an MCP server that is named like one of rose's."""
    return call.foreign and _tool(call) in TOOLS


def _tool(call: Call) -> str:
    return call.name.rpartition("__")[2]


def _plain(call: Call) -> Call:
    if not is_one(call) or not call.result.lstrip().startswith("{"):
        return call
    found = _PATH.search(call.result) if _tool(call) == _OPENS else None
    paths = (_unescaped(found[1]),) if found is not None else ()
    return replace(call, result=_text(call.result), paths=(*call.paths, *paths))


def _text(result: str) -> str:
    try:
        fields = json.loads(result)
    except (ValueError, RecursionError):
        # A host cuts what is long, and half of it is no JSON.
        return _unescaped(result)
    return "\n".join(usage.texts_in(_without_windows(fields)))


def _without_windows(fields: object) -> object:
    """Return an answer without what a search showed of each lesson.

    A span that the search showed was known before the lesson was opened, and from nowhere else
    but the lesson: it must not speak against its use.
    """
    rows = fields.get("rows") if isinstance(fields, dict) else None
    return fields if not isinstance(rows, list) else [_without_window(row) for row in rows]


def _without_window(row: object) -> object:
    if not isinstance(row, dict) or "node" not in row:
        return row
    return {name: value for name, value in row.items() if name != "window"}


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda found: str(json.loads(f'"{found[0]}"')), text)
