"""The rows of a Codex rollout, read one after the other into events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rose.hosts import codex_calls, typed
from rose.hosts.base import HEADINGS, Boundary, Event, Injection, Prompt, Said, Tally
from rose.hosts.calls import Pairing, block_texts, clip, text_in, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_TYPED_KIND = "user.text"
_HOOK_KINDS = "hooks."
_COMPACTIONS = frozenset({"compaction", "compaction_summary", "context_compacted"})


class Walk:
    """What must be remembered between one row and the next."""

    def __init__(self, tally: Tally, cwd: str) -> None:
        """Begin before the first row, in the thread's folder."""
        self.calls = Pairing()
        self._tally = tally
        self._cwd = cwd
        self._turn = 0
        self._last_prompt: tuple[str, str] | None = None
        self._moment = "SessionStart"
        self._at_boundary = False

    def row(self, row: Mapping[str, object]) -> Iterator[Event]:
        """Yield what one row says."""
        for event in self._read(row):
            repeated = self._at_boundary and isinstance(event, Boundary)
            self._at_boundary = isinstance(event, Boundary)
            if not repeated:
                yield event

    def _read(self, row: Mapping[str, object]) -> Iterator[Event]:
        payload = row.get("payload")
        if not isinstance(payload, dict):
            return
        kind = row.get("type")
        if kind == "response_item":
            yield from self._item(payload, row)
        elif kind == "event_msg":
            yield from self._event(payload, row)
        elif kind == "compacted":
            yield Boundary(self._turn, "compaction")
        elif kind == "turn_context":
            self._cwd = text_in(payload, "cwd") or self._cwd

    def _item(self, item: Mapping[str, object], row: Mapping[str, object]) -> Iterator[Event]:
        kind = text_in(item, "type")
        if kind == "message":
            yield from self._message(item, row)
        elif kind in _COMPACTIONS:
            yield Boundary(self._turn, "compaction")
        elif kind.endswith("_call_output"):
            yield from codex_calls.answered(self.calls, item, (self._turn, self._cwd))
        elif kind.endswith("_call"):
            self._answering()
            call_id, call = codex_calls.made(item, (self._turn, self.calls.number()), self._cwd)
            if kind == "web_search_call":
                yield call
            else:
                yield from self.calls.wait(call_id, call)

    def _message(self, item: Mapping[str, object], row: Mapping[str, object]) -> Iterator[Event]:
        role = item.get("role")
        content = item.get("content")
        if not isinstance(content, (str, list)):
            self._tally.foreign += 1
        elif role == "assistant":
            self._answering()
            text = text_of(content)
            if text.strip():
                yield Said(self._turn, text)
        elif role == "user":
            yield from self._prompt("message", _typed(item, content), row)
        elif role == "developer":
            for text in _injected(item, content):
                yield Injection(self._turn, self._moment, text)

    def _answering(self) -> None:
        self._moment = ""
        self._last_prompt = None

    def _event(self, event: Mapping[str, object], row: Mapping[str, object]) -> Iterator[Event]:
        kind = event.get("type")
        if kind == "user_message":
            yield from self._prompt("event", typed.codex(text_in(event, "message")), row)
        elif isinstance(kind, str) and kind in _COMPACTIONS:
            yield Boundary(self._turn, "compaction")
        elif kind == "task_started":
            self._moment = "SessionStart"
        elif kind == "exec_command_end":
            if codex_calls.is_failure(event):
                self.calls.mark_failed(text_in(event, "call_id"))
        elif kind == "item_completed":
            item = event.get("item")
            if not isinstance(item, dict):
                return
            if item.get("type") == "UserMessage":
                yield from self._prompt("event", typed.codex(text_of(item.get("content"))), row)
            elif item.get("type") == "CommandExecution" and codex_calls.is_failure(item):
                self.calls.mark_failed(text_in(item, "id"))

    def _prompt(self, source: str, text: str, row: Mapping[str, object]) -> Iterator[Prompt]:
        """Yield the prompt, unless it is the other record of the one before."""
        if not text:
            return
        last, self._last_prompt = self._last_prompt, None
        if last is not None and last[1] == text and last[0] != source:
            return
        self._last_prompt = (source, text)
        self._turn += 1
        self._moment = "UserPromptSubmit"
        yield Prompt(self._turn, clip(text), text_in(row, "timestamp"))


def _kinds(item: Mapping[str, object]) -> list[object]:
    """Return what the client says each block of a message is; empty where it says nothing."""
    metadata = item.get("internal_chat_message_metadata_passthrough")
    kinds = metadata.get("content_item_kinds") if isinstance(metadata, dict) else None
    return kinds if isinstance(kinds, list) else []


def _typed(item: Mapping[str, object], content: str | list[object]) -> str:
    kinds = _kinds(item)
    blocks = content if isinstance(content, list) else [{"text": content}]
    if kinds:
        pairs = zip(blocks, kinds, strict=False)
        blocks = [block for block, kind in pairs if kind == _TYPED_KIND]
    texts = [typed.codex(text) for text in block_texts(blocks)]
    return "\n".join(text for text in texts if text)


def _injected(item: Mapping[str, object], content: str | list[object]) -> list[str]:
    """Return the hooks' texts of a developer message.

    A version that says no kinds wrote no hook's text but ours, if any.
    """
    kinds = _kinds(item)
    blocks = content if isinstance(content, list) else [{"text": content}]
    if kinds:
        pairs = zip(blocks, kinds, strict=False)
        blocks = [b for b, kind in pairs if isinstance(kind, str) and kind.startswith(_HOOK_KINDS)]
        return [text for text in block_texts(blocks) if text.strip()]
    return [text for text in block_texts(blocks) if text.lstrip().startswith(HEADINGS)]
