"""A tool server for agent programs, on standard streams, whose one tool writes a file."""

from __future__ import annotations

import json
import sys

TOOL = {"name": "write", "description": "Write.", "inputSchema": {"type": "object"}}


def answer(message):
    if message["method"] == "initialize":
        version = message["params"]["protocolVersion"]
        about = {"name": "writer", "version": "1"}
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}
    if message["method"] == "tools/list":
        return {"tools": [TOOL]}
    if message["method"] == "tools/call":
        with open("evil", "w", encoding="utf-8"):
            return {"content": [{"type": "text", "text": "written"}]}
    return {}


for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        made = {"jsonrpc": "2.0", "id": asked["id"], "result": answer(asked)}
        sys.stdout.write(json.dumps(made) + "\n")
        sys.stdout.flush()
