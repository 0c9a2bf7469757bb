"""Brings the derived files up to date: the index for grep and the compiled layer."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rose import config
from rose.routing import compile as compiling
from rose.store import index, lessons

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rose.layout import Stores
    from rose.store.lessons import Shelf


def layer(stores: Stores, *, exact: bool) -> Mapping[str, object]:
    """Compile the layer of the present stores and return it as it was written.

    `exact` loads the vocabulary for lines that nobody has counted yet; without it they are
    charged in bytes. `written` and `reason` say what the disk made of it. Raises NoStore.
    """
    return _compile(stores, _shelves(stores), exact=exact)


def everything(stores: Stores, *, exact: bool = True) -> Mapping[str, object]:
    """Write the index of each store and the layer; the layer is returned, as by `layer`."""
    shelves = _shelves(stores)
    written = [index.write(store, shelves[store.base]) for store in stores.present()]
    refused = [one.finding.message for one in written if one.finding is not None]
    compiled = _compile(stores, shelves, exact=exact)
    if not refused:
        return compiled
    return {**compiled, "written": False, "reason": " ".join([*refused, str(compiled["reason"])])}


def _shelves(stores: Stores) -> dict[str, Shelf]:
    return {store.base: lessons.scan(store, config.read(store)[0]) for store in stores.present()}


def _compile(stores: Stores, shelves: Mapping[str, Shelf], *, exact: bool) -> Mapping[str, object]:
    settings = config.read(stores.first())[0]
    archived = [
        f"{base}/{lesson.path}"
        for base, shelf in shelves.items()
        for lesson in shelf.lessons
        if lesson.status != "active"
    ]
    paths = {
        base: {lesson.id: lesson.path for lesson in shelf.lessons}
        for base, shelf in shelves.items()
    }
    return compiling.compile_layer(
        stores, settings, archived=archived, paths=paths, exact=exact, now_ns=time.time_ns()
    )
