"""Lessons: the Markdown files below a store's lesson folders, read in place and never moved.

Files are truth. Each lesson has one id in its store: the `id` it names, else its path under its
root; an id that two would share goes to the first, and a finding says so.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rose import config, files, racy, refs
from rose.findings import Finding
from rose.store import cache as caching
from rose.store import parse, walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rose.config import Settings
    from rose.layout import Store, Stores
    from rose.store.parse import Parsed, Part
    from rose.store.walk import Found

MAX_ID = 200


@dataclass(frozen=True, slots=True)
class Lesson:
    """One lesson; `path` is below the store's base, `version` the digest of the file's bytes."""

    id: str
    path: str
    title: str
    gist: str
    tags: tuple[str, ...]
    status: str
    superseded_by: str
    origin: str
    evidence: tuple[str, ...]
    created: str
    version: str
    store: str
    root: str


@dataclass(frozen=True, slots=True)
class Shelf:
    """The lessons of one store, root by root in order of path, and what is wrong with them."""

    lessons: tuple[Lesson, ...]
    findings: tuple[Finding, ...]

    def active(self) -> list[Lesson]:
        return [lesson for lesson in self.lessons if lesson.status == "active"]


@dataclass(frozen=True, slots=True)
class Holding:
    """One store with its settings, its lessons and what is wrong with its config."""

    store: Store
    settings: Settings
    shelf: Shelf
    faults: tuple[Finding, ...] = ()


def hold(store: Store, *, cache: bool = True) -> Holding:
    """Return a store's settings and lessons as they are now."""
    settings, faults = config.read(store)
    return Holding(store, settings, scan(store, settings, cache=cache), tuple(faults))


def hold_all(stores: Stores) -> list[Holding]:
    """Return the present stores, the project's first; raises NoStore."""
    stores.first()
    return [hold(store) for store in stores.present()]


def scan(store: Store, settings: Settings, *, cache: bool = True) -> Shelf:
    """Return the lessons of a store; broken ones are among them, with a finding each."""
    found, findings = walk.walk(store, settings.lessons_paths)
    known = caching.load(store) if cache else {}
    kept, fresh = {}, {}
    readings: list[tuple[Found, Parsed]] = []
    for file in found:
        row = known.get(file.path)
        parsed = caching.unpack(row, file.stamp)
        if parsed is None:
            read_ns = time.time_ns()
            parsed = _read(store, file, findings)
            if parsed is None:
                continue
            row = caching.pack(file.stamp, parsed)
            if not racy.is_settled(file.stamp[1], read_ns):
                readings.append((file, parsed))
                continue
            fresh[file.path] = row
        kept[file.path] = row
        readings.append((file, parsed))
    if cache:
        caching.save(store, known, kept, fresh)
    ids = _ids(store, readings, findings)
    lessons = [_lesson(store, file, parsed, ids[file.path]) for file, parsed in readings]
    for file, parsed in readings:
        place = walk.where(store, file.path)
        findings += [replace(fault, where=place + fault.where) for fault in parsed.findings]
    return Shelf(tuple(lessons), tuple(findings))


def _read(store: Store, file: Found, findings: list[Finding]) -> Parsed | None:
    try:
        return parse.read(os.path.join(store.base, file.path))
    except OSError as error:
        place = walk.where(store, file.path)
        reason = f"The file cannot be read: {error.strerror or error}."
        findings.append(Finding("lesson-unreadable", place, reason, "Make it readable."))
        return None


def _lesson(store: Store, file: Found, parsed: Parsed, lesson_id: str) -> Lesson:
    return Lesson(
        lesson_id,
        file.path,
        parsed.title,
        parsed.gist,
        parsed.tags,
        parsed.status,
        parsed.superseded_by,
        parsed.origin,
        parsed.evidence,
        parsed.created,
        parsed.version,
        store.kind,
        file.root,
    )


def _ids(
    store: Store, readings: Sequence[tuple[Found, Parsed]], findings: list[Finding]
) -> Mapping[str, str]:
    """Return each lesson's id by its path.

    Ids that come from paths are given out first, so that what one file calls itself never
    changes the id of another.
    """
    ids: dict[str, str] = {}
    taken: set[str] = set()
    for file, parsed in sorted(readings, key=lambda reading: bool(reading[1].name)):
        in_store = walk.stem(file.path)
        by_path = in_store[len(file.root) + 1 :]
        wanted = parsed.name or by_path
        is_safe = not parsed.name or is_safe_id(wanted)
        choices = [*([wanted] if is_safe else []), by_path, in_store, file.path]
        chosen = next((choice for choice in choices if choice not in taken), file.path)
        if chosen != wanted:
            why = "is used by another lesson" if is_safe else "cannot be used"
            message = f"The id {wanted!r} {why}; this one is {chosen!r}."
            place = walk.where(store, file.path)
            repair = "Rename the file or its `id`."
            findings.append(Finding("lesson-id", place, message, repair, severity="warning"))
        taken.add(chosen)
        ids[file.path] = chosen
    return ids


def is_safe_id(name: str) -> bool:
    """Tell whether a name that a file gives itself can be used as an id."""
    return (
        0 < len(name) <= MAX_ID
        and walk.is_safe_name(name)
        and not any(char.isspace() or char == "\\" for char in name)
        and all(part not in ("", ".", "..") for part in name.split("/"))
    )


def body(store: Store, lesson: Lesson) -> str:
    """Return a lesson's whole text; bytes that are no UTF-8 become replacement characters."""
    raw = files.read_bytes(os.path.join(store.base, lesson.path))
    return raw.decode("utf-8", "replace")


def now(store: Store, lesson: Lesson) -> Part:
    """Return a lesson's text as far as it is read for words, as it is now; raises OSError."""
    path = os.path.join(store.base, lesson.path)
    # The folder may have become another's since it was walked; a pipe is never waited for.
    if os.path.lexists(path) and not (walk.Bounds(store).hold(path) and os.path.isfile(path)):
        raise OSError("it is no file of this store")
    return parse.read_part(path)


def resolve(shelves: Sequence[Shelf], ref: str, *, whole: bool = False) -> Lesson:
    """Return the lesson that an id, a store path or an unambiguous part of an id names.

    `whole` takes whole names alone, from the end of an id. The first shelf hides equal ids of
    later ones. Raises RoseError with up to five candidates.
    """
    wanted = ref.strip().removeprefix("./")
    known: dict[str, Lesson] = {}
    for lesson in (lesson for shelf in shelves for lesson in shelf.lessons):
        known.setdefault(lesson.id, lesson)
    hint = "`rose list` lists them."
    if not known:
        hint = 'There are none yet: `rose add "TITLE" --body TEXT` writes the first one.'
    elif wanted.startswith("r_"):
        hint = "`rose route --explain ID` shows a rule."
    readings = _readings(known, wanted, whole=whole)
    return known[refs.choose(wanted, readings, [*known], noun="lesson", hint=hint)]


def _readings(known: Mapping[str, Lesson], ref: str, *, whole: bool) -> Iterator[list[str]]:
    """Yield the ids that a reference can mean, the most exact reading first."""
    if not ref:
        return
    ends = "/" + ref
    exact, part = refs.parts(ref, [*known])
    yield exact
    yield [x.id for x in known.values() if ref in (x.path, walk.stem(x.path))]
    named = (ends, *(ends + suffix for suffix in walk.SUFFIXES))
    yield [x.id for x in known.values() if x.id.endswith(ends) or x.path.endswith(named)]
    if not whole:
        yield part
