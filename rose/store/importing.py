"""Imports lessons that lie elsewhere, copied byte for byte.

A copy lies below the first lessons folder, under the name of the folder it came from. What is
there already with the same bytes stays, and what is there with others is never written over, so
a second run changes nothing (docs/decisions/025). Only a secret makes a copy differ.
"""

from __future__ import annotations

import contextlib
import os
import unicodedata
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rose import files, redact
from rose.errors import Unwritable
from rose.findings import Finding, Refused
from rose.store import gather, walk, write

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rose.config import Settings
    from rose.layout import Store
    from rose.redact import Secret
    from rose.store.gather import Source

MOST_BYTES = write.MAX_CHARS
# Stands for what is no file that can be read; no lesson holds it, so it equals none.
_NO_TEXT = b"\0"
LINE_FEED = b"\n"
AT_ONCE = 64
WRITERS = 8


@dataclass(frozen=True, slots=True)
class Entry:
    """One file that came in: where its text lies, its store path, and whether it is new there."""

    source: str
    path: str
    is_new: bool
    secrets: int = 0


@dataclass(slots=True)
class Imported:
    """What came in, the folders added to `lessons.paths`, what stayed out and what is wrong."""

    entries: list[Entry] = field(default_factory=list)
    folders: tuple[str, ...] = ()
    left: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)


def copy(
    store: Store, settings: Settings, paths: Sequence[str], *, dry_run: bool = False
) -> Imported:
    """Copy the Markdown files that some paths name; raises Refused where a path cannot be used.

    Each file comes in whole or not at all, and one that does not is a finding. `dry_run` writes
    nothing.
    """
    copier = _Copier(store, settings, dry_run=dry_run)
    wanted = {os.path.realpath(path): path for path in paths}
    faults = [fault for real, named in wanted.items() for fault in _faults(named, real)]
    faults += copier.faults()
    if faults:
        raise Refused(faults)
    found = gather.Gathered()
    for real, named in wanted.items():
        gather.gather(real, named, copier.is_read, found)
    done = Imported(left=found.left, findings=found.findings)
    for start in range(0, len(found.sources), AT_ONCE):
        # What the disk refuses now it refuses again; what is in stays in, and a second run goes on.
        if not copier.bring(found.sources[start : start + AT_ONCE], done):
            break
    return done


def _faults(named: str, real: str) -> Iterator[Finding]:
    place = gather.printable(named)
    name = os.path.basename(real if os.path.isdir(real) else os.path.dirname(real))
    if not os.path.exists(real):
        yield Finding("import-path", place, "There is nothing there.", "Name a file or a folder.")
    elif not walk.is_safe_name(name) or gather.one_word(name) in walk.SKIPPED:
        reason = "A folder of this name is never read as lessons."
        yield Finding("import-path", place, reason, "Rename it, or name a folder in it.")


@dataclass(frozen=True, slots=True)
class _Piece:
    """A file as it is written: its bytes, and a finding for each secret that was taken out."""

    source: Source
    raw: bytes
    findings: tuple[Finding, ...]


