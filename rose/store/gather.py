"""Gathers the Markdown files below paths that a person names, for an import.

What lies there was made by others. No link is followed: what it leads to comes in by itself
where it is part of the folder, and nothing else may. Whatever stays out is counted or named.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rose.findings import Finding
from rose.store import setup, walk

if TYPE_CHECKING:
    from collections.abc import Callable

NO_MARKDOWN = "no Markdown"
LINK = "a link"
HIDDEN = "hidden"
PACKAGES = "a folder of packages"
READ = "read as lessons already"
# A file system takes 255, and a file that is being written has a longer name for a moment.
MOST_NAME_BYTES = 200
# Where agent programs keep what is worth reading; any other hidden folder is somebody's cache.
_KNOWN_HIDDEN = frozenset(
    path.split("/")[0] for path in setup.KNOWN_FOLDERS if path.startswith(".")
)


@dataclass(frozen=True, slots=True)
class Source:
    """One file: its full path, how findings call it, and its place below a lessons folder."""

    path: str
    shown: str
    place: str


@dataclass(slots=True)
class Gathered:
    """The files in order, how many things were left out and why, and what could not be read."""

    sources: list[Source] = field(default_factory=list)
    left: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)


def gather(path: str, shown: str, is_read: Callable[[str], bool], into: Gathered) -> None:
    """Add the Markdown files that a path names; `is_read` tells of a folder read already.

    `path` is resolved and exists. A file's place begins with the name of its folder.
    """
    if not os.path.isdir(path):
        folder, name = os.path.split(path)
        if is_read(folder) and walk.is_lesson_name(name):
            into.left[READ] += 1
        else:
            _take(path, shown, f"{os.path.basename(folder)}/{name}", into)
        return
    first = len(into.sources)
    waiting = [(path, shown.rstrip(os.sep) or os.sep, os.path.basename(path))]
    while waiting:
        folder, called, place = waiting.pop()
        if is_read(folder):
            into.left[READ] += 1
            continue
        for entry in _listed(folder, called, into):
            inner = (entry.path, os.path.join(called, entry.name), f"{place}/{entry.name}")
            if not _is_passed_over(entry, into) and _is_named(inner[1], entry.name, into):
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(inner)
                else:
                    _take(*inner, into)
    into.sources[first:] = sorted(into.sources[first:], key=lambda s: (s.place, s.path))


def _listed(folder: str, shown: str, into: Gathered) -> list[os.DirEntry[str]]:
    """Return what lies in a folder in order of name; one that cannot be listed is a finding."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        reason = f"The folder cannot be listed: {error.strerror or error}."
        finding = Finding("folder-unreadable", printable(shown), reason, "Make it readable.")
        into.findings.append(finding)
        return []


def printable(path: str) -> str:
    """Return a path as it can stand on one line."""
    return path if walk.is_safe_name(path) else path.encode("unicode_escape").decode("ascii")


def _is_passed_over(entry: os.DirEntry[str], into: Gathered) -> bool:
    """Tell whether an entry is none that is imported, and count it."""
    is_folder = entry.is_dir(follow_symlinks=False)
    if one_word(entry.name) in walk.SKIPPED:
        reason = PACKAGES
    elif entry.is_symlink():
        reason = LINK
    elif entry.name.startswith(".") and not (is_folder and entry.name in _KNOWN_HIDDEN):
        reason = HIDDEN
    elif not is_folder and not walk.is_lesson_name(entry.name):
        reason = NO_MARKDOWN
    else:
        return False
    into.left[reason] += 1
    return True


def _is_named(shown: str, name: str, into: Gathered) -> bool:
    """Tell whether a name can be a lesson's, and report it where it cannot."""
    if not walk.is_safe_name(name):
        reason = "The name holds control or undecodable characters."
    elif len(name.encode("utf-8")) > MOST_NAME_BYTES:
        reason = f"The name is longer than {MOST_NAME_BYTES} bytes."
    else:
        return True
    into.findings.append(Finding("lesson-name", printable(shown), reason, "Rename it."))
    return False


def _take(path: str, shown: str, place: str, into: Gathered) -> None:
    if path in into.seen:
        # Two of the paths that were named hold it.
        return
    into.seen.add(path)
    source = Source(path, printable(shown), _place(place))
    if not os.path.isfile(path):
        reason, repair = "It is no regular file.", "Move it elsewhere."
        into.findings.append(Finding("lesson-unreadable", source.shown, reason, repair))
    elif not walk.is_lesson_name(source.place):
        reason, repair = "It is no Markdown.", "Name a .md or .mdc file, or a folder."
        into.findings.append(Finding("no-markdown", source.shown, reason, repair))
    else:
        into.sources.append(source)


def one_word(name: str) -> str:
    """Return a name as a store reads it and a rule's target can hold it: shown, and one word."""
    return "-".join(name.split()).lstrip(".")


def _place(path: str) -> str:
    """Return a path below a lessons folder, each name in it as one word."""
    head, suffix = os.path.splitext(path)
    words = [one_word(part) for part in head.split("/")]
    return "/".join([word for word in words[:-1] if word] + [words[-1] or "lesson"]) + suffix
