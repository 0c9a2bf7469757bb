"""Choose the rules that fit under the cap, and render the layer.

The layer is the only text rose adds to a conversation, so the cap covers its heading too. A
prefix of the ranking, not the fullest packing: a long rule with the best record must not lose
its place to a bad short one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rose import text as texts

Cost = Callable[[str], int]

# Hosts cut a hook's text above 10,000 characters, Codex at about 2,500 tokens.
MAX_BYTES = 9_500
# The same for the whole output, in which JSON spells every letter beyond ASCII as \uXXXX.
MAX_ENCODED = 9_700
SHARE = 4
PROVEN_SEEN = 3

TITLE = (
    "rose routing layer v1: where knowledge lies for the request at hand. "
    "Background from earlier sessions, not instructions; no reply is wanted."
)
OVER_CAP = "over the cap"
NEWCOMERS = "newcomers' quarter"
OVERSIZED = "larger than a quarter of the cap"


@dataclass(frozen=True, slots=True)
class Entry:
    """A rule as the layer sees it: its line, how often it was seen, and whose store it is from."""

    id: str
    text: str
    seen: int = 0
    is_home: bool = False


@dataclass(frozen=True, slots=True)
class Heading:
    """The lines above the rules; the home line stands only above a rule of the home store."""

    lines: tuple[str, ...]
    home_line: str = ""

    def shown(self, kept: Sequence[Entry]) -> tuple[str, ...]:
        """Return the heading's lines for a choice of rules."""
        wanted = self.home_line and any(entry.is_home for entry in kept)
        return (*self.lines, self.home_line) if wanted else self.lines


@dataclass(frozen=True, slots=True)
class Cap:
    """What the whole block may cost, and what a line costs with its line feed and without."""

    max_tokens: int
    cost: Cost
    bare_cost: Cost
    max_bytes: int = MAX_BYTES


@dataclass(frozen=True, slots=True)
class Fit:
    """The rules of the layer in order of id, their tokens, and why each other one waits."""

    kept: tuple[Entry, ...]
    waiting: Mapping[str, str]
    tokens: int


def store_line(label: str, root: str, lessons: Sequence[str], index: str) -> str:
    """Return the heading's line about one store."""
    folders = ", ".join(f"{folder}/" for folder in lessons)
    return texts.clean_line(f"{label}: {root} (lessons in {folders}, one line each in {index})")


def render(heading: Heading, kept: Sequence[Entry]) -> str:
    """Return the block, rules in order of id; without rules there is none."""
    if not kept:
        return ""
    lines = [entry.text for entry in sorted(kept, key=lambda entry: entry.id)]
    return "\n".join([*heading.shown(kept), *lines])


def is_oversized(text: str, cap: Cap) -> bool:
    """Tell whether one line would take more than a quarter of the layer."""
    return cap.cost(text) * SHARE > cap.max_tokens or _size(text) * SHARE > cap.max_bytes


def fit(ranked: Sequence[Entry], heading: Heading, cap: Cap) -> Fit:
    """Return the longest prefix of the ranking whose rendered block is within the cap.

    When the cap binds, rules that were seen fewer than three times take at most a quarter of it
    while others wait: those beyond their quarter are moved behind the others first.
    """
    fitting = [entry for entry in ranked if not is_oversized(entry.text, cap)]
    kept = _prefix(fitting, heading, cap)
    waiting = {entry.id: OVERSIZED for entry in ranked if is_oversized(entry.text, cap)}
    behind: list[Entry] = []
    if len(kept) < len(fitting):
        fitting, behind = adjusted(fitting, cap)
        kept = _prefix(fitting, heading, cap)
    chosen = {entry.id for entry in kept}
    proven_wait = any(entry.id not in chosen and entry.seen >= PROVEN_SEEN for entry in fitting)
    late = {entry.id for entry in behind} if proven_wait else set()
    for entry in fitting:
        if entry.id not in chosen:
            waiting[entry.id] = NEWCOMERS if entry.id in late else OVER_CAP
    in_order = tuple(sorted(kept, key=lambda entry: entry.id))
    return Fit(in_order, waiting, _tokens(in_order, heading, cap))


def adjusted(ranked: Sequence[Entry], cap: Cap) -> tuple[list[Entry], list[Entry]]:
    """Return the ranking with late newcomers moved behind, and those newcomers."""
    tokens = size = 0
    front: list[Entry] = []
    behind: list[Entry] = []
    for entry in ranked:
        if entry.seen < PROVEN_SEEN:
            tokens += cap.cost(entry.text)
            size += _size(entry.text)
            if behind or tokens * SHARE > cap.max_tokens or size * SHARE > cap.max_bytes:
                behind.append(entry)
                continue
        front.append(entry)
    return [*front, *behind], behind


def _prefix(ranked: Sequence[Entry], heading: Heading, cap: Cap) -> list[Entry]:
    kept: list[Entry] = []
    tally = _Tally(heading, cap)
    for entry in ranked:
        if not tally.take(entry):
            break
        kept.append(entry)
    return kept


class _Tally:
    """What the block costs so far, added up line by line."""

    def __init__(self, heading: Heading, cap: Cap) -> None:
        self.heading = heading
        self.cap = cap
        self.tokens = sum(cap.cost(line) for line in heading.lines)
        self.size = sum(_size(line) for line in heading.lines)
        self.encoded = sum(_encoded(line) for line in heading.lines)
        self.has_home = False
        self.last = ""
        self.last_id = ""

    def take(self, entry: Entry) -> bool:
        """Add a rule, and tell whether the block is still within the cap."""
        texts_added = [entry.text]
        if entry.is_home and not self.has_home and self.heading.home_line:
            texts_added.append(self.heading.home_line)
            self.has_home = True
        self.tokens += sum(self.cap.cost(line) for line in texts_added)
        self.size += sum(_size(line) for line in texts_added)
        self.encoded += sum(_encoded(line) for line in texts_added)
        if entry.id > self.last_id:
            self.last_id, self.last = entry.id, entry.text
        # The last line has no line feed, and which line is last is a matter of ids.
        whole = self.tokens - self.cap.cost(self.last) + self.cap.bare_cost(self.last)
        in_bytes = self.size - 1 <= self.cap.max_bytes and self.encoded <= MAX_ENCODED
        return whole <= self.cap.max_tokens and in_bytes


def _tokens(kept: Sequence[Entry], heading: Heading, cap: Cap) -> int:
    if not kept:
        return 0
    lines = [*heading.shown(kept), *(entry.text for entry in kept)]
    return sum(cap.cost(line) for line in lines[:-1]) + cap.bare_cost(lines[-1])


def _size(line: str) -> int:
    return len(line.encode("utf-8", "surrogatepass")) + 1


def _encoded(line: str) -> int:
    # The two quotes of the literal stand for the two characters of an encoded line feed.
    return len(json.dumps(line))
