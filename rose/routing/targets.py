"""Targets: the store paths and globs in a rule's `then`, and whether a lesson still answers to one.

A target is text that other people and models wrote, so it is matched lexically and looked up
only below the store's base: no `..`, no absolute path, no symbolic link that leads out.
"""

from __future__ import annotations

import functools
import os
import re
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Sequence

# Straight and curly quotes, and the backtick.
QUOTES = "\"'`\u2018\u2019\u201c\u201d"
# How many folder entries one look may cost before the target is given the benefit of the doubt.
LOOK_LIMIT = 5_000


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


def witness(base: str, target: str, ignored: Container[str] = ()) -> str | None:
    """Return the path of something that answers to a target; see `Look.witness`."""
    return Look(base, ignored).witness(target)


class Look:
    """One look at the lessons below a base; what was found is remembered for its length.

    `ignored` holds the store paths of lessons that count no longer.
    """

    def __init__(self, base: str, ignored: Container[str] = ()) -> None:
        self.root = os.path.realpath(base)
        self.ignored = ignored
        self.found: dict[str, str | None] = {}
        self.inside: dict[str, bool] = {}

    def witness(self, target: str) -> str | None:
        """Return the path of something that answers to a target, None where it has vanished.

        A folder counts while a Markdown file lies somewhere below it. Where the look would cost
        too much, the folder that was reached answers for the rest.
        """
        if target not in self.found:
            self.found[target] = self._witness(target) if is_inside(target) else None
        return self.found[target]

    def _witness(self, target: str) -> str | None:
        if is_glob(target):
            accept = pattern(target)
            return self._first(os.path.dirname(fixed_part(target)), accept)
        plain = target.rstrip("/")
        path = os.path.join(self.root, plain)
        try:
            mode = os.stat(path).st_mode
        except (OSError, ValueError):
            return None
        if stat.S_ISDIR(mode):
            return self._first(plain, lambda _: True)
        # A trailing slash says folder: a file of that name is not what was meant.
        counts = stat.S_ISREG(mode) and plain == target and target not in self.ignored
        return path if counts and self._is_inside(path) else None

    def _is_inside(self, path: str) -> bool:
        """Tell whether a file or folder really lies below the root."""
        if os.path.islink(path):
            return _is_below(os.path.realpath(path), self.root)
        folder = os.path.dirname(path)
        if folder not in self.inside:
            self.inside[folder] = _is_below(os.path.realpath(folder), self.root)
        return self.inside[folder]

    def _first(self, folder: str, accept: Callable[[str], bool]) -> str | None:
        """Return the first accepted Markdown file below a folder, nearest first, by name."""
        start = os.path.join(self.root, folder) if folder else self.root
        if not _is_below(os.path.realpath(start), self.root):
            return None
        for seen, (path, is_lesson) in enumerate(self._walk(folder), 1):
            if is_lesson and accept(path) and path not in self.ignored:
                return os.path.join(self.root, path)
            if seen >= LOOK_LIMIT:
                return start
        return None

    def _walk(self, folder: str) -> Iterator[tuple[str, bool]]:
        """Yield every entry below a folder with whether it is a Markdown file."""
        waiting = [folder]
        for at in waiting:
            try:
                with os.scandir(os.path.join(self.root, at)) as entries:
                    listed = sorted(entries, key=lambda entry: entry.name)
            except OSError:
                # A folder that cannot be listed holds nothing that an agent could read.
                continue
            for entry in listed:
                if entry.name.startswith("."):
                    continue
                path = f"{at}/{entry.name}" if at else entry.name
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(path)
                is_lesson = entry.name.endswith(".md") and entry.is_file()
                yield path, is_lesson and self._is_inside(entry.path)


def _is_below(real: str, root: str) -> bool:
    return real == root or real.startswith(root.rstrip("/") + "/")
