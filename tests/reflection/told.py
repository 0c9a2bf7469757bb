"""A session that is told event by event, for tests of what is made of events."""

from __future__ import annotations

from rose.hosts.base import Call, Event, Head, Prompt, Said, Tally


class Told:
    """A transcript whose events are given."""

    def __init__(self, *events: Event) -> None:
        self.path = "told.jsonl"
        self.tally = Tally(rows=len(events))
        self._events = events

    def head(self) -> Head:
        return Head("told", "claude-code", cwd="/repo")

    def events(self, seen=frozenset()):
        return iter(() if seen else self._events)

    def uuids(self) -> list[str]:
        return []


def typed(text: str, turn: int = 1) -> Prompt:
    return Prompt(turn, text, "2026-11-30T12:00:00Z")


def said(text: str, turn: int = 1) -> Said:
    return Said(turn, text)


def ran(command: str, result: str = "", *, failed: bool = False, **fields) -> Call:
    """Return a shell call that was answered."""
    given = {"turn": 1, "order": 0, "cwd": "/repo", "answered": 1, **fields}
    return Call(
        name="Bash",
        input={"command": command},
        command=command,
        result=result,
        failed=failed,
        **given,
    )


def called(name: str, path: str = "", result: str = "", *, failed: bool = False, **given) -> Call:
    """Return a call of a tool on a file."""
    told = {"file_path": path, **given}
    paths = (path,) if path else ()
    return Call(1, 0, name, told, None, paths, "/repo", result, failed, answered=1)
