"""The undo note of a reflection: each file that it touched, as it was before and is after.

The note is written before the first change, so that a reflection which was killed half-way can
be taken back or finished like any other.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rose import files, links
from rose.errors import Unwritable
from rose.routing import table
from rose.routing import targets as target
from rose.routing.rules import ID

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from rose.layout import Store

VERSION = 1


@dataclass(frozen=True, slots=True)
class Change:
    """A file's text before a reflection (None: there was none), and the digest of it after.

    Without a digest the reflection was killed before it could say. `was` is the digest that the
    file had when the last reflection of the session began, None where that is `before`.
    """

    before: str | None
    after: str | None
    was: str | None = None

    def digest_before(self) -> str:
        """Return the digest of the file as the last reflection of the session found it."""
        return digest(self.before) if self.was is None else self.was


@dataclass(frozen=True, slots=True)
class Note:
    """What one session's reflection changed: rules by id, lessons by store path.

    `n` is its place in the ledger.
    """

    name: str
    session: str
    host: str
    n: int
    at: str
    rules: Mapping[str, Change]
    lessons: Mapping[str, Change] = field(default_factory=dict)

    def places(self, store: Store) -> list[tuple[str, str, Change]]:
        """Return the id or store path, the file and the change of all that it names."""
        rules = [(r, table.path_of(store, r), change) for r, change in sorted(self.rules.items())]
        return rules + [
            (path, os.path.join(store.base, path), change)
            for path, change in sorted(self.lessons.items())
        ]


def path_of(store: Store, name: str) -> str:
    return os.path.join(store.undo, name + ".json")


def read(store: Store, name: str) -> Note | None:
    """Return the note of a session, None where there is none that can be read."""
    try:
        value = files.parse_json(files.read_text(path_of(store, name)))
    except (OSError, ValueError):
        return None
    if not isinstance(value, dict) or value.get("v") != VERSION:
        return None
    session, host, n, at = (value.get(key) for key in ("session", "host", "n", "at"))
    if not (isinstance(session, str) and isinstance(host, str) and isinstance(at, str)):
        return None
    rules, lessons = value.get("rules"), value.get("lessons", {})
    if not (isinstance(n, int) and isinstance(rules, dict) and isinstance(lessons, dict)):
        return None
    return Note(
        name, session, host, n, at, _changes(rules, _is_rule), _changes(lessons, _is_lesson)
    )


def _is_rule(name: str) -> bool:
    return ID.fullmatch(name) is not None


def _is_lesson(path: str) -> bool:
    return target.is_inside(path) and path.endswith(".md") and not links.is_git(path)


def _changes(value: Mapping[str, object], is_known: Callable[[str], bool]) -> dict[str, Change]:
    """Return the changes of a note; a store may be hostile, so no other file is named by one."""
    found = {}
    for name, item in filter(lambda pair: is_known(pair[0]), value.items()):
        fields = item if isinstance(item, dict) else {}
        texts = [fields.get(key) for key in ("before", "after", "was")]
        found[name] = Change(*(text if isinstance(text, str) else None for text in texts))
    return found


def notes(store: Store) -> list[Note]:
    """Return the notes of a store, the newest reflection first."""
    try:
        names = [name[:-5] for name in os.listdir(store.undo) if name.endswith(".json")]
    except OSError:
        return []
    found = [note for name in names if (note := read(store, name)) is not None]
    return sorted(found, key=lambda note: (note.n, note.at, note.name), reverse=True)


def begin(
    store: Store, note: Note, rule_ids: Iterable[str], lesson_paths: Iterable[str] = ()
) -> Note:
    """Write the note of a reflection that is about to change some files, and return it.

    What an earlier reflection of the same session changed stays in it. The caller holds the
    lock. Raises Unwritable.
    """
    earlier = read(store, note.name) or note
    rules, lessons = dict(earlier.rules), dict(earlier.lessons)
    for rule_id in rule_ids:
        rules[rule_id] = _begun(rules.get(rule_id), text_of(table.path_of(store, rule_id)))
    for path in lesson_paths:
        lessons[path] = _begun(lessons.get(path), text_of(os.path.join(store.base, path)))
    begun = replace(note, rules=rules, lessons=lessons)
    _write(store, begun)
    return begun


def _begun(known: Change | None, text: str | None) -> Change:
    if known is None or known.after not in (None, digest(text)):
        # New to the note, or a person's since: what is taken back later leads to this text.
        return Change(text, None)
    return Change(known.before, None, known.was if known.after is None else known.after)


def finish(store: Store, note: Note) -> Note:
    """Write into the note what the files look like now; those that did not change drop out."""
    texts = {name: text_of(path) for name, path, _ in note.places(store)}

    def finished(changes: Mapping[str, Change]) -> dict[str, Change]:
        return {
            name: change if change.after is not None else replace(change, after=digest(texts[name]))
            for name, change in changes.items()
            if change.after is not None or texts[name] != change.before
        }

    done = replace(note, rules=finished(note.rules), lessons=finished(note.lessons))
    _write(store, done)
    return done


def follow(store: Store, moved: Mapping[str, tuple[str, str]]) -> None:
    """Let every note know that files changed since by no person: old and new digest by path.

    A reflection whose text stood there is taken back as if it had written the new one. The
    caller holds the lock. Raises Unwritable.
    """
    for note in notes(store):
        changed = {
            name: replace(change, after=moved[path][1])
            for name, path, change in note.places(store)
            if path in moved and change.after == moved[path][0]
        }
        if changed:
            rules = {name: changed.get(name, change) for name, change in note.rules.items()}
            lessons = {name: changed.get(name, change) for name, change in note.lessons.items()}
            _write(store, replace(note, rules=rules, lessons=lessons))


def forget(store: Store, note: Note) -> None:
    """Delete a note that is as it was read; the caller holds the lock."""
    if read(store, note.name) == note:
        files.delete(path_of(store, note.name))


def _write(store: Store, note: Note) -> None:
    line = {"v": VERSION, "session": note.session, "host": note.host, "n": note.n, "at": note.at}
    whole = {**line, "rules": _rows(note.rules)}
    if note.lessons:
        whole["lessons"] = _rows(note.lessons)
    files.replace(path_of(store, note.name), files.dump_json(whole))


def _rows(changes: Mapping[str, Change]) -> dict[str, dict[str, str | None]]:
    rows = {name: {"before": c.before, "after": c.after} for name, c in changes.items()}
    for name, change in changes.items():
        if change.was is not None:
            rows[name]["was"] = change.was
    return rows


def text_of(path: str) -> str | None:
    """Return the text of a file, None where there is none; raises Unwritable."""
    try:
        return files.read_bytes(path).decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return None
    except OSError as error:
        # What cannot be read could not be given back either.
        raise Unwritable(f"{path}: not read: {error.strerror or error}.") from error


def digest(text: str | None) -> str:
    """Return the digest of a file's text; an empty one stands for no file."""
    if text is None:
        return ""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
