"""Which models can be asked, by which module, and which one `auto` is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rose.backends.claude_code import ClaudeCode
from rose.backends.codex import Codex
from rose.backends.command import Command
from rose.backends.openai import OpenAI
from rose.config import BACKENDS
from rose.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rose.backends.base import Backend
    from rose.backends.options import Options

NAMES = BACKENDS
MAKERS: dict[str, Callable[[Options, Mapping[str, str]], Backend]] = {
    "claude": ClaudeCode,
    "codex": Codex,
    "openai": OpenAI,
    "command": Command,
}
# The backend that can fork a host's sessions.
OF_HOST = {"claude-code": "claude", "codex": "codex"}


def check(name: str) -> None:
    """Raise UsageError for a name that no backend has."""
    if name not in NAMES:
        raise UsageError(f"There is no backend {name!r}. There are {', '.join(NAMES)}.")


def choose(name: str, host: str, options: Options, environ: Mapping[str, str]) -> Backend | None:
    """Return the backend of a name for a session of a host, None where no model is asked.

    One that was named is returned even where it cannot run, so that it can say why; `auto` takes
    the first that can: the host's own program, then `openai`. Raises UsageError for another name.
    """
    check(name)
    if name in MAKERS:
        return MAKERS[name](options, environ)
    tried = (OF_HOST.get(host, ""), "openai") if name == "auto" else ()
    for candidate in tried:
        if candidate and not (backend := MAKERS[candidate](options, environ)).hindrance():
            return backend
    return None


def survey(options: Options, environ: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return each backend's name with why it cannot run here, empty where it can."""
    made = [(name, make(options, environ).hindrance()) for name, make in MAKERS.items()]
    return [*made, ("offline", "")]
