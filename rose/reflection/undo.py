"""Takes a reflection back: the files as they were before, unless a person changed them since.

Each step finds what an earlier run has done, and the note goes last, so a run that was killed at
any point is completed by the next.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rose import files, refresh, refs, trust
from rose.errors import RoseError
from rose.reflection import commits, journal, notes, rows
from rose.reflection.commits import Told
from rose.routing import ledger
from rose.routing import targets as target
from rose.store import lessons

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rose.layout import Store, Stores
    from rose.reflection.notes import Note
    from rose.store.lessons import Holding

EDITED = "it was edited or decided on since"
ELSEWHERE = "it lies in no lessons folder"


@dataclass(frozen=True, slots=True)
class Undone:
    """What was taken back, by rule id and by the store path of a lesson.

    `gone` are files that were deleted before; `left` names what a person changed since, with the
    reason.
    """

    session: str
    n: int
    restored: tuple[str, ...]
    deleted: tuple[str, ...]
    gone: tuple[str, ...]
    left: tuple[tuple[str, str], ...]
    commit: str = ""


@dataclass(frozen=True, slots=True)
class _Taken:
    """What was taken back in one store."""

    holding: Holding
    note: Note
    undone: Undone


def expect_trust(stores: Stores, environ: Mapping[str, str]) -> None:
    """Raise RoseError where a store is not trusted: its notes say what files are to hold."""
    for store in stores.present():
        if not trust.is_trusted(store, environ):
            raise RoseError(
                f"{store.dot}: nothing was taken back, as the store is not trusted: its undo notes "
                "may have come with a clone. `rose trust` drops them; what is learned from then "
                "on can be taken back."
            )


def take_back(stores: Stores, session: str | None = None, *, at: str = "") -> Undone:
    """Take back the reflection of a session, or the last that changed a file, else the last.

    `at` is the time as it is traced. Raises RoseError where there is none.
    """
    holdings = lessons.hold_all(stores)
    with _locked(stores):
        name = _wanted(holdings[0].store, session).name
        # The first store's note is the one that is looked for, so it is the last to go.
        taken = [
            _Taken(holding, note, _take_back(holding, note, at))
            for holding in reversed(holdings)
            if (note := notes.read(holding.store, name)) is not None
        ]
    refresh.everything(stores)
    said = [_commit(one) for one in taken]
    with _locked(stores):
        for one in taken:
            notes.forget(one.holding.store, one.note)
    return _joined(taken, said)


@contextlib.contextmanager
def _locked(stores: Stores) -> Iterator[None]:
    with contextlib.ExitStack() as locks:
        for each in stores.present():
            locks.enter_context(files.lock(each.lock))
        yield


def _take_back(holding: Holding, note: Note, at: str) -> Undone:
    store, settings = holding.store, holding.settings
    undone = _restore(store, note, settings.lessons_paths)
    if any(case.session == note.session for case in ledger.read(store).cases):
        ledger.undo_locked(store, settings.ledger_share, note.session)
    rows.forget(store, note.name)
    journal.undone(store, undone.session, undone.n, [name for name, _ in undone.left], at)
    return undone


def _wanted(store: Store, session: str | None) -> Note:
    found = notes.notes(store)
    if not found:
        raise RoseError("There is no reflection to take back. `rose status` lists them.")
    if session is None:
        return next((note for note in found if note.rules or note.lessons), found[0])
    known = [note.session for note in found]
    readings = refs.parts(session, known)
    hint = "`rose status` lists what was learned."
    wanted = refs.choose(session, readings, known, noun="reflected session", hint=hint)
    return next(note for note in found if note.session == wanted)


def _restore(store: Store, note: Note, roots: Sequence[str]) -> Undone:
    restored: list[str] = []
    deleted: list[str] = []
    gone: list[str] = []
    left: list[tuple[str, str]] = []
    for name, path, change in note.places(store):
        text = notes.text_of(path)
        if text is None:
            gone.append(name)
        elif text == change.before:
            # It was taken back before, by a run that did not get further.
            restored.append(name)
        elif notes.digest(text) != change.after:
            left.append((name, EDITED))
        elif name in note.lessons and not target.is_target(name, roots):
            left.append((name, ELSEWHERE))
        elif change.before is None:
            files.delete(path)
            deleted.append(name)
        else:
            raw = change.before.encode("utf-8", "surrogateescape")
            files.replace(path, raw, follow=store.base)
            restored.append(name)
    changed = (tuple(restored), tuple(deleted), tuple(gone))
    return Undone(note.session, note.n, *changed, tuple(left))


def _commit(taken: _Taken) -> str:
    """Commit what was taken back, where the settings say so; returns what git said."""
    note, undone = taken.note, taken.undone
    changed = {
        path: (change.after or "", notes.digest(change.before))
        for name, path, change in note.places(taken.holding.store)
        # What a person deleted is a person's change.
        if name in undone.restored or (change.before is None and name not in dict(undone.left))
    }
    told = [Told("restore", name) for name in undone.restored]
    told += [Told("delete", name) for name in (*undone.deleted, *undone.gone)]
    text = commits.message(note.session, told, "undo of session")
    return commits.commit(taken.holding, changed, text)


def _joined(taken: Sequence[_Taken], said: Sequence[str]) -> Undone:
    """Return what was taken back in all stores as one; the first store's note came last."""
    last, each = taken[-1].undone, [one.undone for one in reversed(taken)]
    return Undone(
        last.session,
        last.n,
        tuple(name for one in each for name in one.restored),
        tuple(name for one in each for name in one.deleted),
        tuple(name for one in each for name in one.gone),
        tuple(pair for one in each for pair in one.left),
        said[-1],
    )
