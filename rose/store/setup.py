"""Sets a store up: makes what is missing, never touches what is there, finds lessons to adopt."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rose import config, files
from rose.errors import RoseError, Unwritable
from rose.findings import Finding
from rose.store import walk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rose.config import Settings
    from rose.layout import Store

IGNORED = ("index.md", "local/", "*.tmp")
UNION_LINE = "ledger/*.jsonl merge=union"
# Where agent programs and projects keep knowledge as Markdown.
KNOWN_FOLDERS = (
    ".claude/skills",
    ".agents/skills",
    ".codex/skills",
    ".cursor/rules",
    ".windsurf/rules",
    ".clinerules",
    ".github/instructions",
    "docs",
    "doc",
)


@dataclass(frozen=True, slots=True)
class Made:
    """What `init` made and what was there before, as paths below the store's base."""

    made: tuple[str, ...]
    present: tuple[str, ...]
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder with lessons in it."""

    path: str
    lessons: int
    is_read: bool


def init(store: Store, settings: Settings) -> Made:
    """Make a store where none is, or what is missing of it; raises Unwritable."""
    if os.path.lexists(store.dot) and not os.path.isdir(store.dot):
        raise Unwritable(f"{store.dot} is in the way: it is no folder. Move it elsewhere.")
    wanted: list[tuple[str, str | None]] = [(store.dot, None), (store.routing, None)]
    lines: dict[str, tuple[str, ...]] = {os.path.join(store.dot, ".gitignore"): IGNORED}
    if settings.ledger_share == "commit":
        lines[os.path.join(store.dot, ".gitattributes")] = (UNION_LINE,)
    wanted += [(path, "".join(line + "\n" for line in text)) for path, text in lines.items()]
    if not any(os.path.lexists(os.path.join(store.base, p)) for p in settings.lessons_paths):
        wanted.append((os.path.join(store.base, settings.lessons_paths[0]), None))
    made: list[str] = []
    present: list[str] = []
    for path, text in wanted:
        name = os.path.relpath(path, store.base) + ("/" if text is None else "")
        name = ".rose/" if store.kind == "home" and name == "./" else name
        (made if _make(path, text) else present).append(name)
    return Made(tuple(made), tuple(present), tuple(_lacking(store, lines)))


def _make(path: str, text: str | None) -> bool:
    """Make a folder, or a file with a text; False where something is there already."""
    if os.path.lexists(path):
        return False
    if text is not None:
        files.replace(path, text)
        return True
    try:
        os.makedirs(path)
    except OSError as error:
        raise Unwritable(f"{path}: not made: {error.strerror or error}.") from error
    return True


def _lacking(store: Store, wanted: dict[str, tuple[str, ...]]) -> list[Finding]:
    """Report the lines that an existing file lacks; it is a person's, so it is left alone."""
    findings = []
    for path, lines in wanted.items():
        try:
            there = files.read_text(path).split()
        except (OSError, ValueError):
            there = []
        missing = [line for line in lines if not set(line.split()) <= set(there)]
        if missing:
            message = f"It lacks: {', '.join(missing)}."
            repair = "Add each as a line of its own."
            place = walk.where(store, os.path.relpath(path, store.base))
            findings.append(Finding("init-line", place, message, repair, severity="warning"))
    return findings


def folders(store: Store, settings: Settings) -> list[Folder]:
    """Return the folders that hold lessons: those that are read, then those that could be."""
    found = [_count(store, path, is_read=True) for path in settings.lessons_paths]
    if store.kind == "project":
        others = (_count(store, path, is_read=False) for path in KNOWN_FOLDERS)
        is_new = {folder.path for folder in found}
        found += [folder for folder in others if folder.path not in is_new and folder.lessons]
    return found


def _count(store: Store, path: str, *, is_read: bool) -> Folder:
    lessons = 0
    if os.path.isdir(os.path.join(store.base, path)):
        lessons = len(walk.walk(store, [path])[0])
    return Folder(path, lessons, is_read)


def adopt(store: Store, settings: Settings, paths: Sequence[str]) -> tuple[str, ...]:
    """Add folders to `lessons.paths`, in place, and return the whole list."""
    everything = tuple(dict.fromkeys([*settings.lessons_paths, *paths]))
    if any("," in path for path in everything):
        raise RoseError("A folder with a comma in its name: add it to .rose/config.yaml by hand.")
    config.set_value(store, "lessons.paths", ",".join(everything))
    return everything