class _Copier:
    """Copies one file after the other; knows which places this run has filled."""

    def __init__(self, store: Store, settings: Settings, *, dry_run: bool) -> None:
        self.store = store
        self.root = settings.lessons_paths[0]
        self.dry_run = dry_run
        self.bounds = walk.Bounds(store)
        roots = [os.path.join(store.base, root) for root in settings.lessons_paths]
        self.read = [*map(os.path.realpath, roots), *self.bounds.own]
        self.filled: set[str] = set()

    def faults(self) -> list[Finding]:
        """Return why nothing can be written to the lessons folder at all."""
        if self.bounds.hold(os.path.join(self.store.base, self.root)):
            return []
        reason = "It lies outside the project or in rose's own folder."
        place = walk.where(self.store, self.root)
        return [Finding("lessons-path", place, reason, "Change `lessons.paths`.")]

    def is_read(self, folder: str) -> bool:
        """Tell whether a folder holds lessons of the store already, or what rose keeps."""
        return any(folder == own or files.is_below(folder, own) for own in self.read)

    def bring(self, sources: Sequence[Source], done: Imported) -> bool:
        """Bring files in, or say why not; False where the disk refused one."""
        pieces = [piece for source in sources if (piece := _read(source, done)) is not None]
        with contextlib.nullcontext() if self.dry_run else files.lock(self.store.lock):
            placed = [(piece, *self._settle(piece)) for piece in pieces]
            wanted = [(path, piece.raw) for piece, path, is_new in placed if is_new]
            # A write waits for the disk, and several wait no longer than one
            # (docs/measurements.md).
            with ThreadPoolExecutor(WRITERS) as pool:
                refused = dict(pool.map(self._write, [] if self.dry_run else wanted))
        for piece, path, is_new in placed:
            reason = refused.get(path)
            if not path:
                wanted_at = walk.where(self.store, self._wanted(piece.source))
                done.findings.append(_taken(piece.source, wanted_at))
            elif reason:
                repair = "Run it again once it can be written."
                done.findings.append(Finding("unwritable", piece.source.shown, reason, repair))
            else:
                done.entries.append(Entry(piece.source.path, path, is_new, len(piece.findings)))
                done.findings += piece.findings
        return not any(refused.values())

    def _write(self, given: tuple[str, bytes]) -> tuple[str, str]:
        """Write a file and return its store path with the reason where the disk refuses."""
        path, raw = given
        try:
            files.replace(os.path.join(self.store.base, path), raw, follow=self.store.base)
        except Unwritable as error:
            return path, str(error)
        return path, ""

    def _wanted(self, source: Source) -> str:
        return f"{self.root}/{source.place}"

    def _settle(self, piece: _Piece) -> tuple[str, bool]:
        """Return a file's store path and whether it is free; none where it is taken or leads out.

        Files of one run whose names meet, in another case or under one name, are numbered.
        """
        wanted = self._wanted(piece.source)
        head, suffix = os.path.splitext(wanted)
        path, number, is_taken = wanted, 1, False
        # A link in the store may lead out of it; a number would not lead back.
        while self.bounds.hold(os.path.join(self.store.base, path)):
            if _folded(path) not in self.filled:
                there = self._there(path)
                if there == piece.raw or (there is None and not is_taken):
                    self.filled.add(_folded(path))
                    return path, there is None
                if there is None:
                    return "", False
                is_taken = True
            number += 1
            path = f"{head}-{number}{suffix}"
        return "", False

    def _there(self, path: str) -> bytes | None:
        """Return what lies at a store path, None where it is free."""
        full = os.path.join(self.store.base, path)
        if not os.path.lexists(full):
            return None
        try:
            return files.read_bytes(full, 2 * MOST_BYTES)
        except OSError:
            return _NO_TEXT


def _folded(path: str) -> str:
    """Return what two paths share that a file system may take for one."""
    return unicodedata.normalize("NFC", path).casefold()


def _read(source: Source, done: Imported) -> _Piece | None:
    """Return a file's bytes without secrets; where they are no lesson's, None and a finding."""
    place = source.shown
    try:
        raw = files.read_bytes(source.path, MOST_BYTES)
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        place = f"{place}:{error.object.count(LINE_FEED, 0, error.start) + 1}"
        reason, repair = "The text is not UTF-8.", "Save it as UTF-8."
        done.findings.append(Finding("not-utf-8", place, reason, repair))
        return None
    except OSError as error:
        reason = f"The file cannot be read: {error.strerror or error}."
        repair = f"It must be readable and have {MOST_BYTES} bytes at most."
        done.findings.append(Finding("lesson-unreadable", place, reason, repair))
        return None
    if "\0" in text:
        place = f"{place}:{line_of(text, text.index(chr(0)))}"
        reason, repair = "The text holds a NUL character.", "Save it as plain UTF-8 text."
        done.findings.append(Finding("nul-character", place, reason, repair))
        return None
    secrets = redact.find(text)
    if not secrets:
        return _Piece(source, raw, ())
    findings = tuple(_left_out(source, text, secret) for secret in secrets)
    return _Piece(source, redact.redact(text).encode("utf-8"), findings)


def _taken(source: Source, place: str) -> Finding:
    reason = f"{place} is there with another text, or leads elsewhere."
    repair = 'Delete that file to take this one, or keep both: `rose add "TITLE" --file F`.'
    return Finding("import-differs", source.shown, reason, repair)


def _left_out(source: Source, text: str, secret: Secret) -> Finding:
    reason = f"What looks like a secret ({secret.kind}) was left out of the copy."
    place = f"{source.shown}:{line_of(text, secret.start)}"
    return Finding("secret", place, reason, "Revoke it if it is one.", severity="warning")


def line_of(text: str, at: int) -> int:
    """Return the number of the line in which a place of a text lies."""
    return text.count("\n", 0, at) + 1
