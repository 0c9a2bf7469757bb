"""The lessons as a session may show them: by path, and by lines that only one of them has.

Bodies are read once to index their lines by hash; the text of a lesson is read again only when a
session names it. So ten thousand lessons cost an index, not their text.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from rose import frontmatter
from rose import text as texts
from rose.reflection import commands
from rose.reflection.places import Places
from rose.routing import targets
from rose.store import lessons as shelf

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rose.hosts.base import Call
    from rose.layout import Store
    from rose.store.lessons import Holding, Lesson

MIN_LINE_CHARS = 12
_SHARED = -1
_MOST_BODIES = 256
# What ends the path of a file where one stands in a listing, a command or a text.
_STOPS = frozenset(" \t\r\n\"'`()[]{}<>,;:|=")
_MOST_NAMES = 5_000
_MOST_NAME_CHARS = 400
_NUMBERED = re.compile(r"(?:line )?\d+(?:\t|→|[:|-])")
_LOCATED = re.compile(r"[^\s:]+:(?:\d+:)?")


class Library:
    """The lessons of the present stores in one session. A lesson is named by its number here."""

    def __init__(self, holdings: Sequence[Holding], cwd: str) -> None:
        self.lessons: list[Lesson] = []
        self._stores: list[Store] = []
        self._grounds: list[tuple[Places, dict[str, int], tuple[str, ...]]] = []
        self._lines: dict[int, int] = {}
        self._bodies: dict[int, tuple[str, ...]] = {}
        for holding in holdings:
            known: dict[str, int] = {}
            for lesson in holding.shelf.lessons:
                known[lesson.path] = len(self.lessons)
                self.lessons.append(lesson)
                self._stores.append(holding.store)
            places = Places(holding.store, cwd)
            self._grounds.append((places, known, holding.settings.lessons_paths))
        for number in range(len(self.lessons)):
            self._index(number)

    def text(self, number: int) -> str:
        """Return a lesson's body; empty where the file is gone or cannot be read."""
        return body_of(self._stores[number], self.lessons[number])

    def lines(self, number: int) -> tuple[str, ...]:
        """Return the lines by which a lesson's body is known; all of them where all are short."""
        if number not in self._bodies:
            if len(self._bodies) >= _MOST_BODIES:
                del self._bodies[next(iter(self._bodies))]
            stripped = [line.strip() for line in self.text(number).split("\n")]
            long = tuple(line for line in stripped if len(line) >= MIN_LINE_CHARS)
            self._bodies[number] = long or tuple(line for line in stripped if line)
        return self._bodies[number]

    def lines_in(self, number: int, result: str) -> int:
        """Return how many lines of a lesson's body a result holds."""
        lines = self.lines(number)
        if lines and len(lines[0]) < MIN_LINE_CHARS:
            # Short lines stand inside others by chance, so they count as whole lines only.
            whole = {variant for line in result.split("\n") for variant in _variants(line)}
            return sum(line in whole for line in lines)
        return sum(line in result for line in lines)

    def says(self, number: int, result: str) -> bool:
        """Tell whether a line of a result is a part of a lesson's body, blanks aside."""
        lines = [line for line in map(texts.normalise, result.split("\n")) if line]
        body = texts.normalise(self.text(number))
        return any(len(line) >= MIN_LINE_CHARS and line in body for line in lines)

    def peculiar(self, result: str) -> dict[int, int]:
        """Return, by lesson, how many lines of a result stand in that lesson alone."""
        found: dict[int, set[int]] = {}
        for line in result.split("\n"):
            if len(line) < MIN_LINE_CHARS:
                continue
            for variant in _variants(line):
                key = hash(variant)
                number = self._lines.get(key, _SHARED)
                if number != _SHARED:
                    found.setdefault(number, set()).add(key)
                    break
        return {number: len(keys) for number, keys in found.items()}

    def find(self, named: str, cwd: str) -> int | None:
        """Return the lesson that a path names."""
        for places, known, _ in self._grounds:
            number = places.find(named, cwd, known)
            if number is not None:
                return number
        return None

    def named_by(self, call: Call) -> dict[int, None]:
        """Return the lessons whose path a call names, in order."""
        found: dict[int, None] = {}
        for path in call.paths:
            _note(found, self.find(path, call.cwd))
        if call.command is not None:
            for name in names_in(call.command):
                _note(found, self.find(name, call.cwd))
            for word, folder in commands.words_of(call.command):
                cwd = os.path.join(call.cwd, folder)
                if targets.is_glob(word):
                    found.update(dict.fromkeys(self._matching(word, cwd)))
                elif word.endswith(".md"):
                    _note(found, self.find(word, cwd))
        return found

    def listed_in(self, call: Call) -> Iterator[int]:
        """Yield the lessons whose names stand in a call's result."""
        if ".md" not in call.result:
            return
        folders = [call.cwd, *(os.path.join(call.cwd, path) for path in call.paths)]
        if call.command is not None:
            for word, folder in commands.words_of(call.command):
                if not word.startswith("-"):
                    folders.append(os.path.join(call.cwd, folder, word))
        for name in names_in(call.result):
            for folder in folders[:1] if "/" in name else folders:
                number = self.find(name, folder)
                if number is not None:
                    yield number
                    break

    def _matching(self, glob: str, cwd: str) -> Iterator[int]:
        for places, known, roots in self._grounds:
            for path in places.paths(glob, cwd):
                fixed = targets.fixed_part(path)
                if any(fixed.startswith(root) or root.startswith(fixed) for root in roots if fixed):
                    test = targets.pattern(path)
                    yield from (number for name, number in known.items() if test(name))

    def _index(self, number: int) -> None:
        for line in self.text(number).split("\n"):
            stripped = line.strip()
            if len(stripped) >= MIN_LINE_CHARS:
                key = hash(stripped)
                if self._lines.setdefault(key, number) != number:
                    self._lines[key] = _SHARED


def names_in(text: str) -> dict[str, None]:
    """Return the paths of Markdown files that stand in a text, in order.

    Searched backwards from each ending: a forward expression would take a square of the time on
    a long line without blanks.
    """
    found: dict[str, None] = {}
    at = text.find(".md")
    while at >= 0 and len(found) < _MOST_NAMES:
        end = at + len(".md")
        start = at
        while start > 0 and at - start < _MOST_NAME_CHARS and text[start - 1] not in _STOPS:
            start -= 1
        after = text[end : end + 1]
        # A longer run is no path, and half of one would name another file.
        is_whole = start == 0 or text[start - 1] in _STOPS
        if is_whole and start < at and not (after.isalnum() or after in ("_", "-", "/")):
            found[text[start:end]] = None
        at = text.find(".md", end)
    return found


def _note(found: dict[int, None], number: int | None) -> None:
    if number is not None:
        found[number] = None


def _variants(line: str) -> Iterator[str]:
    """Yield a line of a result without what tools put before it: numbers, paths, diff signs."""
    stripped = line.strip()
    yield stripped
    if stripped[:1].isdigit() or stripped.startswith("line "):
        found = _NUMBERED.match(stripped)
        if found is not None:
            yield stripped[found.end() :].strip()
    if ":" in line:
        found = _LOCATED.match(stripped)
        if found is not None:
            yield stripped[found.end() :].strip()
    if stripped[:1] in ("+", "-", ">", "|"):
        yield stripped[1:].strip()


def body_of(store: Store, lesson: Lesson) -> str:
    """Return a lesson's text without its header; empty where it cannot be read."""
    try:
        whole = shelf.body(store, lesson)
    except OSError:
        return ""
    return frontmatter.split(whole).body
