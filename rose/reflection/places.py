"""Resolves the paths that a session names to paths below one store's base.

A session may run in a subfolder, in a git worktree, or below a symbolic link to the project, so a
path counts by its relative form too. Nothing is looked up on disk: the files may be gone.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rose.layout import Store

_WORKTREES = ("worktrees", ".worktrees")
_MOST_PATH_CHARS = 1000

Known = TypeVar("Known")


class Places:
    """The places that stand for one store's base in one session."""

    def __init__(self, store: Store, cwd: str) -> None:
        self.base = store.base.rstrip("/")
        self.cwd = cwd if os.path.isabs(cwd) else self.base
        self.is_project = store.kind == "project"
        self.home = os.path.dirname(self.base) if os.path.basename(self.base) == ".rose" else ""
        self.twins = _twins(self.base, os.path.normpath(self.cwd)) if self.is_project else ()

    def find(self, named: str, cwd: str, known: Mapping[str, Known]) -> Known | None:
        """Return what is known under the store path that a named path stands for."""
        for path in self.paths(named, cwd):
            if path in known:
                return known[path]
        return None

    def inside(self, named: str, cwd: str) -> str | None:
        """Return the store path that a named path most likely stands for, None outside."""
        absolute = self._absolute(named, cwd)
        if absolute is None:
            return None
        for root in (*self.twins[:1], self.base):
            path = _below(absolute, root)
            if path is not None:
                return path
        return None

    def paths(self, named: str, cwd: str) -> Iterator[str]:
        """Yield the store paths that a named path may stand for, the likeliest first."""
        absolute = self._absolute(named, cwd)
        if absolute is None:
            return
        for root in (self.base, *self.twins):
            path = _below(absolute, root)
            if path is not None:
                yield path
        if self.is_project and not named.startswith(("/", "~")):
            plain = os.path.normpath(named)
            if not plain.startswith(".."):
                yield plain

    def _absolute(self, named: str, cwd: str) -> str | None:
        if not named or len(named) > _MOST_PATH_CHARS or "\0" in named:
            return None
        if named.startswith("~/"):
            return os.path.normpath(self.home + named[1:]) if self.home else None
        start = os.path.join(self.cwd, cwd) if cwd else self.cwd
        return os.path.normpath(os.path.join(start, named))


def _below(path: str, root: str) -> str | None:
    if path == root:
        return ""
    return path[len(root) + 1 :] if path.startswith(root + "/") else None


def _twins(base: str, cwd: str) -> tuple[str, ...]:
    """Return the folders outside or inside the base that may be checkouts of the same project."""
    inner = _below(cwd, base)
    if inner is None:
        return tuple(_upward(cwd))
    parts = inner.split("/")
    for at, part in enumerate(parts[:-1]):
        if part in _WORKTREES:
            return (f"{base}/{'/'.join(parts[: at + 2])}",)
    return ()


def _upward(folder: str) -> Iterator[str]:
    while folder != os.path.dirname(folder):
        yield folder
        folder = os.path.dirname(folder)
