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
    charged in bytes. Raises NoStore.
    """
    return _compile(stores, _shelves(stores), exact=exact)


def everything(stores: Stores) -> Mapping[str, object]:
    """Write the index of each store and the layer, with exact counts; the layer is returned."""
    shelves = _shelves(stores)
    for store in stores.present():
        index.write(store, shelves[store.base])
    return _compile(stores, shelves, exact=True)


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
