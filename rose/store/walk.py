"""Walks the lesson folders of a store: which Markdown files are lessons, which links are refused.

A link is followed as long as it stays below the store's base, so that a cloned repository cannot
have a file of the machine read as a lesson. Each folder is entered once, so loops of links end.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rose import files
from rose.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rose.findings import Severity
    from rose.layout import Store

DEFAULT_ROOT = "nodes"
# An editor rule is Markdown under a header like any other lesson's (docs/decisions/025).
SUFFIXES = (".md", ".mdc")
SKIPPED = frozenset(["node_modules", "__pycache__"])
# Of a home store, whose own folder is also the base of its lessons.
OWN_FOLDERS = ("routing", "local", "ledger", "rejections")
# Line breaks, control and bidi characters: such a name could not stand on a line of the index.
_FORBIDDEN = frozenset(
    [chr(n) for n in (*range(32), *range(0x7F, 0xA0))]
    + [chr(n) for n in (0x61C, 0x200E, 0x200F, 0x2028, 0x2029)]
    + [chr(n) for n in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))]
)


@dataclass(frozen=True, slots=True)
class Found:
    """One lesson file: its path below the base, the root it lies in, its stamp."""

    path: str
    root: str
    stamp: list[int]


def walk(store: Store, roots: Sequence[str]) -> tuple[list[Found], list[Finding]]:
    """Return the lesson files, root by root and each in order of path, and what was refused."""
    walker = _Walker(store)
    found: list[Found] = []
    for root in roots:
        walker.found = []
        walker.enter_root(root)
        # Without the suffix, so that `title` stands before `title-2`.
        found += sorted(walker.found, key=lambda file: (stem(file.path), file.path))
    return found, sorted(walker.findings, key=lambda finding: finding.where)


def is_lesson_name(name: str) -> bool:
    """Tell whether a file of this name is read as a lesson."""
    return name.lower().endswith(SUFFIXES)


def stem(path: str) -> str:
    """Return a lesson's path without its suffix."""
    return os.path.splitext(path)[0]


def where(store: Store, path: str) -> str:
    """Return how a file is called in a finding: short in a project, whole at home."""
    return path if store.kind == "project" else os.path.join(store.base, path)


def is_safe_name(name: str) -> bool:
    """Tell whether a path or an id can stand on a line of text."""
    return _FORBIDDEN.isdisjoint(name) and _is_text(name)


def _is_text(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


class Bounds:
    """What lies in a store's project, and not among what rose itself keeps there."""

    def __init__(self, store: Store) -> None:
        self.top = os.path.realpath(store.base)
        own = [store.dot]
        if store.kind == "home":
            own = [os.path.join(store.dot, name) for name in OWN_FOLDERS]
        self.own = [os.path.realpath(path) for path in own]

    def hold(self, path: str) -> bool:
        """Tell whether a path, its links followed, may be a lesson's."""
        real = os.path.join(os.path.realpath(path), "")
        return files.is_below(real, self.top) and not any(files.is_below(real, f) for f in self.own)


class _Walker:
    def __init__(self, store: Store) -> None:
        self.store = store
        self.bounds = Bounds(store)
        self.seen: set[tuple[int, int]] = set()
        self.found: list[Found] = []
        self.findings: list[Finding] = []

    def enter_root(self, root: str) -> None:
        path = os.path.join(self.store.base, root)
        if not os.path.lexists(path):
            if root != DEFAULT_ROOT:
                repair = "Make the folder or change `lessons.paths`."
                self._report("lessons-path", root, "There is no such folder.", repair, "warning")
        elif not self.bounds.hold(path):
            repair = "Name a folder of the project itself."
            reason = "It lies outside the project or in rose's own folder, so it is not read."
            self._report("lessons-path", root, reason, repair)
        elif not os.path.isdir(path):
            self._report("lessons-path", root, "It is no folder.", "Change `lessons.paths`.")
        else:
            self._enter(root, root)

    def _enter(self, top: str, root: str) -> None:
        waiting = [top]
        while waiting:
            folder = waiting.pop()
            full = os.path.join(self.store.base, folder)
            try:
                status = os.stat(full)
                if (status.st_dev, status.st_ino) in self.seen:
                    continue
                self.seen.add((status.st_dev, status.st_ino))
                with os.scandir(full) as entries:
                    waiting += [
                        path for entry in entries if (path := self._see(entry, folder, root))
                    ]
            except OSError as error:
                reason = f"The folder cannot be listed: {error.strerror or error}."
                self._report("folder-unreadable", folder, reason, "Make it readable.")

    def _see(self, entry: os.DirEntry[str], folder: str, root: str) -> str | None:
        """Take a lesson in, or return the path of a folder to enter."""
        name = entry.name
        is_lesson = is_lesson_name(name)
        if name.startswith(".") or name in SKIPPED:
            return None
        path = f"{folder}/{name}"
        # `entry.is_dir()` raises for a loop of links, which would cost the whole folder.
        is_folder = os.path.isdir(entry.path) if entry.is_symlink() else entry.is_dir()
        if not is_folder and not is_lesson:
            return None
        if not is_safe_name(name):
            shown = path.encode("unicode_escape").decode("ascii")
            reason = "The name holds control or undecodable characters, so it is not read."
            self._report("lesson-name", shown, reason, "Rename it.")
            return None
        if entry.is_symlink() and not self._is_followed(entry, path, is_folder=is_folder):
            return None
        if is_folder:
            if is_lesson:
                reason = "It is a folder that is named like a lesson."
                self._report("folder-named-md", path, reason, "Rename the folder.", "warning")
            return path
        self._take(entry, path, root)
        return None

    def _take(self, entry: os.DirEntry[str], path: str, root: str) -> None:
        if not entry.is_file():
            self._report("lesson-unreadable", path, "It is no regular file.", "Move it elsewhere.")
            return
        try:
            status = entry.stat()
        except OSError as error:
            reason = f"The file cannot be read: {error.strerror or error}."
            self._report("lesson-unreadable", path, reason, "Make it readable.")
            return
        stamp = [status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino]
        self.found.append(Found(path, root, stamp))

    def _is_followed(self, entry: os.DirEntry[str], path: str, *, is_folder: bool) -> bool:
        if not os.path.exists(entry.path):
            reason, repair = "The link leads nowhere.", "Mend or delete the link."
        elif not self.bounds.hold(entry.path):
            reason = "The link leads out of the project or to rose's own files: it is not read."
            repair = "Move the file into the project."
        elif not is_folder and not is_lesson_name(os.path.realpath(entry.path)):
            reason, repair = "The link leads to a file that is no Markdown.", "Delete the link."
        else:
            return True
        self._report("lesson-link", path, reason, repair, "warning")
        return False

    def _report(
        self, rule: str, path: str, message: str, repair: str, severity: Severity = "error"
    ) -> None:
        self.findings.append(Finding(rule, where(self.store, path), message, repair, severity))
