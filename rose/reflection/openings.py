"""Which lessons a session opened, and which it only saw by name (docs/architecture.md).

Opened is what the model was shown: a read of the lesson, a result of a call that names it with a
line of its body, three lines that no other lesson has, or what rose served. Exit codes do not
matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rose.reflection import answers

if TYPE_CHECKING:
    from rose.hosts.base import Call
    from rose.reflection.library import Library

PECULIAR_LINES = 3
MOST_LISTED = 200

_READING_WORDS = "read readfile read_file view view_file open_file notebookread read_text_file cat"
_READING = frozenset(_READING_WORDS.split())
# What the model wrote itself taught it nothing, whatever the tool echoes.
_WRITING_WORDS = (
    "write edit multiedit notebookedit apply_patch write_file edit_file create_file "
    "str_replace str_replace_editor update_file replace"
)
_WRITING = frozenset(_WRITING_WORDS.split())


@dataclass(slots=True)
class Opening:
    """One lesson that was opened: first where, how much of it, and when last.

    `at` counts the session's events, `answered` is the place of the result that showed it.
    """

    number: int
    how: str
    turn: int
    at: int
    answered: int
    last_at: int
    is_current: bool


class Openings:
    """Collects the openings of one session, call by call."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.opened: dict[int, Opening] = {}
        self._listed: dict[int, None] = {}
        self._answered = 0

    def take(self, at: int, call: Call, named: dict[int, None]) -> list[Opening]:
        """Take one call, with the lessons that it names, and return those that it opened first."""
        self._answered = max(self._answered, call.answered)
        shown = {} if is_writing(call) else self._shown(call, named)
        fresh = []
        for number, how in shown.items():
            known = self.opened.get(number)
            if known is not None:
                known.last_at = at
                known.how = "read" if how == "read" else known.how
                continue
            is_current = self.library.lines_in(number, call.result) > 0
            opening = Opening(number, how, call.turn, at, call.answered, at, is_current)
            self.opened[number] = opening
            fresh.append(opening)
        self._list(call, named)
        return fresh

    def serve(self, at: int, turn: int, number: int, *, is_current: bool) -> Opening | None:
        """Take a lesson that rose put before the model; return it where it was not open yet."""
        known = self.opened.get(number)
        if known is not None:
            known.last_at = at
            return None
        opening = Opening(number, "served", turn, at, self._answered, at, is_current)
        self.opened[number] = opening
        return opening

    def name(self, number: int) -> None:
        """Take a lesson of which rose showed a line."""
        self._listed[number] = None

    def listed(self) -> list[int]:
        """Return the lessons that were seen by name alone, in order."""
        return [number for number in self._listed if number not in self.opened][:MOST_LISTED]

    def _list(self, call: Call, named: dict[int, None]) -> None:
        if len(self._listed) < MOST_LISTED + len(self.opened):
            self._listed.update(named)
            self._listed.update(dict.fromkeys(self.library.listed_in(call)))

    def _shown(self, call: Call, named: dict[int, None]) -> dict[int, str]:
        """Return the lessons that a call's result showed, each with how."""
        if not call.result.strip():
            return {}
        shown: dict[int, str] = {}
        is_read = call.name.rpartition("__")[2].lower() in _READING
        for number in named:
            lines = self.library.lines_in(number, call.result)
            if lines:
                whole = lines >= len(self.library.lines(number))
                shown[number] = "read" if whole or is_read else "excerpt"
            elif is_read and not call.failed:
                # The file may have said something else then.
                shown[number] = "read"
            elif answers.is_one(call) and self.library.says(number, call.result):
                # A passage need not hold a whole line.
                shown[number] = "excerpt"
        for number, lines in self.library.peculiar(call.result).items():
            if lines >= PECULIAR_LINES and number not in shown:
                shown[number] = "excerpt"
        return shown


def is_writing(call: Call) -> bool:
    """Tell whether a call writes files by its structured input."""
    return call.name.lower() in _WRITING
