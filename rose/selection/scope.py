"""The lessons that a selection may take: the active ones of some stores, narrowed by globs.

A glob is held against what the stores know, so none can lead anywhere else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rose.routing import targets

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rose.layout import Store
    from rose.store.lessons import Holding, Lesson

    Known = Mapping[str, tuple[Store, Lesson]]


def everything(holdings: Sequence[Holding]) -> Known:
    """Return the lessons of some stores by id, whatever their status.

    An id that two stores share is the first one's.
    """
    known: dict[str, tuple[Store, Lesson]] = {}
    for holding in holdings:
        for lesson in holding.shelf.lessons:
            known.setdefault(lesson.id, (holding.store, lesson))
    return known


def active(holdings: Sequence[Holding]) -> Known:
    """Return the lessons by id that count."""
    known = everything(holdings)
    return {name: found for name, found in known.items() if found[1].status == "active"}


def within(known: Known, scope: Sequence[str]) -> frozenset[str] | None:
    """Return the ids that a scope leaves, None where it leaves all of them."""
    if not scope:
        return None
    return frozenset(name for name, (_, lesson) in known.items() if holds(scope, lesson))


def holds(scope: Sequence[str], lesson: Lesson) -> bool:
    """Tell whether a lesson's id or store path is matched by a scope; one without globs is all."""
    globs = [glob.removeprefix("./") for glob in scope]
    return not globs or any(targets.lead_to(globs, name) for name in (lesson.id, lesson.path))
