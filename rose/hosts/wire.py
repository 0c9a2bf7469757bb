"""The words of the hosts' hooks: event names, payloads in, documents out.

One form serves every host that rose knows: the payload fields and the output document are the
same in Claude Code and Codex (docs/hosts.md). On the prompt hook's path.
"""

from __future__ import annotations

import os

from rose import files, layout, session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

HOSTS = ("claude-code", "codex")

# The hosts' own names; a command line may also spell them in kebab-case.
EVENTS = (
    "SessionStart",
    "UserPromptSubmit",
    "SubagentStart",
    "PreCompact",
    "PostCompact",
    "Stop",
    "SessionEnd",
)

PROMPT = "UserPromptSubmit"


def event_named(word: str) -> str:
    """Return the host's name of an event, or the word itself where rose knows none."""
    plain = word.replace("-", "").lower()
    for event in EVENTS:
        if event.lower() == plain:
            return event
    return word


def decode(raw: bytes) -> dict[str, object]:
    """Return a hook's payload; raises ValueError where it is no JSON object."""
    payload = files.parse_json(raw.decode("utf-8", "replace"))
    if not isinstance(payload, dict):
        raise ValueError("the payload is no JSON object")  # noqa: TRY004 - one kind of refusal
    return payload


def text_of(payload: Mapping[str, object], key: str) -> str:
    """Return a payload's text field, empty where it is missing or of another type."""
    value = payload.get(key)
    return value if isinstance(value, str) else ""


def document(event: str, encoded: str) -> str:
    """Return the output document that injects a text, given as a JSON string literal."""
    return f'{{"hookSpecificOutput":{{"hookEventName":"{event}","additionalContext":{encoded}}}}}\n'


class Turn:
    """One call of the hook: what came in, what was printed."""

    def __init__(self, event: str, host: str, environ: Mapping[str, str]) -> None:
        self.event = event
        self.host = host
        self.environ = environ
        self.payload: dict[str, object] = {}
        self.stores = layout.Stores(None, None, "")
        self.printed = False

    def write(self, text: str) -> None:
        """Print one document; a second one is a bug and is not printed."""
        if self.printed or not text:
            return
        self.printed = True
        view = memoryview(text.encode("ascii", "backslashreplace"))
        while view:
            view = view[os.write(1, view) :]

    def agent(self) -> str | None:
        """Return the subagent that the event is about, None for the main agent."""
        return text_of(self.payload, "agent_id") or None

    def note_path(self, store: layout.Store) -> str | None:
        """Return the session's note file, None where the payload names no session."""
        name = text_of(self.payload, "session_id")
        if not name:
            return None
        return session.note_path(store.sessions, layout.session_name(self.host, name))
