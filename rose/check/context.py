"""What a draft is held against, gathered from one store as it is now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rose import tokens
from rose.check.checks import Context
from rose.routing import forgotten, table
from rose.routing import targets as target

if TYPE_CHECKING:
    from rose.store.lessons import Holding


def of_store(holding: Holding, max_tokens: int, *, cache: bool = True) -> Context:
    """Return the context of a store's drafts; `max_tokens` is the cap of the whole layer."""
    store, roots = holding.store, holding.settings.lessons_paths
    shelf = holding.shelf
    active = tuple(sorted(lesson.path for lesson in shelf.active()))
    paths = {lesson.id: lesson.path for lesson in shelf.lessons}
    return Context(
        rules=table.read(store, roots, cache=cache).rules,
        roots=roots,
        has_lesson=lambda wanted: target.first_match(wanted, active) is not None,
        max_tokens=max_tokens,
        cost=lambda line: tokens.count(line + "\n"),
        lessons=frozenset(lesson.id for lesson in shelf.lessons),
        base=store.prefix,
        active=active,
        archived={
            lesson.path: paths.get(lesson.superseded_by, "")
            for lesson in shelf.lessons
            if lesson.status != "active"
        },
        root=store.base,
        forgotten=forgotten.read(store)[0],
        review=holding.settings.routing_review,
        versions={lesson.path: lesson.version for lesson in shelf.active()},
    )
