"""The index, `.rose/index.md`: one line per active lesson, for an agent's grep. Derived."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rose import files
from rose.errors import Unwritable
from rose.findings import Finding

if TYPE_CHECKING:
    from rose.layout import Store
    from rose.store.lessons import Lesson, Shelf


def write(store: Store, shelf: Shelf) -> Finding | None:
    """Bring the index up to date and return what kept it back, if anything did."""
    wanted = render(shelf).encode("utf-8")
    try:
        if files.read_bytes(store.index) == wanted:
            return None
    except OSError:
        # Not there, or not readable: written anew, and the writing reports what is wrong.
        pass
    try:
        files.replace(store.index, wanted)
    except Unwritable as error:
        repair = "Make the folder writable; the lessons themselves are intact."
        return Finding("index-unwritable", store.index, str(error), repair, severity="warning")
    return None


def render(shelf: Shelf) -> str:
    """Return the text of the index, in order of path."""
    ordered = sorted(shelf.active(), key=lambda lesson: lesson.path)
    return "".join(line(lesson) + "\n" for lesson in ordered)


def line(lesson: Lesson) -> str:
    """Return a lesson as its one line of the index."""
    gist = f": {lesson.gist}" if lesson.gist and lesson.gist != lesson.title else ""
    tags = f" [{', '.join(lesson.tags)}]" if lesson.tags else ""
    return f"{lesson.path} - {lesson.title}{gist}{tags}"
