"""Claude Code's transcripts: one JSON object a row, subagents in files of their own.

Fields come and go between versions, so none is required and any may be of another type. Most of a
file is bookkeeping, which is told by the first bytes of a row and never parsed (docs/hosts.md).
"""

from __future__ import annotations

import os
import re
import zlib
from typing import TYPE_CHECKING

from rose.hosts import claude_rows, rows, subagents
from rose.hosts.base import Event, Head, Tally

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

NAME = "claude-code"

# A fork's first rows are stamped with its own start; the rows of one moment may be out of order.
_GRACE_S = 0.25
_FACTS = ("cwd", "timestamp", "version")
# A fork's parent is named some rows below its own start.
_HEAD_ROWS = 64
_MOST_HEAD_ROWS = 1000
_HEAD_BYTES = 4 * 1024 * 1024

_SPEAKING = frozenset({"user", "assistant", "attachment", "system", "queue-operation"})
_BOOKKEEPING = frozenset(
    {
        "agent-name",
        "ai-title",
        "api-request",
        "api-request-blob",
        "api-request-shape",
        "atis-latch",
        "cost-state",
        "custom-title",
        "file-history-snapshot",
        "last-prompt",
        "mode",
        "permission-mode",
        "pr-link",
        "progress",
        "summary",
        "tag",
        "tools-used",
    }
)
# The first of the two keys that stands at the top level behind nothing but plain values. Inside a
# JSON string the quotes would be escaped, so text cannot pass for a key.
_KIND = re.compile(
    rb'\s*\{\s*(?:"\w+"\s*:\s*(?:null|true|false|-?[\d.]+|"[^"\\]*")\s*,\s*)*?'
    rb'"(?:type"\s*:\s*"([\w-]+)"|attachment"\s*:\s*\{\s*"type"\s*:\s*"(\w+)")'
)


def open_transcript(path: str) -> ClaudeCode:
    """Return the transcript at a path."""
    return ClaudeCode(path)


def knows(row: Mapping[str, object]) -> bool:
    """Return whether a row is of Claude Code's making."""
    kind = row.get("type")
    return isinstance(kind, str) and kind in _SPEAKING | _BOOKKEEPING


def skip(head: bytes) -> bool:
    """Return whether the row that begins so is bookkeeping."""
    match = _KIND.match(head)
    if match is None:
        return False
    if match[1] is not None:
        return match[1].decode() in _BOOKKEEPING
    return match[2] != b"queued_command" and not match[2].startswith(b"hook_")


def identity(row: Mapping[str, object]) -> str:
    """Return a row's id for `seen`, or an empty string.

    The start of what the row says is part of it: a copied row keeps both, and two rows with one
    uuid that say different things are not the same.
    """
    uuid = row.get("uuid")
    if not isinstance(uuid, str) or not uuid:
        return ""
    return f"{uuid}-{zlib.crc32(_opening(row).encode()):08x}"


def _opening(row: Mapping[str, object]) -> str:
    holder = row.get("message") or row.get("attachment")
    content = holder.get("content") if isinstance(holder, dict) else row.get("content")
    if isinstance(content, list):
        content = content[0] if content else ""
    if isinstance(content, dict):
        parts = [content.get(key) for key in ("id", "tool_use_id", "text")]
        content = " ".join(part[:256] for part in parts if isinstance(part, str))
    return content[:256] if isinstance(content, str) else ""


class ClaudeCode:
    """A session of Claude Code, with its subagents."""

    def __init__(self, path: str) -> None:
        """Take the path of the session's own file; nothing is read yet."""
        self.path = path
        self.tally = Tally()

    def head(self) -> Head:
        """Return what the first rows say; the file's name stands in for a missing session id."""
        facts: dict[str, str] = {}
        sessions: dict[str, None] = {}
        read = 0
        for row in rows.read(self.path, Tally(), rows.skip_nothing):
            read += row.size
            for key in _FACTS:
                value = row.value.get(key)
                if key not in facts and isinstance(value, str) and value:
                    facts[key] = value
            for key in ("sessionId", "requestSessionId"):
                value = row.value.get(key)
                if isinstance(value, str) and value:
                    sessions[value] = None
            enough = row.number >= _HEAD_ROWS or read > _HEAD_BYTES
            complete = bool(sessions) and len(facts) == len(_FACTS)
            if (enough and complete) or row.number >= _MOST_HEAD_ROWS:
                break
        name = self._name()
        session = name if name in sessions or not sessions else next(iter(sessions))
        others = [other for other in sessions if other != session]
        return Head(
            session=session,
            host=NAME,
            cwd=facts.get("cwd", ""),
            started=facts.get("timestamp", ""),
            version=facts.get("version", ""),
            parent=others[0] if others else None,
        )

    def events(self, seen: frozenset[str] = frozenset()) -> Iterator[Event]:
        """Yield the events of the session's own rows and of its subagents, by time."""
        tally = self.tally = Tally()
        walk = claude_rows.Walk(tally)
        for agent, row in self._own_rows(seen, tally):
            yield from walk.row(row, agent)
        yield from walk.calls.rest()

    def uuids(self) -> list[str]:
        """Return the ids of the session's own rows."""
        own = (identity(row) for _, row in self._own_rows(frozenset(), Tally()))
        return [name for name in own if name]

    def _own_rows(
        self, seen: frozenset[str], tally: Tally
    ) -> Iterator[tuple[str | None, dict[str, object]]]:
        head = self.head()
        started = rows.seconds(head.started)
        named = head.session == self._name()
        for agent, row in self._all_rows(tally, started or 0.0):
            kind = row.value.get("type")
            if not isinstance(kind, str) or kind not in _SPEAKING:
                tally.foreign += not isinstance(kind, str) or kind not in _BOOKKEEPING
                continue
            stamp = rows.seconds(row.value.get("timestamp"))
            session = row.value.get("sessionId")
            old = stamp is not None and started is not None and stamp < started - _GRACE_S
            other = named and isinstance(session, str) and session not in ("", head.session)
            if old or other or (seen and identity(row.value) in seen):
                tally.copied += 1
                continue
            yield agent, row.value

    def _all_rows(self, tally: Tally, begins: float) -> Iterator[tuple[str | None, rows.Row]]:
        main = rows.Source(None, begins, lambda: rows.read(self.path, tally, skip))
        return rows.merge(main, subagents.sources(self.path, tally, skip, begins))

    def _name(self) -> str:
        return os.path.basename(self.path).removesuffix(".jsonl")
