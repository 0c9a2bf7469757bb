"""A selection stream: lessons with their lives, and the tasks in order with what each one used.

`lessons.jsonl` and `episodes.jsonl` in one folder. What is read was written by others: a line
that lacks a field is refused by its number.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from rose import files
from rose.errors import RoseError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Mode = Literal["cold", "warm"]
LESSONS = "lessons.jsonl"
EPISODES = "episodes.jsonl"


@dataclass(frozen=True, slots=True)
class Lesson:
    """A lesson; `born` and `died` are the episodes between which it is in the store."""

    id: str
    path: str
    title: str
    gist: str
    body: str
    born: int
    died: int | None

    def is_alive(self, seq: int) -> bool:
        return self.born <= seq and (self.died is None or seq < self.died)


@dataclass(frozen=True, slots=True)
class Episode:
    """A task and the ids of the lessons that the work used."""

    id: str
    seq: int
    prompt: str
    used: tuple[str, ...]
    split: str
    is_named: bool


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream as it is replayed: with the lives that the mode gives to the lessons."""

    name: str
    lessons: tuple[Lesson, ...]
    episodes: tuple[Episode, ...]

    def alive(self, seq: int) -> dict[str, Lesson]:
        """Return the lessons that are in the store for an episode, by id."""
        return {lesson.id: lesson for lesson in self.lessons if lesson.is_alive(seq)}


def read(folder: str, mode: Mode) -> Stream:
    """Return the stream of a folder; raises RoseError.

    Cold, a lesson enters the store after the first episode that used it.
    """
    episodes = sorted(_rows(folder, EPISODES, _episode), key=lambda one: one.seq)
    lessons = list(_rows(folder, LESSONS, _lesson))
    if not episodes or not lessons:
        raise RoseError(f"{folder}: holds no stream. Name a folder with {LESSONS} and {EPISODES}.")
    if mode == "cold":
        first: dict[str, int] = {}
        for episode in episodes:
            for lesson in episode.used:
                first.setdefault(lesson, episode.seq)
        never = episodes[-1].seq + 1
        lessons = [_reborn(one, first.get(one.id, never) + 1) for one in lessons]
    name = os.path.basename(os.path.normpath(folder))
    return Stream(name, tuple(lessons), tuple(episodes))


def _reborn(one: Lesson, born: int) -> Lesson:
    return Lesson(one.id, one.path, one.title, one.gist, one.body, born, one.died)


def _rows(
    folder: str, name: str, make: Callable[[dict[str, Any]], Lesson | Episode]
) -> Iterator[Any]:
    path = os.path.join(folder, name)
    try:
        text = files.read_text(path)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "it is no text in UTF-8"
        repair = f"DIR holds {LESSONS} and {EPISODES}."
        raise RoseError(f"{path} cannot be read: {why}. {repair}") from error
    # Only a line feed ends a line: texts hold other separators.
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            yield make(_object(line))
        except (ValueError, KeyError, TypeError) as error:
            repair = "Mend the line; the fields are in docs/cli.md."
            raise RoseError(f"{path}:{number}: is no {name[:-7]}: {error!r}. {repair}") from error


def _object(line: str) -> dict[str, Any]:
    row = files.parse_json(line)
    if not isinstance(row, dict):
        raise TypeError(line[:20])
    return row


def _lesson(row: dict[str, Any]) -> Lesson:
    name, path, title, gist, body = (
        str(row[key]) for key in ("id", "path", "title", "gist", "body")
    )
    died = row["died_seq"]
    born = int(row["born_seq"] or 0)
    return Lesson(name, path, title, gist, body, born, None if died is None else int(died))


def _episode(row: dict[str, Any]) -> Episode:
    used = tuple(dict.fromkeys(str(one) for one in row["used"]))
    is_named = row["named"] is True
    return Episode(
        str(row["id"]), int(row["seq"]), str(row["prompt"]), used, str(row["split"]), is_named
    )
