"""What every host's transcript is read into: prompts, calls, injections, boundaries.

An event carries what the host wrote down and nothing that was guessed. Text is cut at
RESULT_CHARS, so that one huge tool result cannot fill the memory.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

RESULT_CHARS = 200_000

# The first words of the blocks that rose injects. Text that holds them is rose's own, wherever it
# stands: a rule must not be able to prove itself.
BLOCK_HEADING = "rose routing layer v1"
RECALL_HEADING = "rose recall v1"
HEADINGS = (BLOCK_HEADING, RECALL_HEADING)
# The first words of every question that rose's reflection puts to a forked session.
REFLECTION_MARKER = "<rose-reflection"
REFLECTION_END = REFLECTION_MARKER.replace("<", "</")
_QUESTION = re.compile(
    re.escape(REFLECTION_MARKER) + r".*?(?:" + re.escape(REFLECTION_END) + r"[^>\n]*>?|\Z)",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a person typed. It opens the turn of its number; turn 0 is before the first prompt."""

    turn: int
    text: str
    at: str
    agent: str | None = None


@dataclass(frozen=True, slots=True)
class Said:
    """A text of the model, between or after its calls."""

    turn: int
    text: str
    agent: str | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call with its result.

    `order` counts the calls as they were made; the event comes when the result does. A call that
    was never answered comes last with an empty result, and a result whose call could not be read
    has an empty name. `foreign` marks what came from outside the repository. `known` is how many
    results were in when it was made, `answered` the place of its own result, from 1: a call made
    beside another cannot rest on the other's result.
    """

    turn: int
    order: int
    name: str
    input: Mapping[str, object]
    command: str | None = None
    paths: tuple[str, ...] = ()
    cwd: str = ""
    result: str = ""
    failed: bool = False
    agent: str | None = None
    foreign: bool = False
    known: int = 0
    answered: int = 0


@dataclass(frozen=True, slots=True)
class Injection:
    """What a hook put before the model, as the host wrote it down (its stub where it was cut)."""

    turn: int
    event: str
    text: str
    agent: str | None = None


@dataclass(frozen=True, slots=True)
class Boundary:
    """The place where the model lost what came before."""

    turn: int
    kind: Literal["compaction", "clear"]


Event = Prompt | Said | Call | Injection | Boundary


@dataclass(frozen=True, slots=True)
class Head:
    """What the first rows say about the session. `started` is the first timestamp, or empty."""

    session: str
    host: str
    cwd: str = ""
    started: str = ""
    version: str = ""
    parent: str | None = None


@dataclass(slots=True)
class Tally:
    """What one pass over the files met, filled while it streams.

    rows: lines that are not blank; torn: no JSON; foreign: JSON of no known shape; copied: rows
    that belong to another session; oversized: lines too long to be read; unread: files of
    subagents that could not be read or lie outside the session's folder.
    """

    rows: int = 0
    torn: int = 0
    foreign: int = 0
    copied: int = 0
    oversized: int = 0
    unread: int = 0

    @property
    def is_foreign(self) -> bool:
        """Tell whether no row is of a host's making."""
        return self.torn + self.foreign + self.oversized >= self.rows


class Transcript(Protocol):
    """A session as its host wrote it down. Every pass reads the files again."""

    path: str
    tally: Tally

    def head(self) -> Head:
        """Return what the first rows say."""
        ...

    def events(self, seen: frozenset[str] = frozenset()) -> Iterator[Event]:
        """Yield the events of the session's own rows, without those whose id is in `seen`."""
        ...

    def uuids(self) -> list[str]:
        """Return the ids of the session's own rows, for another session's `seen`."""
        ...


def strip_block(text: str) -> str:
    """Return the text without any block of rose in it."""
    if not _holds_heading(text):
        return text
    kept: list[str] = []
    inside = rules = False
    for line in text.split("\n"):
        if _holds_heading(line):
            inside, rules = True, False
            continue
        is_rule = line.startswith(("- ", "> "))
        # A block has no blank line, and its rules or lessons are its last lines.
        inside = inside and bool(line.strip()) and (is_rule or not rules)
        rules = inside and is_rule
        if not inside:
            kept.append(line)
    return "\n".join(kept)


def _holds_heading(text: str) -> bool:
    return any(heading in text for heading in HEADINGS)


def strip_own(text: str) -> str:
    """Return the text without rose's blocks and without its questions about a session."""
    told = strip_block(text)
    return _QUESTION.sub("\n", told) if REFLECTION_MARKER in told else told


class Region(NamedTuple):
    """A text that quotes are looked for in: the body of one message or one result.

    `number` counts the regions of the session from 1. The kinds are prompt, said, result, and
    foreign: a result that came from outside the repository.
    """

    number: int
    kind: str
    text: str

    @property
    def is_foreign(self) -> bool:
        return self.kind == "foreign"


def regions(transcript: Transcript) -> Iterator[Region]:
    """Yield each message and tool result of a session, for quotes.

    What hooks injected is no region, and neither is what rose itself put into another text.
    """
    number = 0
    for kind, body in _bodies(transcript.events()):
        text = strip_own(body)
        if text.strip():
            number += 1
            yield Region(number, kind, text)


def _bodies(events: Iterable[Event]) -> Iterator[tuple[str, str]]:
    for event in events:
        if isinstance(event, Prompt):
            yield "prompt", event.text
        elif isinstance(event, Said):
            yield "said", event.text
        elif isinstance(event, Call):
            yield "foreign" if event.foreign else "result", event.result
