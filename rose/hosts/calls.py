"""Tool calls: what they name, and the pairing of a call with its result.

Only structured inputs give paths. What a shell command reads is for the observer to work out.
"""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

from rose.hosts.base import RESULT_CHARS, Call

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_PATH_KEYS = (
    "file_path",
    "filePath",
    "path",
    "notebook_path",
    "notebookPath",
    "absolute_path",
    "relative_path",
    "target_file",
    "filename",
    "file",
    "paths",
    "files",
)
_COMMAND_KEYS = ("command", "cmd")
_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh", "fish"})
_RUNS = re.compile(r"-[a-zA-Z]*c")  # such as -c and -lc
_PATCH_HEADERS = ("*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: ")
# Programs whose output comes from outside the repository, and what may stand before their name.
_FETCHER_NAMES = (
    "curl wget http https xh gh glab lynx links elinks w3m aria2c nc ncat telnet ssh scp sftp ftp "
    "invoke-webrequest invoke-restmethod iwr irm"
)
_FETCHERS = frozenset(_FETCHER_NAMES.split())
_FETCHES_OF_GIT = frozenset(("clone", "ls-remote"))
_STARTERS = (
    "if then elif else while until do ! sudo env time timeout nice nohup stdbuf xargs command exec "
    "bash sh zsh dash ksh"
)
_BEFORE_HEAD = frozenset(_STARTERS.split())
_BETWEEN_COMMANDS = re.compile(r"[;&|\n()`{}]+")
_NO_HEAD = re.compile(r"-|[A-Za-z_]\w*=|\d+[smhd]?\Z")
_THIS_MACHINE = re.compile(r"(?:localhost|127(?:\.\d+){3}|0\.0\.0\.0|\[::1\])(?![\w.-])")
_ADDRESS = re.compile(r"https?://([^\s/\"']+)")
# A host that never answers its calls must not make us hold them all.
_MOST_WAITING = 256
_MOST_ANSWERED = 4096
_DEEPEST = 32


def clip(text: str) -> str:
    """Return the text, cut at RESULT_CHARS."""
    return text[:RESULT_CHARS]


def text_in(row: Mapping[str, object], key: str) -> str:
    """Return a text field, empty where it is missing or of another type."""
    value = row.get(key)
    return value if isinstance(value, str) else ""


def text_of(content: object) -> str:
    """Return the text of a message's content: a string, or the text blocks of a list."""
    if isinstance(content, str):
        return clip(content)
    if not isinstance(content, list):
        return ""
    return clip("\n".join(block_texts(content)))


def block_texts(content: Sequence[object]) -> list[str]:
    """Return the texts of a list of blocks; images and the like have none."""
    texts = []
    for block in content:
        text = block.get("text") if isinstance(block, dict) else None
        if isinstance(text, str):
            texts.append(clip(text))
    return texts


def bounded(value: object) -> dict[str, object]:
    """Return a tool's input as a mapping with string keys, cut to about RESULT_CHARS in all."""
    if not isinstance(value, dict):
        return {} if value is None else bounded({"value": value})
    kept = _within(value, [RESULT_CHARS], 0)
    return kept if isinstance(kept, dict) else {}


def _within(value: object, room: list[int], depth: int) -> object:
    room[0] -= 1
    if isinstance(value, str):
        kept = value[: max(room[0], 0)]
        room[0] -= len(kept)
        return kept
    if depth > _DEEPEST:
        return None
    if isinstance(value, dict):
        items = {}
        for key, item in value.items():
            if room[0] > 0:
                items[_within(key, room, depth)] = _within(item, room, depth + 1)
        return items
    if isinstance(value, list):
        return [_within(item, room, depth + 1) for item in value if room[0] > 0]
    return value


def command_of(tool_input: Mapping[str, object]) -> str | None:
    """Return the shell text of a shell tool's input."""
    for key in _COMMAND_KEYS:
        value = tool_input.get(key)
        if isinstance(value, str):
            return value
        if isinstance(value, list):
            return script([word for word in value if isinstance(word, str)])
    return None


