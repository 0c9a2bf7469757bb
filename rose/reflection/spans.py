"""The distinctive spans of a lesson: what shows in a later call that the lesson was used.

Commands, flags, paths, identifiers, error codes and addresses; never a plain word, and never the
lesson's own path. Prose counts only where a token's form leaves no doubt.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rose import text as texts

if TYPE_CHECKING:
    from collections.abc import Iterator

MIN_CHARS = 4
MOST_CHARS = 200
MOST_SPANS = 400
_MOST_BODY_CHARS = 200_000

_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_INLINE = re.compile(
    r"(?<!`)`([^`]{1,300})`(?!`)|(?<!`)``(?!`)([^\n]{1,300}?)(?<!`)``(?!`)", re.DOTALL
)
_PROMPT = re.compile(r"^(?:[$>#%]|>>>|\.\.\.)\s+")
_TRIM = "\"'`“”\u2018\u2019()[]{}<>,;:!?*"
_ASSIGNMENT = re.compile(r"(?P<name>--?[A-Za-z][\w-]*|[A-Za-z_][\w.]*)[=:](?P<value>[^=\s].*)")
_ASSIGNED = re.compile(r"(?:--?[A-Za-z][\w-]+|[A-Za-z_][\w.]+)=[^=\s].+")
_FLAG = re.compile(r"--[A-Za-z][\w-]{1,}")
_CONSTANT = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
_SNAKE = re.compile(r"_*[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+_*")
_CAMEL = re.compile(r"[A-Za-z]*[a-z0-9][A-Z][A-Za-z0-9]*|[A-Z]{2,}[a-z][A-Za-z0-9]*[a-z0-9]")
_DOTTED = re.compile(r"[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)+(?:\(\))?")
_HYPHENED = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)+")
_CODE = re.compile(r"[A-Z]{1,6}-?[0-9]{2,6}")
_STATUS = re.compile(
    r"\b(?:HTTP [1-5][0-9]{2}|(?:exit|status|error|errno) (?:code |status )?[0-9]{2,5})\b",
    re.IGNORECASE,
)
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s]{3,}")
_PATH = re.compile(r"(?:~|\.{1,2})?/?[\w.@*+-]+(?:/[\w.@*+-]+)+/?")
_PROSE_PATH = re.compile(
    r"(?:~|\.{1,2}|/[\w.@-]+)/[\w.@-]+(?:/[\w.@-]+)*/?|(?:[\w.@-]+/)+[\w@-]*\.\w{1,5}"
)
_HOLE = re.compile(r"<[^<>\s]+>|\.\.\.|…|\{\{|\$\{|XXX")

# Words and names that any session may use without having read a lesson.
_COMMON_WORDS = (
    "--help --version --verbose --quiet --force --all --no --yes --debug --json README.md "
    "CHANGELOG.md LICENSE.md CLAUDE.md AGENTS.md package.json package-lock.json pyproject.toml "
    "setup.py setup.cfg requirements.txt Cargo.toml Cargo.lock go.mod go.sum tsconfig.json "
    "index.js index.ts main.py main.go main.rs __init__ __main__ __name__ __init__.py "
    "__main__.py .gitignore SKILL.md docker-compose.yml Node.js node.js /dev/null /dev/stdin "
    "/dev/stdout /dev/stderr /usr/bin/env /bin/bash /bin/sh and/or either/or e.g i.e etc. "
    "read-only built-in UTF-8 utf-8 non-zero stdin/stdout true/false"
)
_COMMON = frozenset(_COMMON_WORDS.split())
_COMMON_VERBS = {
    "git": "add commit status diff log push pull checkout fetch show stash",
    "npm": "install test ci start",
    "npm run": "build test lint",
    "cargo": "build test check run fmt clippy",
    "go": "build test run vet",
    "make": "test build install clean all",
    "pip": "install",
    "yarn": "install",
    "docker": "build run",
    "git add": ". -A",
}
_COMMON_COMMANDS = frozenset(
    f"{program} {verb}" for program, verbs in _COMMON_VERBS.items() for verb in verbs.split()
)


def spans(body: str, path: str) -> tuple[str, ...]:
    """Return the distinctive spans of a lesson's body, each once, in order."""
    own = texts.normalise(path)
    found: dict[str, None] = {}
    for span in _spans(body[:_MOST_BODY_CHARS]):
        if MIN_CHARS <= len(span) <= MOST_CHARS and not _is_own(span, own) and span not in _COMMON:
            found[span] = None
        if len(found) >= MOST_SPANS:
            break
    return tuple(found)


