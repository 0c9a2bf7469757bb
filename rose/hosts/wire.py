"""The words of the hosts' hooks: event names, payloads in, documents out.

Rose works with the names and fields of Claude Code, which Codex shares; the tables translate
the other hosts (docs/hosts.md). On the prompt hook's path.
"""

from __future__ import annotations

import os
import time

from rose import files, layout, session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

# Rose's own names of the events, which are those of Claude Code and Codex.
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
MOST_NAME_CHARS = 64
MOST_CWD_CHARS = 4096
MOST_SAID_CHARS = 400

# Host -> its own name of an event -> rose's.
NAMES = {
    "claude-code": {event: event for event in EVENTS},
    "codex": {event: event for event in EVENTS},
    "gemini": {
        "SessionStart": "SessionStart",
        "BeforeAgent": PROMPT,
        "PreCompress": "PreCompact",
        "AfterAgent": "Stop",
        "SessionEnd": "SessionEnd",
    },
    "cursor": {
        "sessionStart": "SessionStart",
        "beforeSubmitPrompt": PROMPT,
        "preCompact": "PreCompact",
        "stop": "Stop",
        "sessionEnd": "SessionEnd",
    },
    "opencode": {"chat.message": PROMPT, "session.compacted": "PostCompact"},
}

HOSTS = tuple(NAMES)

# Hosts that keep what a session's start injects, and take nothing else by document.
AT_START = ("cursor",)

# Hosts that tell the end of a compaction only after the new start, which has brought the layer.
ENDS_LATE = ("claude-code",)

# Hosts in which an injection holds for one turn, so that each prompt needs it.
FOR_ONE_TURN = ("gemini",)

# Hosts that show a person what a hook has to say.
TELLS_PERSON = ("claude-code", "codex", "gemini")

# Hosts whose transcripts can be read (`registry`): only their sessions are queued, and only of
# them can it be told what arrived.
READABLE = ("claude-code", "codex")


def event_named(word: str, host: str = "claude-code") -> str:
    """Return rose's name of an event, or the word itself where rose knows none.

    The word is the host's name of it, or rose's; either may be in kebab-case.
    """
    plain = _plain(word)
    for name, event in NAMES.get(host, {}).items():
        if plain in (_plain(name), _plain(event)):
            return event
    return word


def event_of(payload: Mapping[str, object], event: str, host: str) -> str:
    """Return the event of a payload that names one, else the one that the command line names.

    A document for another event than the host's injects nothing, and the host says so nowhere.
    """
    named = text_of(payload, "hook_event_name")
    return event_named(named, host) if 0 < len(named) <= MOST_NAME_CHARS else event


def name_of(event: str, host: str) -> str:
    """Return a host's name of an event, by rose's."""
    for name, known in NAMES.get(host, {}).items():
        if known == event:
            return name
    return event


def _plain(word: str) -> str:
    return word.replace("-", "").lower()


def decode(raw: bytes) -> dict[str, object]:
    """Return a hook's payload; raises ValueError where it is no JSON object."""
    payload = files.parse_json(raw.decode("utf-8", "replace").lstrip("\ufeff"))
    if not isinstance(payload, dict):
        raise ValueError("the payload is no JSON object")  # noqa: TRY004 - one kind of refusal
    return payload


def text_of(payload: Mapping[str, object], key: str) -> str:
    """Return a payload's text field, empty where it is missing or of another type."""
    value = payload.get(key)
    return value if isinstance(value, str) else ""


def document(event: str, encoded: str, host: str = "claude-code", said: str = "") -> str:
    """Return the output document that injects a text, given as a JSON string literal.

    `said` is a line for the person beside it, where the host shows one. Empty without either.
    """
    line = said[:MOST_SAID_CHARS] if host in TELLS_PERSON else ""
    if not encoded:
        return notice(line) if line else ""
    if host == "cursor":
        also = '"continue":true,' if event == PROMPT else ""
        return f'{{{also}"additional_context":{encoded}}}\n'
    name = name_of(event, host)
    head = f'"systemMessage":{files.dump_json(line)},' if line else ""
    body = f'{{"hookEventName":"{name}","additionalContext":{encoded}}}'
    return f'{{{head}"hookSpecificOutput":{body}}}\n'


def notice(text: str) -> str:
    """Return the output document that shows the person a line and the model nothing."""
    return files.dump_json({"systemMessage": text}) + "\n"


def session_of(payload: Mapping[str, object]) -> str:
    """Return the id of a payload's session, which Cursor calls a conversation."""
    return text_of(payload, "session_id") or text_of(payload, "conversation_id")


def folder_of(payload: Mapping[str, object]) -> str:
    """Return the folder in which a session works, empty where the payload names none."""
    roots = payload.get("workspace_roots")
    first = roots[0] if isinstance(roots, list) and roots else ""
    return text_of(payload, "cwd") or (first if isinstance(first, str) else "")


def directory_of(payload: Mapping[str, object]) -> str:
    """Return the directory that a payload names, empty where it names none to look in."""
    named = folder_of(payload)
    try:
        named.encode()
    except UnicodeEncodeError:
        return ""
    usable = os.path.isabs(named) and len(named) <= MOST_CWD_CHARS and "\0" not in named
    return named if usable else ""


class Turn:
    """One call of the hook: what came in, what was printed.

    `spare` is the document that is printed where nothing else is by the very last moment.
    """

    def __init__(self, event: str, host: str, environ: Mapping[str, str]) -> None:
        self.event = event
        self.host = host
        self.environ = environ
        self.payload: dict[str, object] = {}
        self.stores = layout.Stores(None, None, "")
        self.printed = False
        self.began = time.monotonic()
        self.needs_trust = False
        self.out = 1
        self.spare = ""

    def write(self, text: str) -> None:
        """Print one document; a second one is a bug and is not printed."""
        if self.printed or not text:
            return
        self.printed = True
        view = memoryview(text.encode("ascii", "backslashreplace"))
        while view:
            view = view[os.write(self.out, view) :]

    def opens(self) -> bool:
        """Tell whether the event is one with which an agent gets the layer that it lacks.

        A compaction, in the middle of a turn too, begins the session anew, and what that start
        injects is in the very next request.
        """
        if self.event != "SessionStart":
            return self.event == PROMPT
        return self.host in AT_START or text_of(self.payload, "source") == "compact"

    def agent(self) -> str | None:
        """Return the subagent that the event is about, None for the main agent."""
        return text_of(self.payload, "agent_id") or None

    def note_path(self, store: layout.Store) -> str | None:
        """Return the session's note file, None where the payload names no session."""
        name = session_of(self.payload)
        if not name:
            return None
        return session.note_path(store.sessions, layout.session_name(self.host, name))
