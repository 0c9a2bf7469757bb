"""What rose sent in a session, and what of it the host shows to have arrived.

A rule is delivered if its whole line, as it was sent, stands in an injection that the host wrote
down; a block arrived whole, cut (a host replaces the middle or the end of what is too long) or not
at all. The session's note names the blocks by digest; each lies beside it as it was sent.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rose import files, layout, session
from rose.hosts import wire
from rose.hosts.base import BLOCK_HEADING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rose.hosts.base import Injection
    from rose.layout import Store

_DIGEST = re.compile(r"[0-9a-f]{8,64}")


@dataclass(frozen=True, slots=True)
class Block:
    """One sending of the layer; `text` is empty where no copy of it is left."""

    event: str
    agent: str | None
    text: str


@dataclass(frozen=True, slots=True)
class Sent:
    """The rules that were sent in a session, and the lines as which each was sent.

    A rule whose block is lost has no line: whether it arrived cannot be known.
    """

    rules: tuple[str, ...] = ()
    lines: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    blocks: tuple[Block, ...] = ()


@dataclass(frozen=True, slots=True)
class Arrival:
    """What became of the blocks that were sent at one event of a session."""

    event: str
    whole: int = 0
    cut: int = 0
    none: int = 0
    unknown: int = 0

    def counts(self) -> dict[str, int]:
        return {
            "whole": self.whole,
            "cut": self.cut,
            "none": self.none,
            "unknown": self.unknown,
        }


def read_sent(store: Store, host: str, session_id: str) -> Sent:
    """Return what the session's note in a store says was sent; nothing without a note."""
    path = session.note_path(store.sessions, layout.session_name(host, session_id))
    rules: dict[str, None] = {}
    lines: dict[str, dict[str, None]] = {}
    blocks: list[Block] = []
    for number, row in enumerate(session.read(path)):
        named = row.get("rules")
        digest = row.get("block")
        if not isinstance(named, list) or not isinstance(digest, str):
            continue
        ids = [rule for rule in named if isinstance(rule, str)]
        rules.update(dict.fromkeys(ids))
        text = _block(store, digest)
        sent = [line for line in text.split("\n") if line.startswith("- ")]
        if len(sent) == len(ids):
            for rule, line in zip(ids, sent, strict=True):
                lines.setdefault(rule, {})[line] = None
        event, agent = row.get("event"), row.get("agent")
        # A resumed session whose transcript holds the layer has it noted, but was sent nothing.
        # Such a note is a session's first; a start sends after a compaction, which is noted too.
        is_resumed = event == "SessionStart" and number == 0 and host not in wire.AT_START
        if event in wire.EVENTS and not is_resumed:
            blocks.append(Block(str(event), agent if isinstance(agent, str) else None, text))
    return Sent(tuple(rules), {rule: tuple(found) for rule, found in lines.items()}, tuple(blocks))


def _block(store: Store, digest: str) -> str:
    """Return a block as it was sent, empty where it is gone."""
    if _DIGEST.fullmatch(digest) is None:
        return ""
    try:
        return files.read_text(store.block(digest))
    except (OSError, ValueError):
        return ""


class Arrivals:
    """Watches the events of one session for what was sent."""

    def __init__(self, sent: Sent, host: str) -> None:
        self.sent = sent
        self.is_recording = host in wire.READABLE
        self.first_at: dict[str, int] = {}
        self.line: dict[str, str] = {}
        self._agents: set[str | None] = set()
        self._whole: set[int] = set()
        self._partial: dict[str | None, int] = {}

    def meet(self, agent: str | None) -> None:
        """Note that the transcript holds something of an agent."""
        self._agents.add(agent)

    def take(self, at: int, injection: Injection) -> None:
        """Take one injection, at its place among the session's events."""
        text = injection.text.replace("\r", "")
        if BLOCK_HEADING in text:
            self._settle(text, injection.agent)
        if not self.sent.lines:
            return
        shown = frozenset(text.split("\n"))
        for rule, lines in self.sent.lines.items():
            for line in lines:
                if line in shown:
                    self.first_at.setdefault(rule, at)
                    self.line[rule] = line

    def _settle(self, text: str, agent: str | None) -> None:
        """Take an injection for the first block of its agent that stands in it, or for a part."""
        for number, block in enumerate(self.sent.blocks):
            is_open = number not in self._whole and block.agent == agent
            if is_open and block.text and block.text in text:
                self._whole.add(number)
                return
        self._partial[agent] = self._partial.get(agent, 0) + 1

    def delivered(self) -> tuple[str, ...] | None:
        """Return the rules that arrived, None where that cannot be known.

        Where nothing was sent, nothing arrived, on any host.
        """
        if self.sent.rules and not (self.is_recording and self.sent.lines):
            return None
        return tuple(rule for rule in self.sent.rules if rule in self.first_at)

    def by_event(self) -> tuple[Arrival, ...]:
        """Return what became of the blocks, event by event in the order of the sendings."""
        found: dict[str, dict[str, int]] = {}
        partial = dict(self._partial)
        for number, block in enumerate(self.sent.blocks):
            counts = found.setdefault(block.event, {})
            state = self._state(number, block, partial)
            counts[state] = counts.get(state, 0) + 1
        return tuple(Arrival(event, **counts) for event, counts in found.items())

    def _state(self, number: int, block: Block, partial: dict[str | None, int]) -> str:
        if number in self._whole:
            return "whole"
        # Some hosts keep a subagent's rows elsewhere, and any file may be lost.
        is_known = self.is_recording and block.text and block.agent in self._agents
        if partial.get(block.agent, 0):
            partial[block.agent] -= 1
            return "cut" if is_known else "unknown"
        return "none" if is_known else "unknown"


def as_json(arrivals: Sequence[Arrival]) -> list[dict[str, object]]:
    """Return arrivals as they stand in the trace of a reflection."""
    return [{"event": each.event, **each.counts()} for each in arrivals]


def from_json(value: object) -> list[Arrival] | None:
    """Return the arrivals that a line of the trace holds, None where it says nothing of them."""
    if not isinstance(value, list):
        return None
    found = []
    for each in value:
        if isinstance(each, dict) and each.get("event") in wire.EVENTS:
            counts = {state: each.get(state) for state in Arrival("").counts()}
            known = {state: n for state, n in counts.items() if type(n) is int and n > 0}
            found.append(Arrival(str(each["event"]), **known))
    return found