def _spans(body: str) -> Iterator[str]:
    fenced, prose = _parted(body)
    for line in fenced:
        yield from _of_code(_PROMPT.sub("", line.strip()))
    for inline in _INLINE.finditer(prose):
        yield from _of_code(inline[1] or inline[2])
    for status in _STATUS.finditer(body):
        yield texts.normalise(status[0])
    for token in _INLINE.sub(" ", prose).split():
        yield from _of_prose(token)


def _parted(body: str) -> tuple[list[str], str]:
    """Return the lines inside code fences, and the text outside them."""
    fenced: list[str] = []
    prose: list[str] = []
    mark = ""
    for line in body.split("\n"):
        fence = _FENCE.match(line)
        if mark:
            is_end = fence is not None and fence[1].startswith(mark)
            mark = "" if is_end else mark
            if not is_end:
                fenced.append(line)
        elif fence is not None and "`" not in line[fence.end() :]:
            mark = fence[1]
        else:
            prose.append(line)
    return fenced, "\n".join(prose)


def _of_code(code: str) -> Iterator[str]:
    """Yield a piece of code whole, where it is a command or an expression, and its tokens."""
    whole = texts.normalise(code)
    if not whole or whole.startswith(("#", "//")):
        return
    words = whole.split(" ")
    if len(words) > 1 and whole not in _COMMON_COMMANDS and not _HOLE.search(whole):
        yield whole
    for word in words:
        yield from _token(word)


def _bare(word: str) -> str:
    """Return a word without the punctuation around it; empty where it is too long for a span."""
    if len(word) > MOST_CHARS:
        return ""
    return word if _URL.fullmatch(word) else word.strip(_TRIM).rstrip(".")


def _token(word: str) -> Iterator[str]:
    """Yield a token of code and the parts of it that have a form of their own."""
    token = _bare(word)
    if not token or _HOLE.search(word) or token.count('"') % 2:
        return
    if _has_form(token):
        yield token
    for part in _parts(token):
        if part != token and _has_form(part):
            yield part


def _parts(token: str) -> Iterator[str]:
    """Yield the name and the value of an assignment, or the names in a call."""
    assignment = None if _URL.fullmatch(token) else _ASSIGNMENT.fullmatch(token)
    if assignment:
        yield assignment["name"]
        yield assignment["value"].strip(_TRIM)
    elif "(" in token:
        yield from re.split(r"[()\[\],]", token)


def _has_form(token: str) -> bool:
    if _ASSIGNED.fullmatch(token) and not _URL.match(token):
        return True
    if _URL.fullmatch(token) or _FLAG.fullmatch(token) or _CODE.fullmatch(token):
        return True
    if _PATH.fullmatch(token):
        return len(token.strip("/~.").split("/")) > 1 or token.startswith("~/")
    return any(
        form.fullmatch(token) for form in (_CONSTANT, _SNAKE, _CAMEL, _DOTTED, _HYPHENED)
    ) and any(len(part) > 2 for part in re.split(r"[._-]", token))  # noqa: PLR2004 - `e.g`, `x-y`


def _of_prose(word: str) -> Iterator[str]:
    token = _bare(word)
    strong = (_URL, _FLAG, _CONSTANT, _PROSE_PATH)
    if any(form.fullmatch(token) for form in strong):
        yield token.rstrip(_TRIM + ".")
    elif _CODE.fullmatch(token) or (_SNAKE.fullmatch(token) and token.count("_") > 0):
        yield token


def _is_own(span: str, path: str) -> bool:
    """Tell whether a span is the lesson's own path, its name, or the folder it lies in."""
    bare = span.removeprefix("./").rstrip("/")
    inside = path == bare or path.endswith("/" + bare) or path.startswith(bare + "/")
    return inside or bare.endswith("/" + path)
