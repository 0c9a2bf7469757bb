"""Takes a reflection back: the rule files as they were before, unless a person changed them since.

The note of a reflection is written before its first rule, so that one that was killed half-way
can be taken back or finished like any other.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rose import config, files, history, refresh, refs
from rose.errors import RoseError, Unwritable
from rose.reflection import rows
from rose.routing import ledger, table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rose.layout import Store, Stores

VERSION = 1


@dataclass(frozen=True, slots=True)
class Change:
    """A rule's file before a reflection (None: there was none), and the digest of it after.

    Without a digest the reflection was killed before it could say.
    """

    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Note:
    """What one session's reflection changed; `n` is its place in the ledger."""

    name: str
    session: str
    host: str
    n: int
    at: str
    rules: Mapping[str, Change]


@dataclass(frozen=True, slots=True)
class Undone:
    """What was taken back; `gone` are rules whose files were deleted before.

    `left` names the rules that a person changed since, with the reason.
    """

    session: str
    n: int
    restored: tuple[str, ...]
    deleted: tuple[str, ...]
    gone: tuple[str, ...]
    left: tuple[tuple[str, str], ...]
    commit: str = ""


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
    rules = value.get("rules")
    session, host, n, at = (value.get(key) for key in ("session", "host", "n", "at"))
    if not (isinstance(session, str) and isinstance(host, str) and isinstance(at, str)):
        return None
    if not isinstance(n, int) or not isinstance(rules, dict):
        return None
    return Note(name, session, host, n, at, {r: _change(c) for r, c in rules.items()})


def _change(value: object) -> Change:
    fields = value if isinstance(value, dict) else {}
    before, after = fields.get("before"), fields.get("after")
    return Change(
        before if isinstance(before, str) else None, after if isinstance(after, str) else None
    )


def notes(store: Store) -> list[Note]:
    """Return the notes of a store, the newest reflection first."""
    try:
        names = [name[:-5] for name in os.listdir(store.undo) if name.endswith(".json")]
    except OSError:
        return []
    found = [note for name in names if (note := read(store, name)) is not None]
    return sorted(found, key=lambda note: (note.n, note.at, note.name), reverse=True)


def begin(store: Store, note: Note, rule_ids: Iterable[str]) -> Note:
    """Write the note of a reflection that is about to change some rules, and return it.

    What an earlier reflection of the same session changed stays in it. The caller holds the lock.
    """
    earlier = read(store, note.name)
    changes = {} if earlier is None else dict(earlier.rules)
    for rule_id in rule_ids:
        text = text_of(store, rule_id)
        known = changes.get(rule_id)
        if known is None or known.after not in (None, digest(text)):
            changes[rule_id] = Change(text, None)
        else:
            changes[rule_id] = Change(known.before, None)
    begun = Note(note.name, note.session, note.host, note.n, note.at, changes)
    _write(store, begun)
    return begun


def finish(store: Store, note: Note) -> Note:
    """Write into the note what the rules look like now; those that did not change drop out."""
    changes = {}
    for rule_id, change in note.rules.items():
        text = text_of(store, rule_id)
        if change.after is not None:
            changes[rule_id] = change
        elif text != change.before:
            changes[rule_id] = Change(change.before, digest(text))
    finished = Note(note.name, note.session, note.host, note.n, note.at, changes)
    _write(store, finished)
    return finished


def _write(store: Store, note: Note) -> None:
    rules = {r: {"before": c.before, "after": c.after} for r, c in note.rules.items()}
    line = {"v": VERSION, "session": note.session, "host": note.host, "n": note.n, "at": note.at}
    files.replace(path_of(store, note.name), files.dump_json({**line, "rules": rules}))


def text_of(store: Store, rule_id: str) -> str | None:
    """Return the text of a rule's file, None where there is none; raises Unwritable."""
    path = table.path_of(store, rule_id)
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


def take_back(stores: Stores, session: str | None = None, *, at: str = "") -> Undone:
    """Take back the reflection of a session, or the last that changed a rule, else the last.

    `at` is the time as it is traced. Raises RoseError where there is none.
    """
    store = stores.first()
    settings = config.read(store)[0]
    with contextlib.ExitStack() as locks:
        for each in stores.present():
            locks.enter_context(files.lock(each.lock))
        note = _wanted(store, session)
        undone = _take_back(store, note, at)
        for other in stores.present()[1:]:
            own = read(other, note.name)
            if own is not None:
                _take_back(other, own, at)
    refresh.everything(stores)
    if settings.git_commit != "auto":
        return undone
    rules = (*undone.restored, *undone.deleted, *undone.gone)
    changed = [table.path_of(store, rule) for rule in rules]
    message = f"rose: take back what was learned from session {note.session}"
    done = history.commit(store.base, changed, message)
    return replace(undone, commit=done.reason)


def _take_back(store: Store, note: Note, at: str) -> Undone:
    """Restore the rules, then the credit; the note goes last, so a killed run can go on."""
    undone = _restore(store, note)
    _take_back_credit(store, config.read(store)[0].ledger_share, note.session)
    rows.forget(store, note.name)
    _trace(store, undone, at)
    files.delete(path_of(store, note.name))
    return undone


def _trace(store: Store, undone: Undone, at: str) -> None:
    left = [rule for rule, _ in undone.left]
    line = {"v": VERSION, "at": at, "session": undone.session, "n": undone.n, "undone": True}
    with contextlib.suppress(Unwritable):
        # The rules are as they were; a trace that the disk refuses changes nothing of that.
        text = files.dump_json({**line, "left": left})
        files.append_line(store.trace, text)


def _take_back_credit(store: Store, share: str, session: str) -> None:
    if any(case.session == session for case in ledger.read(store).cases):
        ledger.undo_locked(store, share, session)


def _wanted(store: Store, session: str | None) -> Note:
    found = notes(store)
    if not found:
        raise RoseError("There is no reflection to take back. `rose status` lists them.")
    if session is None:
        return next((note for note in found if note.rules), found[0])
    known = [note.session for note in found]
    readings = refs.parts(session, known)
    hint = "`rose status` lists what was learned."
    wanted = refs.choose(session, readings, known, noun="reflected session", hint=hint)
    return next(note for note in found if note.session == wanted)


def _restore(store: Store, note: Note) -> Undone:
    restored: list[str] = []
    deleted: list[str] = []
    gone: list[str] = []
    left: list[tuple[str, str]] = []
    for rule_id, change in sorted(note.rules.items()):
        text = text_of(store, rule_id)
        if text is None:
            gone.append(rule_id)
        elif text == change.before:
            # It was taken back before, by a run that did not get further.
            restored.append(rule_id)
        elif digest(text) != change.after:
            left.append((rule_id, "it was edited since"))
        elif change.before is None:
            table.delete(store, rule_id)
            deleted.append(rule_id)
        else:
            raw = change.before.encode("utf-8", "surrogateescape")
            files.replace(table.path_of(store, rule_id), raw, follow=store.base)
            restored.append(rule_id)
    changed = (tuple(restored), tuple(deleted), tuple(gone))
    return Undone(note.session, note.n, *changed, tuple(left))
