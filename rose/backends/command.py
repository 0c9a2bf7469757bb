"""Asks a program of the person's own: the question as JSON on its input, the answer on its output.

`{"v", "question", "schema", "session": {"host", "session", "transcript", "cwd"}}`; the program runs
in the session's folder. docs/backends.md has an example.
"""

from __future__ import annotations

import dataclasses
import os
import shlex
from typing import TYPE_CHECKING

from rose import files
from rose.backends import base, process
from rose.backends.base import BackendFailure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rose.backends.base import Answer, Question
    from rose.backends.options import Options

VERSION = 1
SETTING = "reflection.command"


class Command:
    """The backend `command`."""

    name = "command"
    forks = False

    def __init__(self, options: Options, environ: Mapping[str, str]) -> None:
        self._options = options
        self._environ = environ

    def hindrance(self) -> str:
        line = self._options.settings.reflection_command
        if not line:
            return self._options.why_withheld(SETTING) or f"`{SETTING}` is not set."
        if reason := process.nested(self._environ):
            return reason
        try:
            words = shlex.split(line)
        except ValueError as error:
            return f"`{SETTING}` is no command line: {error}. Mend it with `rose config`."
        if not words or not process.find(words[0], self._environ):
            named = words[0] if words else ""
            return f"`{SETTING}`: {named!r} is neither on PATH nor an absolute path to a program."
        return ""

    def ask(self, question: Question, timeout_s: float) -> Answer:
        if reason := self.hindrance():
            raise BackendFailure("unavailable", reason)
        program, *rest = shlex.split(self._options.settings.reflection_command)
        asked = {
            "v": VERSION,
            "question": question.text,
            "schema": dict(question.schema),
            "session": dataclasses.asdict(question.subject),
        }
        ended = process.run(
            [process.find(program, self._environ), *rest],
            files.dump_json(asked) + "\n",
            cwd=question.subject.cwd,
            environ=self._environ,
            timeout_s=timeout_s,
        )
        name = os.path.basename(program)
        if ended.code != 0:
            message = f"{name} ended with code {ended.code}: {ended.last_words()} "
            raise BackendFailure("exit", message + base.again(question), ended.usage)
        return base.read(ended.out, question, name=name, usage=ended.usage, model="")