def script(words: Sequence[str]) -> str:
    """Return what an argument vector runs: the script of `bash -lc SCRIPT`, or the joined words."""
    match words:
        case [shell, flag, text, *_] if os.path.basename(shell) in _SHELLS and _RUNS.fullmatch(
            flag
        ):
            return text
    return shlex.join(words)


def fetches(command: str) -> bool:
    """Tell whether a shell text runs a program that prints what came from outside, by its name."""
    return any(_is_fetch(part) for part in _BETWEEN_COMMANDS.split(command))


def _is_fetch(simple: str) -> bool:
    words = [word.strip("\"'$").casefold() for word in simple.split()]
    at = 0
    while at < len(words) and (words[at] in _BEFORE_HEAD or _NO_HEAD.match(words[at])):
        at += 1
    head = os.path.basename(words[at]) if at < len(words) else ""
    if head == "git":
        return not _FETCHES_OF_GIT.isdisjoint(words[at + 1 :][:4])
    hosts = _ADDRESS.findall(simple)
    is_local = bool(_THIS_MACHINE.search(simple)) and all(map(_THIS_MACHINE.match, hosts))
    return head in _FETCHERS and not is_local


def paths_of(tool_input: Mapping[str, object]) -> tuple[str, ...]:
    """Return the file paths that a structured input names, as the host gave them."""
    found: dict[str, None] = {}
    for key in _PATH_KEYS:
        value = tool_input.get(key)
        for item in value if isinstance(value, list) else (value,):
            if isinstance(item, str) and item.strip() and "\n" not in item:
                found[item] = None
    return tuple(found)


def patch_paths(text: str) -> tuple[str, ...]:
    """Return the files that the headers of an apply_patch text name."""
    if "*** Begin Patch" not in text:
        return ()
    found: dict[str, None] = {}
    for line in text.splitlines():
        for header in _PATCH_HEADERS:
            if line.startswith(header) and line[len(header) :].strip():
                found[line[len(header) :].strip()] = None
    return tuple(found)


class Pairing:
    """Calls that wait for their result, by the host's id of the call."""

    def __init__(self) -> None:
        """Start with no call waiting."""
        self._waiting: dict[str, Call] = {}
        self._answered: dict[str, None] = {}
        self._made = 0
        self._given = 0

    def number(self) -> int:
        """Return the order of the next call."""
        self._made += 1
        return self._made - 1

    def wait(self, call_id: str, call: Call) -> Iterator[Call]:
        """Keep a call; yield the one that must make room for it, unanswered."""
        crowded = len(self._waiting) >= _MOST_WAITING
        oldest = next(iter(self._waiting)) if crowded else None
        for name in (call_id, oldest):
            if name is not None and name in self._waiting:
                yield self._waiting.pop(name)
        self._waiting[call_id] = replace(call, known=self._given)

    def waiting(self, call_id: str) -> Call | None:
        """Return the call of that id that waits for its result."""
        return self._waiting.get(call_id)

    def mark_failed(self, call_id: str) -> None:
        """Note that the host recorded a failure before it wrote the result."""
        if call_id in self._waiting:
            self._waiting[call_id] = replace(self._waiting[call_id], failed=True)

    def answer(self, call_id: str, unread: Call, result: str, *, failed: bool) -> Iterator[Call]:
        """Yield the call with its result, or `unread` with it where the call is unknown.

        A second result for one call is a copy, and yields nothing.
        """
        call = self._waiting.pop(call_id, None)
        if call is None:
            if call_id in self._answered:
                return
            call = replace(unread, order=self.number(), known=self._given)
        if call_id:
            self._answered[call_id] = None
        if len(self._answered) > _MOST_ANSWERED:
            del self._answered[next(iter(self._answered))]
        self._given += 1
        whole = clip(result)
        yield replace(call, result=whole, failed=failed or call.failed, answered=self._given)

    def rest(self) -> Iterator[Call]:
        """Yield the calls that were never answered, in order."""
        waiting, self._waiting = self._waiting, {}
        yield from sorted(waiting.values(), key=lambda call: call.order)
