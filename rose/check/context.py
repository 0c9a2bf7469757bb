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
    return Context(
        rules=table.read(store, settings.lessons_paths).rules,
        roots=settings.lessons_paths,
        has_lesson=lesson_test([lesson.path for lesson in active]),
        max_tokens=max_tokens,
        cost=lambda line: tokens.count(line + "\n"),
        lessons=frozenset(lesson.id for lesson in active),
        base=store.base if store.kind == "home" else None,
    )


def lesson_test(paths: Collection[str]) -> Callable[[str], bool]:
    """Return the test of whether a target matches one of the lessons at these store paths."""
    return lambda wanted: any(target.matches(wanted, path) for path in paths)
