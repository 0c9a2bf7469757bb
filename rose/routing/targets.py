"""Targets: the store paths and globs in a rule's `then`, and whether a lesson still answers to one.

A target is text that other people and models wrote, so it is matched lexically, against the
lessons that the store knows: no `..`, no absolute path.
"""

from __future__ import annotations

import bisect
import functools
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

# Straight and curly quotes, and the backtick.
QUOTES = "\"'`\u2018\u2019\u201c\u201d"
WILD = ("*", "**", "?")
OPTION = "|?"
# Of two targets that somebody made this long, only the beginnings are compared.
MOST_PAIRS = 250_000


def targets_of(then: str, roots: Sequence[str]) -> tuple[str, ...]:
    """Return the targets in a `then`, in order and each once."""
    found = (strip(token) for token in then.split())
    return tuple(dict.fromkeys(path for path in found if is_target(path, roots)))


def strip(token: str) -> str:
    """Return a token of a `then` without the quotes and the punctuation around it."""
    core = token.lstrip(QUOTES + "(").rstrip(QUOTES + ".,;:)")
    return core.removeprefix("./")


def is_target(path: str, roots: Sequence[str]) -> bool:
    """Tell whether a path lies under one of the lessons roots."""
    return is_inside(path) and any(
        path.rstrip("/") == root or path.startswith(root + "/") for root in roots
    )


def is_inside(path: str) -> bool:
    """Tell whether a path, read as text, stays below the store's base."""
    if not path or path.startswith("/") or "\\" in path or "\0" in path:
        return False
    return ".." not in path.split("/")


def is_glob(target: str) -> bool:
    return "*" in target or "?" in target


def matches(target: str, store_path: str) -> bool:
    """Tell whether a lesson's store path is the target, below it, or matched by its glob."""
    if is_glob(target):
        return pattern(target)(store_path)
    return store_path == target or store_path.startswith(target.rstrip("/") + "/")


def lead_to(targets: Iterable[str], store_path: str) -> bool:
    """Tell whether any of some targets matches a lesson's store path."""
    return any(matches(target, store_path) for target in targets)


def holds(wide: str, narrow: str) -> bool:
    """Tell whether one target leads wherever another leads, as far as their text shows it."""
    return wide.rstrip("/") == narrow.rstrip("/") or (not is_glob(narrow) and matches(wide, narrow))


def overlap(one: str, other: str) -> bool:
    """Tell whether some path is matched by both of two targets.

    The two are read side by side, a character at a time, in all ways in which both can be read.
    """
    first, second = _steps(one), _steps(other)
    if len(first) * len(second) > MOST_PAIRS:
        starts = fixed_part(one), fixed_part(other)
        return starts[0].startswith(starts[1]) or starts[1].startswith(starts[0])
    waiting = [(0, 0)]
    seen = set(waiting)
    while waiting:
        at, beside = waiting.pop()
        if (at, beside) == (len(first), len(second)):
            return True
        reached = [(skipped, beside) for skipped in _skips(first, at)]
        reached += [(at, skipped) for skipped in _skips(second, beside)]
        if at < len(first) and beside < len(second) and _share(first[at], second[beside]):
            reached.append((_after(first, at), _after(second, beside)))
        waiting += [pair for pair in reached if pair not in seen]
        seen.update(reached)
    return False


def _steps(target: str) -> list[str]:
    """Return a target as single characters and signs; OPTION says that the next two may miss."""
    if not is_glob(target):
        if target.endswith("/"):
            return [*target.rstrip("/"), "/", "**"]
        # What is named like a lesson is taken for no folder.
        below = [] if target.endswith(".md") else [OPTION, "/", "**"]
        return [*target, *below]
    steps: list[str] = []
    for piece in _pieces(target):
        if piece == "**/":
            steps += [OPTION, "**", "/"]
        else:
            steps += [piece] if piece in WILD else piece
    return steps


def _skips(steps: Sequence[str], at: int) -> tuple[int, ...]:
    """Return the places that are reached from one without reading a character."""
    step = steps[at] if at < len(steps) else ""
    if step == OPTION:
        return at + 1, at + 3
    return (at + 1,) if step in ("*", "**") else ()


def _after(steps: Sequence[str], at: int) -> int:
    return at if steps[at] in ("*", "**") else at + 1


def _share(one: str, other: str) -> bool:
    """Tell whether some character is read by both of two steps."""
    if OPTION in (one, other):
        return False
    if one in WILD and other in WILD:
        return True
    if one in WILD or other in WILD:
        sign, char = (one, other) if one in WILD else (other, one)
        return sign == "**" or char != "/"
    return one == other


def _pieces(target: str) -> list[str]:
    """Return the signs of a glob and the texts between them.

    A run of stars is one: reading would otherwise try every split of a long name.
    """
    shape = re.sub(r"\*{3,}", "**", target + "**" if target.endswith("/") else target)
    shape = re.sub(r"(\*\*/)+", "**/", shape)
    return re.findall(r"\*\*/|\*\*|\*|\?|[^*?]+", shape)


def fixed_part(target: str) -> str:
    """Return what stands before the first sign of a glob."""
    return re.split(r"[*?]", target, maxsplit=1)[0]


@functools.lru_cache(maxsize=4096)
def pattern(target: str) -> Callable[[str], bool]:
    """Return the test of a glob: `*` and `?` stay within one name, `**` crosses folders."""
    special = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    parts = [special.get(piece) or re.escape(piece) for piece in _pieces(target)]
    expression = re.compile("".join(parts), re.DOTALL)
    return lambda path: expression.fullmatch(path) is not None


def first_match(target: str, paths: Sequence[str]) -> str | None:
    """Return the first of some sorted store paths that a target matches, None where it has none.

    Only the paths that begin like the target are looked at.
    """
    start = fixed_part(target)
    if not is_glob(target):
        at = bisect.bisect_left(paths, target)
        if at < len(paths) and paths[at] == target:
            return target
        start = target.rstrip("/") + "/"
    for at in range(bisect.bisect_left(paths, start), len(paths)):
        path = paths[at]
        if not path.startswith(start):
            return None
        if matches(target, path):
            return path
    return None
