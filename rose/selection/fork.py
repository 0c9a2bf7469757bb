"""The model as selector: a fork of the session, or a new one of its program, reads and names.

It is asked only where a person configured it, has the time that a prompt may wait, and only
names lessons: admission decides what is served, from the files. docs/decisions/028.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from rose import redact
from rose import text as texts
from rose.backends import registry
from rose.backends.base import UNASKED, BackendFailure, Question
from rose.selection import scope as scoping
from rose.selection.chosen import Named, SelectionFailure
from rose.selection.prompting import PROMPTS, clean, line
from rose.store import walk

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rose.backends.base import Backend, Look, Subject
    from rose.backends.spend import Purse
    from rose.selection.scope import Known
    from rose.store.lessons import Holding, Lesson

NAME = "fork"
MOST_NAMED = 20
MOST_NAME_CHARS = 300
MOST_LOOKS = 50
MOST_LOOK_CHARS = 200
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"lessons": {"type": "array", "items": {"type": "string"}}},
    "required": ["lessons"],
    "additionalProperties": False,
}
_WORD_ENDS = re.compile(r"[\s\"'`;|&()<>,\\\[\]{}]+")


class Fork:
    """A chooser that is a backend, asked out of a purse that knows how long the prompt waits."""

    name = NAME

    def __init__(self, backend: Backend, subject: Subject, *, layer: str, purse: Purse) -> None:
        self._backend = backend
        self._subject = subject
        self._layer = layer
        self._purse = purse

    def choose(self, query: str, holdings: Sequence[Holding], k: int) -> Named:
        known = scoping.active(holdings)
        if not known:
            return Named((), (), ())
        try:
            answer = self._purse.ask(self._backend, self._question(query, holdings, k))
        except BackendFailure as failure:
            what = "no fork was begun" if failure.kind in UNASKED else "the fork failed"
            raise SelectionFailure(f"{what}: {failure}") from failure
        places = _places(known)
        return _named(answer.value.get("lessons"), places)._replace(
            looked=[_looked(look, places) for look in answer.looks[:MOST_LOOKS]]
        )

    def _question(self, query: str, holdings: Sequence[Holding], k: int) -> Question:
        stores = [
            {
                "folders": [os.path.join(one.store.base, at) for at in one.settings.lessons_paths],
                "index": one.store.index,
            }
            for one in holdings
        ]
        filled = {
            "k": str(k),
            "query": line(clean(query)),
            "stores": "\n".join(map(line, stores)),
            "layer": line(clean(self._layer)),
        }
        return Question(
            PROMPTS.filled("select", filled),
            SCHEMA,
            self._subject,
            alone=not self._can_fork(),
            reads=True,
        )

    def _can_fork(self) -> bool:
        """Tell whether there is a session to fork: at its first prompt it has no transcript yet."""
        is_own = registry.OF_HOST.get(self._subject.host) == self._backend.name
        return is_own and os.path.isfile(self._subject.transcript)


def _places(known: Known) -> Mapping[str, Lesson]:
    """Return the lessons by everything that a model may call them."""
    found: dict[str, Lesson] = {}
    for name, (store, lesson) in known.items():
        full = os.path.join(store.base, lesson.path)
        for place in (name, lesson.path, walk.where(store, lesson.path), full):
            found.setdefault(place, lesson)
    return found


def _named(value: object, places: Mapping[str, Lesson]) -> Named:
    lessons: dict[str, Lesson] = {}
    unknown: dict[str, None] = {}
    for one in value[:MOST_NAMED] if isinstance(value, list) else ():
        if not isinstance(one, str):
            continue
        name = texts.clean_line(one).removeprefix("./")
        lesson = places.get(name)
        if lesson is not None:
            lessons.setdefault(lesson.id, lesson)
        elif name:
            unknown[redact.beginning(name, MOST_NAME_CHARS)] = None
    return Named(list(lessons.values()), list(unknown), ())


def _looked(look: Look, places: Mapping[str, Lesson]) -> dict[str, object]:
    """Return one use of a tool as it is recorded, with the lessons that it names."""
    words = (word.removeprefix("./") for word in _WORD_ENDS.split(look.given))
    nodes = dict.fromkeys(places[word].id for word in words if "/" in word and word in places)
    tool, given = texts.clean_line(look.tool), texts.clean_line(look.given)
    return {
        "tool": redact.beginning(tool, MOST_LOOK_CHARS),
        "given": redact.beginning(given, MOST_LOOK_CHARS),
        "nodes": [*nodes],
    }
