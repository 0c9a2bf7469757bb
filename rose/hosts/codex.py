"""Codex's rollouts: rows of {timestamp, type, payload}, one file a thread.

A prompt stands in a rollout twice: as the message that the model got and as the event that the
client showed. Both are read, so that either may be missing, and each prompt counts once.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from rose.hosts import codex_rows, rows
from rose.hosts.base import Event, Head, Tally
from rose.hosts.calls import text_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

NAME = "codex"

_GRACE_S = 0.25
_HEAD_ROWS = 64
_SPEAKING = frozenset({"response_item", "event_msg", "turn_context", "compacted", "session_meta"})
_BOOKKEEPING = frozenset({"token_usage_record", "world_state"})
_SILENT = frozenset(
    {
        "agent_message",
        "agent_reasoning",
        "agent_reasoning_raw_content",
        "reasoning",
        "task_complete",
        "thread_settings_applied",
        "token_count",
    }
)
_KIND = re.compile(
    rb'\s*\{\s*(?:"\w+"\s*:\s*(?:null|true|false|-?[\d.]+|"[^"\\]*")\s*,\s*)*?'
    rb'"type"\s*:\s*"(\w+)"\s*,\s*"payload"\s*:\s*\{\s*(?:"type"\s*:\s*"(\w+)")?'
)
_THREAD = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$")


def open_transcript(path: str) -> Codex:
    """Return the transcript at a path."""
    return Codex(path)


def knows(row: Mapping[str, object]) -> bool:
    """Return whether a row is of Codex's making."""
    kind = row.get("type")
    known = isinstance(kind, str) and kind in _SPEAKING | _BOOKKEEPING
    return known and isinstance(row.get("payload"), dict)


def skip(head: bytes) -> bool:
    """Return whether the row that begins so says nothing that we read."""
    match = _KIND.match(head)
    if match is None:
        return False
    return match[1].decode() in _BOOKKEEPING or (
        match[2] is not None
        and match[1] in (b"response_item", b"event_msg")
        and match[2].decode() in _SILENT
    )


class Codex:
    """A thread of Codex."""

    def __init__(self, path: str) -> None:
        """Take the path of the rollout; nothing is read yet."""
        self.path = path
        self.tally = Tally()

    def head(self) -> Head:
        """Return what the first rows say; the file's name stands in for a missing thread id."""
        session = cwd = started = version = parent = ""
        for row in rows.read(self.path, Tally(), skip):
            payload = row.value.get("payload")
            facts = payload if isinstance(payload, dict) else {}
            started = started or text_in(row.value, "timestamp")
            cwd = cwd or text_in(facts, "cwd")
            if row.value.get("type") == "session_meta" and not session:
                session = text_in(facts, "id") or text_in(facts, "session_id")
                version = text_in(facts, "cli_version")
                parent = text_in(facts, "forked_from_id")
            if (session and cwd and started) or row.number >= _HEAD_ROWS:
                break
        return Head(session or self._name(), NAME, cwd, started, version, parent or None)

    def events(self, seen: frozenset[str] = frozenset()) -> Iterator[Event]:
        """Yield the events of the thread's own rows, in the file's order."""
        tally = self.tally = Tally()
        head = self.head()
        walk = codex_rows.Walk(tally, head.cwd)
        for _, row in self._own_rows(head, seen, tally):
            yield from walk.row(row)
        yield from walk.calls.rest()

    def uuids(self) -> list[str]:
        """Return the ids of the thread's own rows: thread and ordinal, or thread and line."""
        return [name for name, _ in self._own_rows(self.head(), frozenset(), Tally())]

    def _own_rows(
        self, head: Head, seen: frozenset[str], tally: Tally
    ) -> Iterator[tuple[str, dict[str, object]]]:
        started = rows.seconds(head.started)
        for row in rows.read(self.path, tally, skip):
            if not knows(row.value):
                tally.foreign += 1
                continue
            stamp = rows.seconds(row.value.get("timestamp"))
            ordinal = row.value.get("ordinal")
            own = f"{ordinal}" if isinstance(ordinal, int) else f"line {row.number}"
            name = f"{head.session}:{own}"
            old = stamp is not None and started is not None and stamp < started - _GRACE_S
            if old or name in seen:
                tally.copied += 1
                continue
            yield name, row.value

    def _name(self) -> str:
        name = os.path.basename(self.path).removesuffix(".jsonl")
        thread = _THREAD.search(name)
        return thread[0] if thread else name
