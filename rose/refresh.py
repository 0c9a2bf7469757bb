"""Brings the derived files up to date: the index for grep and the compiled layer."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from rose import files
from rose.errors import Unwritable
from rose.routing import compile as compiling
from rose.routing.survey import Ground
from rose.store import index, lessons

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rose.layout import Store, Stores
    from rose.store.lessons import Holding


def layer(stores: Stores, *, exact: bool) -> Mapping[str, object]:
    """Compile the layer of the present stores and return it as it was written.

    `exact` loads the vocabulary for lines that nobody has counted yet; without it they are
    charged in bytes. `written` and `reason` say what the disk made of it. Raises NoStore.
    """
    return _compile(stores, [lessons.hold(store) for store in stores.present()], exact=exact)


def everything(stores: Stores, *, exact: bool = True) -> Mapping[str, object]:
    """Write the index of each store and the layer; the layer is returned, as by `layer`."""
    holdings = [lessons.hold(store) for store in stores.present()]
    faults = [index.write(holding.store, holding.shelf) for holding in holdings]
    refused = [fault.message for fault in faults if fault is not None]
    compiled = _compile(stores, holdings, exact=exact)
    if not refused:
        return compiled
    return {**compiled, "written": False, "reason": " ".join([*refused, str(compiled["reason"])])}


def _compile(stores: Stores, holdings: Sequence[Holding], *, exact: bool) -> Mapping[str, object]:
    return compiling.compile_layer(stores, [ground_of(one) for one in holdings], exact=exact)


def afresh(stores: Stores, store: Store, kept: Sequence[str] = ()) -> int:
    """Drop what a store's local folder held before it was trusted, and derive everything anew.

    A clone may bring records of its own making, which nothing in its rules would show: they say
    what is reflected on and what an undo writes. Returns how many files were dropped; lock files
    and those in `kept` stay. Raises Locked or Unwritable.
    """
    with files.lock(store.lock):
        doomed = [path for path in _held(store.local) if path not in kept]
        dropped = sum(files.delete(path) for path in doomed)
    everything(stores)
    return dropped


def _held(local: str) -> Iterator[str]:
    """Yield the files and the links in a local folder but the lock files, which say nothing."""
    for folder, folders, names in os.walk(local, onerror=_refuse):
        for name in names + folders:
            path = os.path.join(folder, name)
            is_lock = folder == local and (name == "lock" or name.endswith(".lock"))
            if os.path.islink(path) or (name in names and not is_lock):
                yield path


def _refuse(error: OSError) -> None:
    raise Unwritable(f"{error.filename}: not read: {error.strerror or error}.") from error


def ground_of(holding: Holding) -> Ground:
    """Return a store as the survey takes it."""
    shelf = holding.shelf
    return Ground(
        holding.store,
        holding.settings,
        {lesson.id: lesson.path for lesson in shelf.lessons},
        tuple(sorted(lesson.path for lesson in shelf.active())),
    )
