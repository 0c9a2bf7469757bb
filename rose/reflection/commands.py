"""Takes a shell command apart: its simple commands, each with its head and its arguments.

No shell is needed and none is imitated: what cannot be read as a shell would read it is split at
the usual signs, and nothing is ever run.
"""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MOST_CHARS = 20_000
_SIGNS = "();<>|&\n"
_HEREDOC = re.compile(
    r"(?<!<)<<(?!<)-?\s*(['\"]?)([A-Za-z_]\w*)\1([^\n]*)\n.*?(?:\n[ \t]*\2[ \t]*(?=\n|\)|$)|\Z)",
    re.DOTALL,
)
# Signs that mean nothing here: behind a backslash, or round a folder's name in a path. They are
# put aside as private characters, so that they split nothing.
_ASIDE = {sign: chr(0xE000 + number) for number, sign in enumerate(_SIGNS)}
_BACK = str.maketrans({aside: sign for sign, aside in _ASIDE.items()})
_ESCAPED = re.compile(r"\\([();<>|&])")
_FOLDER = re.compile(r"(?<=/)\(([\w.-]+)\)(?=/)")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_SPLIT = re.compile(r"[;&|\n()]+")
_KEYWORDS = frozenset(("if", "then", "elif", "else", "while", "until", "do", "{", "!", "time"))
_CLOSERS = frozenset(("fi", "done", "esac", "for", "case", "select", "function", "in", "}"))
# Programs that run the program named behind them, with those of their options that take a value.
_WRAPPERS: dict[str, tuple[str, ...]] = {
    "sudo": ("-u", "-g", "-C", "-h"),
    "env": ("-u", "-C", "-S"),
    "timeout": ("-k", "-s", "--signal", "--kill-after"),
    "nice": ("-n",),
    "ionice": ("-c", "-n"),
    "nohup": (),
    "stdbuf": ("-i", "-o", "-e"),
    "xargs": ("-n", "-I", "-P", "-L", "-d", "-a"),
    "command": (),
    "exec": (),
    "builtin": (),
    "npx": ("-p", "--package"),
    "bunx": (),
    "pipx": (),
}
_RUNNERS = frozenset(("uv", "poetry", "pdm", "hatch", "pipenv", "rye", "pipx", "pnpm", "bundle"))
_RUN_WORDS = frozenset(["run", "exec"])
_SHELLS = frozenset(("bash", "sh", "zsh", "dash", "ksh"))
_PYTHON = re.compile(r"(?:python|pypy)[0-9.]*")


@dataclass(frozen=True, slots=True)
class Simple:
    """One simple command without its assignments and wrappers, and the folder it runs in."""

    head: str
    arguments: tuple[str, ...]
    folder: str = ""


def simple_commands(command: str) -> Iterator[Simple]:
    """Yield the simple commands of a shell text, in order."""
    folder = ""
    for words in _segments(command[:MOST_CHARS]):
        for found in _unwrapped(words, 0):
            yield Simple(found.head, found.arguments, folder)
            if found.head in ("cd", "pushd") and found.arguments:
                folder = os.path.join(folder, found.arguments[-1])


def words_of(command: str) -> Iterator[tuple[str, str]]:
    """Yield each word of a shell text with the folder that it is relative to."""
    for simple in simple_commands(command):
        for word in simple.arguments:
            yield word, simple.folder


def _segments(command: str) -> list[list[str]]:
    """Return the words of each simple command, without redirections."""
    text = _HEREDOC.sub(lambda found: found[3] + "\n", command).replace("\\\n", " ")
    text = _ESCAPED.sub(lambda found: _ASIDE[found[1]], text)
    text = _FOLDER.sub(lambda found: f"{_ASIDE['(']}{found[1]}{_ASIDE[')']}", text)
    lexer = shlex.shlex(text, posix=True, punctuation_chars=_SIGNS)
    lexer.whitespace = " \t\r"
    lexer.commenters = ""
    lexer.whitespace_split = True
    segments: list[list[str]] = [[]]
    redirected = False
    try:
        for token in lexer:
            if token and all(char in _SIGNS for char in token):
                redirected = "<" in token or ">" in token
                if not redirected:
                    segments.append([])
                elif segments[-1] and segments[-1][-1].isdigit():
                    segments[-1].pop()
            elif redirected:
                redirected = False
            else:
                segments[-1].append(token.translate(_BACK))
    except ValueError:
        # An unclosed quote: the shell would have refused it, or the host cut it.
        return [part.translate(_BACK).split() for part in _SPLIT.split(text) if part.strip()]
    return [segment for segment in segments if segment]


def _unwrapped(words: Sequence[str], depth: int) -> Iterator[Simple]:
    """Yield the command behind assignments, keywords and wrapping programs."""
    at = 0
    while at < len(words) and (words[at] in _KEYWORDS or _ASSIGNMENT.match(words[at])):
        at += 1
    if at == len(words) or words[at] in _CLOSERS or words[at].startswith("#") or depth > 8:  # noqa: PLR2004 - wrappers in wrappers
        return
    head, rest = os.path.basename(words[at]), words[at + 1 :]
    inner = _inner(head, rest)
    if inner is not None:
        yield from _unwrapped(inner, depth + 1)
    elif head in _SHELLS and len(rest) > 1 and re.fullmatch(r"-\w*c", rest[0]):
        for segment in _segments(rest[1]):
            yield from _unwrapped(segment, depth + 1)
    elif head:
        yield Simple("python" if _PYTHON.fullmatch(head) else head, tuple(rest))


def _inner(head: str, rest: Sequence[str]) -> Sequence[str] | None:
    """Return the words of the command that a program was told to run, None where it runs none."""
    if head in _RUNNERS and rest and rest[0] in _RUN_WORDS:
        return _after_options(rest[1:], ("--with", "--python", "--group", "--extra", "-p"))
    if _PYTHON.fullmatch(head) and "-m" in rest[:4]:
        module = rest[rest.index("-m") + 1 :]
        return module or None
    if head not in _WRAPPERS or (head == "pipx" and not rest):
        return None
    inner = _after_options(rest, _WRAPPERS[head])
    if head == "timeout":
        return inner[1:]
    return inner if inner or head in ("sudo", "env", "xargs") else None


def _after_options(words: Sequence[str], valued: Sequence[str]) -> Sequence[str]:
    at = 0
    while at < len(words) and words[at].startswith("-"):
        if words[at] == "--":
            return words[at + 1 :]
        at += 2 if words[at] in valued else 1
    return words[at:]
