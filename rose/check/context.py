"""What a draft is held against, gathered from one store as it is now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rose import tokens
from rose.check.checks import Context
from rose.routing import table
from rose.routing import targets as target

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from rose.config import Settings
    from rose.layout import Store
    from rose.store.lessons import Shelf


def of_store(store: Store, settings: Settings, shelf: Shelf, max_tokens: int) -> Context:
    """Return the context of a store's drafts; `max_tokens` is the cap of the whole layer."""
    active = shelf.active()
    paths = {lesson.id: lesson.path for lesson in shelf.lessons}
    return Context(
        rules=table.read(store, settings.lessons_paths).rules,
        roots=settings.lessons_paths,
        has_lesson=lesson_test([lesson.path for lesson in active]),
        max_tokens=max_tokens,
        cost=lambda line: tokens.count(line + "\n"),
        lessons=frozenset(lesson.id for lesson in shelf.lessons),
        base=store.base if store.kind == "home" else None,
        archived={
            lesson.path: paths.get(lesson.superseded_by, "")
            for lesson in shelf.lessons
            if lesson.status != "active"
        },
        root=store.base,
    )


def lesson_test(paths: Collection[str]) -> Callable[[str], bool]:
    """Return the test of whether a target matches one of the lessons at these store paths."""
    return lambda wanted: any(target.matches(wanted, path) for path in paths)
