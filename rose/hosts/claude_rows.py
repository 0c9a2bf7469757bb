"""The rows of a Claude Code transcript, read one after the other into events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rose.hosts import claude_calls, typed
from rose.hosts.base import Boundary, Event, Injection, Prompt, Said, Tally
from rose.hosts.calls import Pairing, block_texts, clip, text_in, text_of
from rose.hosts.queued import Queue

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# Only these events put a hook's plain output before the model.
_PLAIN_OUTPUT = frozenset({"UserPromptSubmit", "SessionStart"})
_HOST_MARKS = ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly", "isSynthetic")
_NO_AGENT_NAME = "sidechain"


class Walk:
    """What must be remembered between one row and the next."""

    def __init__(self, tally: Tally) -> None:
        """Begin before the first row."""
        self.calls = Pairing()
        self._tally = tally
        self._turn = 0
        self._queue = Queue()
        self._after_caveat = False
        self._command_uuid: object = None
        self._at_boundary = False

    def row(self, row: Mapping[str, object], agent: str | None) -> Iterator[Event]:
        """Yield what one row says."""
        if agent is None and row.get("isSidechain") is True:
            agent = text_in(row, "agentId") or _NO_AGENT_NAME
        for event in self._read(row, agent):
            repeated = self._at_boundary and isinstance(event, Boundary)
            self._at_boundary = isinstance(event, Boundary)
            if not repeated:
                yield event

    def _read(self, row: Mapping[str, object], agent: str | None) -> Iterator[Event]:
        kind = row.get("type")
        if kind == "assistant":
            yield from self._assistant(row, agent)
        elif kind == "user":
            yield from self._user(row, agent)
        elif kind == "attachment":
            yield from self._attachment(row, agent)
        elif kind == "system" and agent is None:
            yield from self._system(row)
        elif kind == "queue-operation" and agent is None:
            operation = text_in(row, "operation")
            text = self._queue.operate(operation, text_of(row.get("content")))
            yield from self._prompt(text, row)

    def _assistant(self, row: Mapping[str, object], agent: str | None) -> Iterator[Event]:
        message = row.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        if not isinstance(message, dict) or not isinstance(content, (str, list)):
            self._tally.foreign += 1
            return
        if agent is None:
            self._after_caveat = False
            self._command_uuid = None
            self._queue.settle()
        # The host puts its own errors and fillers into the model's mouth.
        mute = row.get("isApiErrorMessage") is True or message.get("model") == "<synthetic>"
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for block in blocks:
            if not isinstance(block, dict):
                continue
            text = block.get("text")
            if block.get("type") in ("tool_use", "server_tool_use"):
                call = claude_calls.made(block, row, (self._turn, self.calls.number()), agent)
                yield from self.calls.wait(text_in(block, "id"), call)
            elif mute or block.get("type") != "text":
                continue
            elif isinstance(text, str) and text.strip():
                yield Said(self._turn, clip(text), agent)

    def _user(self, row: Mapping[str, object], agent: str | None) -> Iterator[Event]:
        message = row.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        if not isinstance(content, (str, list)):
            self._tally.foreign += 1
            return
        texts = [content] if isinstance(content, str) else []
        if isinstance(content, list):
            results = [b for b in content if isinstance(b, dict) and b.get("type") == "tool_result"]
            note = row.get("toolUseResult") if len(results) == 1 else None
            unread = claude_calls.unread(note, row, self._turn, agent)
            for block in results:
                yield from claude_calls.answered(self.calls, block, note, unread)
            texts = block_texts([b for b in content if isinstance(b, dict) and _is_text(b)])
        for text in texts:
            for event, context in typed.hook_context(text):
                yield Injection(self._turn, event, clip(context), agent)
        if agent is None:
            yield from self._words(texts, row, expanded=isinstance(content, list))

    def _words(
        self, texts: list[str], row: Mapping[str, object], *, expanded: bool
    ) -> Iterator[Event]:
        """Yield the prompt, if a person typed these texts; note what is known of the next row."""
        fresh = [text for text in texts if self._queue.arrived(typed.claude(text) or text)]
        if any(typed.is_caveat(text) for text in texts):
            self._after_caveat = True
        parent = row.get("parentUuid")
        # A skill or command file that the host puts below the command that asked for it.
        is_expansion = expanded and parent is not None and parent == self._command_uuid
        if _is_hosts(row) or is_expansion:
            return
        lines = []
        for text in fresh:
            command = typed.command(text)
            if command is None:
                lines.append(typed.claude(text))
            elif command.is_built_in or self._after_caveat:
                self._after_caveat = False
                if command.name == "/clear":
                    yield Boundary(self._turn, "clear")
            else:
                self._command_uuid = row.get("uuid")
                lines.append(command.text)
        yield from self._prompt("\n".join(line for line in lines if line), row)

    def _prompt(self, text: str, row: Mapping[str, object]) -> Iterator[Prompt]:
        if text:
            self._turn += 1
            yield Prompt(self._turn, clip(text), text_in(row, "timestamp"))

    def _attachment(self, row: Mapping[str, object], agent: str | None) -> Iterator[Event]:
        attachment = row.get("attachment")
        if not isinstance(attachment, dict):
            self._tally.foreign += 1
            return
        kind = attachment.get("type")
        if kind == "queued_command" and agent is None:
            text = typed.claude(text_of(attachment.get("prompt")))
            is_typed = text and not _is_hosts(row) and not _is_hosts(attachment)
            if is_typed and self._queue.arrived(text, by_attachment=True):
                yield from self._prompt(text, row)
            return
        event = text_in(attachment, "hookEvent") or text_in(attachment, "hookName").split(":")[0]
        text = ""
        if kind == "hook_additional_context":
            text = _context(attachment.get("content")) or _rendered(row.get("rendered"))
        elif kind == "hook_success" and event in _PLAIN_OUTPUT:
            text = _context(attachment.get("content"))
        if text.strip():
            yield Injection(self._turn, event, text, agent)

    def _system(self, row: Mapping[str, object]) -> Iterator[Event]:
        if row.get("subtype") == "compact_boundary":
            yield Boundary(self._turn, "compaction")
        elif row.get("subtype") == "local_command":
            command = typed.command(text_in(row, "content"))
            if command is not None and command.name == "/clear":
                yield Boundary(self._turn, "clear")


def _is_text(block: Mapping[str, object]) -> bool:
    return block.get("type") == "text"


def _is_hosts(row: Mapping[str, object]) -> bool:
    """Return whether the host marked the row as its own words."""
    origin = row.get("origin")
    kind = origin.get("kind") if isinstance(origin, dict) else "human"
    return (
        any(row.get(mark) is True for mark in _HOST_MARKS)
        or row.get("rowSource") == "harness"
        or kind not in ("human", "user")
    )


def _context(content: object) -> str:
    """Return a hook's text: a string, or a list of strings or blocks."""
    if isinstance(content, list):
        texts = [text for text in content if isinstance(text, str)]
        return clip("\n".join(texts)) if texts else text_of(content)
    return text_of(content)


def _rendered(rendered: object) -> str:
    parts = rendered if isinstance(rendered, list) else []
    bodies = [text_of(part.get("content")) for part in parts if isinstance(part, dict)]
    return clip("\n".join(text for body in bodies for _, text in typed.hook_context(body)))
