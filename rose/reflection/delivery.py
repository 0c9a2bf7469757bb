"""What rose sent in a session, and what of it the host shows to have arrived.

A rule is delivered if its whole line, as it was sent, stands in an injection that the host wrote
down. The session's note names the blocks by digest; each lies beside it as it was sent.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rose import files, layout, session

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rose.hosts.base import Injection
    from rose.layout import Store

# Hosts that write down what a hook injected. Of any other nobody can tell what arrived.
RECORDING = frozenset(["claude-code", "codex"])
_DIGEST = re.compile(r"[0-9a-f]{8,64}")


@dataclass(frozen=True, slots=True)
class Sent:
    """The rules that were sent in a session, and the lines as which each was sent.

    A rule whose block is lost has no line: whether it arrived cannot be known.
    """

    rules: tuple[str, ...] = ()
    lines: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def read_sent(store: Store, host: str, session_id: str) -> Sent:
    """Return what the session's note in a store says was sent; nothing without a note."""
    path = session.note_path(store.sessions, layout.session_name(host, session_id))
    rules: dict[str, None] = {}
    lines: dict[str, dict[str, None]] = {}
    for row in session.read(path):
        named = row.get("rules")
        digest = row.get("block")
        if not isinstance(named, list) or not isinstance(digest, str):
            continue
        ids = [rule for rule in named if isinstance(rule, str)]
        rules.update(dict.fromkeys(ids))
        sent = _rule_lines(store, digest)
        if len(sent) == len(ids):
            for rule, line in zip(ids, sent, strict=True):
                lines.setdefault(rule, {})[line] = None
    return Sent(tuple(rules), {rule: tuple(found) for rule, found in lines.items()})


def _rule_lines(store: Store, digest: str) -> list[str]:
    """Return the rule lines of a block that was sent; none where it is gone."""
    if _DIGEST.fullmatch(digest) is None:
        return []
    try:
        block = files.read_text(store.block(digest))
    except (OSError, ValueError):
        return []
    return [line for line in block.split("\n") if line.startswith("- ")]


class Arrivals:
    """Watches the injections of one session for the lines that were sent."""

    def __init__(self, sent: Sent, host: str) -> None:
        self.sent = sent
        self.is_recording = host in RECORDING
        self.first_at: dict[str, int] = {}
        self.line: dict[str, str] = {}

    def take(self, at: int, injection: Injection) -> None:
        """Take one injection, at its place among the session's events."""
        if not self.sent.lines:
            return
        shown = frozenset(line.rstrip("\r") for line in injection.text.split("\n"))
        for rule, lines in self.sent.lines.items():
            for line in lines:
                if line in shown:
                    self.first_at.setdefault(rule, at)
                    self.line[rule] = line

    def delivered(self) -> tuple[str, ...] | None:
        """Return the rules that arrived, None where that cannot be known.

        Where nothing was sent, nothing arrived, on any host.
        """
        if self.sent.rules and not (self.is_recording and self.sent.lines):
            return None
        return tuple(rule for rule in self.sent.rules if rule in self.first_at)
