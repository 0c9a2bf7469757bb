"""A scriptable model server on loopback, against which the suite runs real agent programs.

It speaks Anthropic Messages (Claude Code) and OpenAI Responses (Codex), streamed or not, and never
leaves 127.0.0.1:

    with serving([{"tool": "Bash", "input": {"command": "ls"}}, "Done."]) as stub:
        environ["ANTHROPIC_BASE_URL"] = stub.url
        ...
        stub.requests        # every body received, with its kind and whether it offered tools

A script is a list of turns, used in order by the main requests, which are those that offer tools.
A turn is the reply's text, or an object with any of:

    text     the reply's text
    tool     one tool call: its name, with its arguments in "input" and, where the interface has
             them, its "namespace"
    when     a regular expression, searched in the request's last user message or tool result; a
             turn that does not match is passed over, not used up
    side     true: for requests that offer no tools (titles, summaries)
    wait     seconds before the reply

Where no turn fits, a main request gets DEFAULT_TEXT and a side request SIDE_TEXT.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import re
import threading
import time
import uuid
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

DEFAULT_TEXT = "Done."
SIDE_TEXT = "ok"
CHARS_PER_TOKEN = 4
KINDS = {"/messages": "anthropic", "/messages/count_tokens": "count", "/responses": "responses"}

Turn = dict[str, Any]
Body = dict[str, Any]


@dataclass(frozen=True)
class Request:
    """One body that a client sent to a model."""

    kind: str
    is_main: bool
    body: Body


class Script:
    """The turns, and which of them are used up."""

    def __init__(self, turns: Sequence[str | Turn]) -> None:
        self._lock = threading.Lock()
        self._left = [{"text": turn} if isinstance(turn, str) else turn for turn in turns]

    def take(self, body: Body, *, is_main: bool) -> Turn:
        """Return the first turn that fits a request, and use it up."""
        said = last_said(body)
        with self._lock:
            for turn in self._left:
                if bool(turn.get("side")) != is_main and re.search(turn.get("when", ""), said):
                    self._left.remove(turn)
                    return turn
        return {"text": DEFAULT_TEXT if is_main else SIDE_TEXT}


def last_said(body: Body) -> str:
    """Return the last user message or tool result of a request."""
    items = body.get("messages") or body.get("input") or []
    for item in reversed(items if isinstance(items, list) else []):
        if item.get("role") == "user":
            return text_of(item.get("content"))
        if str(item.get("type", "")).endswith("_call_output"):
            return text_of(item.get("output"))
    return ""


def text_of(content: Any) -> str:
    """Return the text of a message's content, in the shape of either interface."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(text_of(part) for part in content)
    if isinstance(content, dict):
        return text_of(content.get("text") or content.get("content") or content.get("output"))
    return ""


class StubServer:
    """The server, in a thread of its own."""

    def __init__(self, turns: Sequence[str | Turn] = ()) -> None:
        self._server = _Server(Script(turns))
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def requests(self) -> list[Request]:
        return list(self._server.seen)

    @property
    def main_bodies(self) -> list[Body]:
        """Return the bodies of the requests that offered tools, in order."""
        return [request.body for request in self.requests if request.is_main]

    def start(self) -> None:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@contextlib.contextmanager
