"""The plugin through which OpenCode calls rose: one file that is wholly rose's."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from rose.findings import Finding, Refused

if TYPE_CHECKING:
    from collections.abc import Sequence

MARK = "// rose: written by `rose install`, removed by `rose uninstall`."

_BODY = """
import { spawnSync } from "node:child_process"

const COMMAND = %s

function ask(event, payload) {
  try {
    const [program, ...words] = COMMAND
    const done = spawnSync(program, [...words, event, "--host", "opencode"], {
      input: JSON.stringify(payload),
      encoding: "utf8",
      timeout: 5000,
    })
    if (!done.stdout) return ""
    return JSON.parse(done.stdout).hookSpecificOutput.additionalContext
  } catch {
    return ""
  }
}

export const Rose = async ({ directory }) => ({
  "chat.message": async (input, output) => {
    const part = output.parts.find((each) => each.type === "text")
    if (!part) return
    const text = ask("chat.message", { session_id: input.sessionID, cwd: directory })
    if (text) output.parts.push({ ...part, id: part.id + "r", text, synthetic: true })
  },
  event: async ({ event }) => {
    if (event.type !== "session.compacted") return
    ask(event.type, { session_id: event.properties.sessionID, cwd: directory })
  },
})
"""


def text(words: Sequence[str]) -> str:
    """Return the plugin; `words` are the start of the command that answers an event."""
    return MARK + "\n" + _BODY % json.dumps(list(words), ensure_ascii=False)


def is_ours(source: str) -> bool:
    return source.startswith(MARK)


def check(source: str | None, where: str) -> None:
    """Refuse a file of the plugin's name that rose did not write."""
    if source is None or is_ours(source):
        return
    message = "It was not written by rose, so it is left alone."
    raise Refused([Finding("plugin-foreign", f"{where}:1", message, "Move it elsewhere.")])
