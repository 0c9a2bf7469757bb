"""Follows what failed in a session until the same thing worked.

A chain begins with a failed call and ends with the next call of the same kind that succeeds:
the same program and sub-command, or the same tool on a file of the same name.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rose import redact
from rose.reflection import commands, digest_text, kinds
from rose.reflection.digest_fit import Ends

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rose.hosts.base import Call
    from rose.reflection.commands import Simple

ASKED_CHARS = 400
MOST_LINES = 8
LINE_CHARS = 240
_MOST_TRIES = 8
_SHORT = 120
_MOST_OPEN = 64
_MOST_CLOSED = 200
# Beyond this the head and the end of a result are read: errors stand there.
_READ_CHARS = 40_000

_WORD = re.compile(r"[A-Za-z][\w:-]*")
_INTERPRETER_WORDS = "python node ruby perl php deno bun bash sh zsh Rscript java"
_INTERPRETERS = frozenset(_INTERPRETER_WORDS.split())
# A pipe and a list end with the status of their last command, which hides that another failed.
_HIDING = re.compile(r"[|;]")
_TOLD = re.compile(
    r"\b[1-9][0-9]* (?:failed|failures?|errors?)\b|\b(?:failed|failures?|errors?): [1-9]"
    r"|\bfound [1-9][0-9]* [^\n]{0,60}\bissues?\b|\bexit (?:status|code) [1-9]"
    r"|^Traceback \(most recent call last\)|^(?:error|fatal)(?:\[\w+\])?: |^npm ERR!|^\*\* \(",
    re.MULTILINE | re.IGNORECASE,
)
_ERROR = re.compile(
    r"error|fatal|fail|exception|panic|denied|refused|reject|not found|no such|not a |cannot"
    r"|can't|could not|couldn't|unable|undefined|unresolved|unknown|invalid|illegal|missing"
    r"|required|expected|exceed|\bnever\b|ignored|abort|timed out|timeout|\[F\]|\[R\]|[✘✗❌✖]",
    re.IGNORECASE,
)
# A place in a file at the beginning of a line: in the middle of one it is often a call stack.
_PLACE = re.compile(r"[\w./-]+\.\w+:[0-9]+")
_HINT = re.compile(
    r"\bhint|did you mean|to fix|\btry\b|\buse\b|\brun\b|\binstead\b|\bhelp:|\bensure\b|\bplease\b",
    re.IGNORECASE,
)
_DULL = re.compile(r"exit code [0-9]+|process exited with code [0-9]+", re.IGNORECASE)
# The words of the hosts, at the very beginning: further in it is a program that speaks.
_BY_PERSON = re.compile(
    r"\s*(?:the user (?:doesn't|does not) want|user rejected|\w+(?: command)? rejected by user)",
    re.IGNORECASE,
)
_SAID = "the user said:"


@dataclass(frozen=True, slots=True)
class Try:
    """One call of a chain: what was asked, the region of its result, the lines that say why."""

    at: int
    place: str
    asked: str
    lines: tuple[str, ...] = ()


@dataclass(slots=True)
class Chain:
    """Tries of one thing in order, and the call that then worked, if any did.

    Of tries that failed alike the first is kept, and of many the first and the last ones; `count`
    says how many there were.
    """

    tries: Ends[Try] = field(default_factory=lambda: Ends(_MOST_TRIES))
    worked: Try | None = None
    count: int = 0

    def add(self, one: Try) -> None:
        """Add a failed try."""
        self.count += 1
        if all(one.lines != known.lines for known in self.tries.items()):
            self.tries.add(one)


class Failures:
    """Collects the chains of one session."""

    def __init__(self) -> None:
        self._open: dict[str, Chain] = {}
        self._closed: Ends[Chain] = Ends(_MOST_CLOSED)

    def take(self, at: int, place: str, call: Call) -> bool:
        """Take one call; say whether it belongs to a chain."""
        keys = list(keys_of(call))
        if is_failed(call):
            key = keys[-1]
            chain = self._open.pop(key, None) or Chain()
            chain.add(Try(at, place, asked(call), key_lines(call.result)))
            self._open[key] = chain
            if len(self._open) > _MOST_OPEN:
                self._closed.add(self._open.pop(next(iter(self._open))))
            return True
        if not call.answered:
            return False
        solved = [self._open.pop(key) for key in dict.fromkeys(keys) if key in self._open]
        for chain in solved:
            chain.worked = Try(at, place, asked(call))
            self._closed.add(chain)
        return bool(solved)

    def left_out(self) -> int:
        """Return how many chains were too many to be kept."""
        return self._closed.count - len(self._closed.items())

    def chains(self) -> list[Chain]:
        """Return the chains by their first try."""
        found = [*self._closed.items(), *self._open.values()]
        return sorted(found, key=lambda chain: chain.tries.items()[0].at)


def is_failed(call: Call) -> bool:
    """Tell whether a call failed, though its exit status may hide it."""
    if call.failed or call.command is None:
        return call.failed
    if not _HIDING.search(call.command) or not _TOLD.search(call.result):
        return False
    # What only looks at files may show the failures of another time.
    return any(map(kinds.head_of, _simple(call)))


def by_person(call: Call) -> str:
    """Return what a person said in refusing a call, empty where no person refused it."""
    if not call.failed or call.foreign or not _BY_PERSON.match(call.result):
        return ""
    before, said, after = call.result.partition(_SAID)
    return after.strip() if said else before


def asked(call: Call) -> str:
    """Return what a call asked for, on one line."""
    if call.command is not None:
        return digest_text.line(redact.beginning(call.command, commands.MOST_CHARS), ASKED_CHARS)
    told = [path.removeprefix(call.cwd.rstrip("/") + "/") for path in call.paths]
    for key, value in call.input.items():
        # What a call writes into a file says less than the file's name.
        is_short = isinstance(value, str) and len(value) <= _SHORT and value not in call.paths
        if is_short or type(value) is int:
            told.append(f"{key}={value}")
    said = redact.beginning(" ".join([call.name, *told]), commands.MOST_CHARS)
    return digest_text.line(said, ASKED_CHARS)


def keys_of(call: Call) -> Iterator[str]:
    """Yield what a call must share with a later one to be the same kind of call."""
    if call.command is None:
        yield f"{call.name} {os.path.basename(call.paths[0].rstrip('/')) if call.paths else ''}"
        return
    simple = _simple(call)
    told = [key for key in map(_key, simple) if key]
    quiet = [f"{one.head} {_file(one)}" for one in simple[-1:]]
    yield from told or quiet or [call.name]


def _simple(call: Call) -> list[Simple]:
    return list(commands.simple_commands(call.command or ""))


def _key(simple: Simple) -> str:
    head = kinds.head_of(simple)
    if not head:
        return ""
    if head in _INTERPRETERS:
        return f"{head} {_file(simple)}"
    first = next((word for word in simple.arguments if not word.startswith("-")), "")
    is_told = " " in head or not _WORD.fullmatch(first)
    return head if is_told else f"{head} {first}"


def _file(simple: Simple) -> str:
    named = [word for word in simple.arguments if not word.startswith("-")]
    return os.path.basename(named[-1].rstrip("/")) if named else ""


def key_lines(result: str) -> tuple[str, ...]:
    """Return the lines of a failed result that say why it failed, and what it proposes."""
    whole = result
    # A key may run over many lines, and half of one is not known for a key.
    if len(whole) > _READ_CHARS and "PRIVATE" not in whole:
        whole = digest_text.clip(whole, _READ_CHARS)
    raw = [line for line in digest_text.plain(whole).split("\n") if line.strip()]
    telling = [line for line in raw if not _DULL.fullmatch(line.strip())] or raw
    chosen = _chosen(telling)
    cut = [digest_text.clip_line(telling[at].strip(), LINE_CHARS) for at in chosen]
    return tuple(dict.fromkeys(digest_text.clean(cut)))


def _chosen(rows: list[str]) -> list[int]:
    """Return the places of the lines that count, in order."""
    errors = [at for at, row in enumerate(rows) if _ERROR.search(row)]
    hints = []
    for at, row in enumerate(rows):
        if _HINT.search(row):
            # What is proposed often stands on the line below.
            hints += [at, at + 1] if at + 1 < len(rows) else [at]
    places = [at for at, row in enumerate(rows) if _PLACE.match(row)]
    told = [*errors[:4], *errors[4:][-2:], *hints[:4], *hints[-2:], *places[:2]]
    if not errors:
        told += [*range(len(rows))[:2], *range(len(rows))[-2:]]
    return sorted(list(dict.fromkeys(told))[:MOST_LINES])
