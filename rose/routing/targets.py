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


def overlap(one: str, other: str) -> bool:
    """Tell whether two targets may name a lesson in common, as far as their text shows it."""
    if one.rstrip("/") == other.rstrip("/"):
        return True
    plain_one, plain_other = fixed_part(one), fixed_part(other)
    if is_glob(one) and is_glob(other):
        return plain_one.startswith(plain_other) or plain_other.startswith(plain_one)
    if is_glob(one) or is_glob(other):
        glob, plain = (one, other) if is_glob(one) else (other, one)
        return matches(glob, plain) or fixed_part(glob).startswith(plain.rstrip("/") + "/")
    return matches(one, other) or matches(other, one)


def fixed_part(target: str) -> str:
    """Return what stands before the first sign of a glob."""
    return re.split(r"[*?]", target, maxsplit=1)[0]


@functools.lru_cache(maxsize=4096)
def pattern(target: str) -> Callable[[str], bool]:
    """Return the test of a glob: `*` and `?` stay within one name, `**` crosses folders."""
    # A run of stars is one: the expression would otherwise try every split of a long name.
    shape = re.sub(r"\*{3,}", "**", target + "**" if target.endswith("/") else target)
    shape = re.sub(r"(\*\*/)+", "**/", shape)
    parts = []
    for piece in re.findall(r"\*\*/|\*\*|\*|\?|[^*?]+", shape):
        special = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
        parts.append(special.get(piece) or re.escape(piece))
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
