"""Opening: the text of one lesson, whole or a range of its lines, as a tool shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rose.errors import RoseError
from rose.selection import search, veil
from rose.selection.windows import Window

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rose.store.lessons import Holding

# What one call shows at most; the rest is had by its lines.
MOST_CHARS = 20_000


@dataclass(frozen=True, slots=True)
class Opened:
    """Some lines of a lesson, counted from 1; `of` is how many there are.

    `window` is what was shown, as a trace keeps it. `is_cut` where not all of the file was read.
    """

    node: str
    title: str
    path: str
    version: str
    first: int
    last: int
    of: int
    text: str
    window: Window
    is_cut: bool

    def as_json(self) -> dict[str, object]:
        return {
            "node": self.node,
            "title": self.title,
            "path": self.path,
            "version": self.version,
            "lines": {"first": self.first, "last": self.last, "of": self.of},
            "text": self.text,
        }


def read(holdings: Sequence[Holding], ref: str, first: int = 1, last: int | None = None) -> Opened:
    """Return a lesson's lines from `first` to `last`, as many of them as one call shows.

    Raises RoseError where the reference names no active lesson, its file cannot be read, or it
    has no such lines.
    """
    lesson, place, part = search.find(holdings, ref)
    rows = part.text.removesuffix("\n").split("\n")
    if first > len(rows):
        lines = "line" if len(rows) == 1 else "lines"
        raise RoseError(f"{lesson.id} has {len(rows)} {lines}.")
    start = sum(len(row) + 1 for row in rows[: first - 1])
    end, shown = start, first - 1
    for row in rows[first - 1 : last]:
        if end + len(row) + 1 - start > MOST_CHARS:
            break
        end += len(row) + 1
        shown += 1
    if shown < first:
        # A line that no call would show whole.
        end, shown = start + MOST_CHARS, first
    end = min(end, len(part.text))
    cover = veil.Veil(part.text)
    return Opened(
        lesson.id,
        veil.line(lesson.title),
        place,
        part.version,
        first,
        shown,
        len(rows),
        cover.part(start, end),
        cover.window(Window(start, end, "")),
        part.is_cut,
    )
