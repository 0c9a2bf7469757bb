"""What recall served in a session: which of it arrived, and what became of it.

A text that rose put before the model is an opening (how: served), a line about a lesson only a
name that was seen. Nothing counts that does not stand in the transcript as it was recorded.
"""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING, NamedTuple

from rose.errors import Unwritable
from rose.hosts.base import RECALL_HEADING
from rose.selection import pack, trace
from rose.selection.trace import items

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rose.layout import Store
    from rose.reflection.ask import Asked
    from rose.reflection.library import Library
    from rose.reflection.passes import Pass
    from rose.selection.trace import Failure, Row


class Arrived(NamedTuple):
    """A lesson of a record whose text arrived; its body too, or a line about it alone."""

    number: int
    version: str
    is_body: bool


class Recalls:
    """Watches one session for the texts of its records, and for who names their lessons."""

    def __init__(self, rows: Sequence[Row], library: Library) -> None:
        self._rows = rows
        self._waiting = [row for row in rows if row.get("text")]
        self._numbers: dict[str, int] = {}
        for number, lesson in enumerate(library.lessons):
            self._numbers.setdefault(lesson.id, number)
        named = (name for row in rows for name in _ids(row))
        found = dict.fromkeys(self._numbers[node] for node in named if node in self._numbers)
        self._names = {number: library.lessons[number].path for number in found}
        self._cited: dict[int, None] = {}
        # A lesson is named by its path, which of one that is gone ends as its id most likely did.
        looked_for = (one for row in rows for one in items(row, "candidates"))
        once = dict.fromkeys(str(one.get("node")) for one in looked_for)
        gone = (node for node in once if node not in self._numbers)
        # Before it may stand a folder or a sign, but no rest of another name.
        self._gone = {node: re.compile(rf"(?<![\w.-]){re.escape(node)}\.md") for node in gone}
        self._unresolved: dict[str, None] = {}

    def arrive(self, text: str) -> Iterator[Arrived]:
        """Yield the lessons of the records whose whole text a text holds, each record once."""
        if RECALL_HEADING not in text:
            return
        plain = text.replace("\r", "")
        arrived = [row for row in self._waiting if str(row["text"]) in plain]
        self._waiting = [row for row in self._waiting if row not in arrived]
        for one in (one for row in arrived for one in items(row, "admitted")):
            number = self._numbers.get(str(one.get("node")))
            if number is not None:
                yield Arrived(number, str(one.get("version")), one.get("form") in pack.BODIES)

    def hear(self, text: str) -> None:
        """Note which lessons of the records the model names."""
        for number, path in self._names.items():
            if path in text:
                self._cited[number] = None
        for node, named in self._gone.items():
            if named.search(text):
                self._unresolved[node] = None

    def unresolved(self) -> list[str]:
        """Return the ids that the model cited and that no lesson has any more."""
        return list(self._unresolved)

    def cited(self) -> list[int]:
        return list(self._cited)

    def looked(self) -> list[int]:
        """Return the lessons that a fork looked at which selected for the session.

        Nothing of them came into the conversation by that, so they are names that were seen.
        """
        named = (name for row in self._rows for one in items(row, "looked") for name in _nodes(one))
        return [self._numbers[name] for name in dict.fromkeys(named) if name in self._numbers]


def conclude(one: Pass, rows: Sequence[Row], asked: Asked | None = None) -> None:
    """Write what became of a session's records: which of their lessons were opened, used, cited.

    `asked` is what came of asking a model, which may have answered what cannot be read.
    """
    facts = one.facts
    opened = [found.lesson.id for found in facts.opened]
    used = list(dict.fromkeys([*(found.lesson.id for found in facts.used), *one.judged.used]))
    cited = [*(lesson.id for lesson in facts.cited), *facts.unresolved]
    unread: Failure | None = "output-invalid" if asked is not None and asked.is_invalid else None
    # The ledger has what was learned; a trace that the disk refuses changes nothing of it.
    with contextlib.suppress(Unwritable):
        for row in rows:
            own = _ids(row)
            if own:
                output = {"opened": _of(own, opened), "used": _of(own, used)}
                lost = _of(own, facts.unresolved)
                failure = unread or ("citation-unresolved" if lost else None)
                trace.conclude(
                    one.holding.store, row, one.at, output, _of(own, cited), failure=failure
                )


def give_up(store: Store, session: str, at: str) -> None:
    """Write of a session's records that nobody will learn what became of them."""
    with contextlib.suppress(Unwritable):
        for row in trace.of_session(store, session):
            trace.conclude(store, row, at, failure="consumer-failed")


def _ids(row: Row) -> dict[str, None]:
    """Return the lessons of a record; a fork may have selected what no search found."""
    both = (*items(row, "candidates"), *items(row, "selected"))
    return dict.fromkeys(str(found.get("node")) for found in both)


def _nodes(look: Mapping[str, object]) -> list[str]:
    nodes = look.get("nodes")
    return [str(node) for node in nodes] if isinstance(nodes, list) else []


def _of(own: Mapping[str, None], ids: Sequence[str]) -> list[str]:
    return [name for name in ids if name in own]