def serving(turns: Sequence[str | Turn] = ()) -> Iterator[StubServer]:
    """Serve a script until the end of the block."""
    stub = StubServer(turns)
    stub.start()
    try:
        yield stub
    finally:
        stub.stop()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, script: Script) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script = script
        self.seen: list[Request] = []


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *_: object) -> None:
        """Keep the suite's output free of access lines."""

    def do_GET(self) -> None:
        self._send({"object": "list", "data": [{"id": "stub-model", "object": "model"}]})

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.headers.get("content-encoding") == "gzip":
            raw = gzip.decompress(raw)
        path = self.path.partition("?")[0].rstrip("/").removeprefix("/v1")
        body = json.loads(raw or b"{}") if path in KINDS else {}
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self._answer(KINDS.get(path, ""), body)

    def _answer(self, kind: str, body: Body) -> None:
        if not kind:
            self._send({"type": "error", "error": {"type": "not_found_error"}}, 404)
            return
        is_main = bool(body.get("tools"))
        self.server.seen.append(Request(kind, is_main, body))
        if kind == "count":
            self._send({"input_tokens": _tokens(body.get("messages"))})
            return
        turn = self.server.script.take(body, is_main=is_main)
        time.sleep(turn.get("wait", 0))
        made, events = (_anthropic if kind == "anthropic" else _responses)(body, turn)
        if body.get("stream"):
            self._send_events(events)
        else:
            self._send(made)

    def _send(self, made: Body, status: int = 200) -> None:
        data = json.dumps(made).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _send_events(self, events: Sequence[Body]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for event in events:
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
        self.wfile.flush()
        self.close_connection = True


def _anthropic(body: Body, turn: Turn) -> tuple[Body, list[Body]]:
    """Return a reply as one message, and as the events that stream it."""
    blocks: list[Body] = []
    if "text" in turn:
        blocks.append({"type": "text", "text": turn["text"]})
    if "tool" in turn:
        call = {"id": f"toolu_{_id()}", "name": turn["tool"], "input": turn["input"]}
        blocks.append({"type": "tool_use", **call})
    end = {"stop_reason": "tool_use" if "tool" in turn else "end_turn", "stop_sequence": None}
    usage = {"input_tokens": _tokens(body.get("messages")), "output_tokens": _tokens(blocks)}
    head = {"id": f"msg_{_id()}", "type": "message", "role": "assistant", "model": body["model"]}
    message = {**head, "content": blocks, **end, "usage": usage}
    opened = {**message, "content": [], "stop_reason": None}
    events: list[Body] = [{"type": "message_start", "message": opened}]
    for number, block in enumerate(blocks):
        if block["type"] == "text":
            start, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            start = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        events += [
            {"type": "content_block_start", "index": number, "content_block": start},
            {"type": "content_block_delta", "index": number, "delta": delta},
            {"type": "content_block_stop", "index": number},
        ]
    events.append({"type": "message_delta", "delta": end, "usage": usage})
    events.append({"type": "message_stop"})
    return message, events


def _responses(body: Body, turn: Turn) -> tuple[Body, list[Body]]:
    """Return a reply as one response, and as the events that stream it."""
    items: list[Body] = []
    if "text" in turn:
        said = [{"type": "output_text", "text": turn["text"], "annotations": []}]
        items.append({"type": "message", "id": _id(), "role": "assistant", "content": said})
    if "tool" in turn:
        call = {"call_id": _id(), "name": turn["tool"], "arguments": json.dumps(turn["input"])}
        place = {"namespace": turn["namespace"]} if "namespace" in turn else {}
        items.append({"type": "function_call", "id": _id(), **call, **place})
    items = [{**item, "status": "completed"} for item in items]
    read, written = _tokens(body.get("input")), _tokens(items)
    usage = {"input_tokens": read, "output_tokens": written, "total_tokens": read + written}
    head = {"id": f"resp_{_id()}", "object": "response", "model": body["model"]}
    response = {**head, "status": "completed", "output": items, "usage": usage}
    opened = {**head, "status": "in_progress", "output": []}
    events: list[Body] = [{"type": "response.created", "response": opened}]
    for number, item in enumerate(items):
        events.append({"type": "response.output_item.added", "output_index": number, "item": item})
        events.append({"type": "response.output_item.done", "output_index": number, "item": item})
    events.append({"type": "response.completed", "response": response})
    return response, [{**event, "sequence_number": n} for n, event in enumerate(events)]


def _id() -> str:
    return uuid.uuid4().hex[:16]


def _tokens(value: Any) -> int:
    return max(1, len(json.dumps(value)) // CHARS_PER_TOKEN)
