"""Rows and files of transcripts, as the hosts write them, for the tests of rose/hosts."""

from __future__ import annotations

import json
import os

CAPTURES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "captures")
SESSION = "5e551011-0000-4000-8000-000000000001"
START = "2026-11-30T10:00:00.000Z"


def at(second: int) -> str:
    """Return a timestamp some seconds after the start."""
    return f"2026-11-30T10:{second // 60:02d}:{second % 60:02d}.000Z"


def capture(name: str) -> str:
    """Return the path of a captured transcript, such as claude/session.jsonl."""
    return os.path.join(CAPTURES, "transcripts", *name.split("/"))


def write(path, rows, ending="\n"):
    """Write rows (objects, or text taken as it is) and return the path as text."""
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes("".join(line + ending for line in lines).encode("utf-8", "surrogateescape"))
    return str(path)


def row(kind, second=0, **fields):
    """Return a row of Claude Code's with the fields that conversation rows have."""
    return {
        "parentUuid": None,
        "isSidechain": False,
        "type": kind,
        "uuid": f"uuid-{kind}-{second}",
        "timestamp": at(second),
        "cwd": "/repo",
        "sessionId": SESSION,
        "version": "2.1.332",
        **fields,
    }


def user(content, second=0, **fields):
    """Return a row of the user."""
    return row("user", second, message={"role": "user", "content": content}, **fields)


def said(text, second=0, **fields):
    """Return a row of the model with one text."""
    return assistant({"type": "text", "text": text}, second, **fields)


def assistant(block, second=0, **fields):
    """Return a row of the model with one block."""
    message = {"role": "assistant", "content": [block]}
    return row("assistant", second, message=message, **fields)


def call(name, tool_input, call_id="t1", second=0, **fields):
    """Return the row of a tool call."""
    block = {"type": "tool_use", "id": call_id, "name": name, "input": tool_input}
    return assistant(block, second, **fields)


def result(content, call_id="t1", second=0, is_error=None, **fields):
    """Return the row of a tool's result."""
    block = {"type": "tool_result", "tool_use_id": call_id, "content": content}
    if is_error is not None:
        block["is_error"] = is_error
    return user([block], second, **fields)


def attachment(kind, second=0, extra=(), **fields):
    """Return a row with an attachment; `extra` are further fields of the row itself."""
    return row("attachment", second, attachment={"type": kind, **fields}, **dict(extra))


def codex(kind, payload, second=0, **fields):
    """Return a row of a rollout."""
    return {"timestamp": at(second), "type": kind, "payload": payload, **fields}


def codex_meta(**fields):
    """Return the first row of a rollout."""
    payload = {"id": SESSION, "cwd": "/repo", "cli_version": "0.171.0", **fields}
    return codex("session_meta", payload)


def codex_message(role, text, second=0, kinds=None):
    """Return a message of a rollout, with the kinds that newer versions note."""
    payload = {"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]}
    if kinds is not None:
        payload["internal_chat_message_metadata_passthrough"] = {"content_item_kinds": kinds}
    return codex("response_item", payload, second)


def codex_call(name, arguments, call_id="c1", second=0):
    """Return a function call of a rollout."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    payload = {"type": "function_call", "name": name, "arguments": text, "call_id": call_id}
    return codex("response_item", payload, second)


def codex_output(output, call_id="c1", second=0):
    """Return the output of a function call."""
    payload = {"type": "function_call_output", "call_id": call_id, "output": output}
    return codex("response_item", payload, second)
