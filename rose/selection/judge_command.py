"""Asks a program of the person's own to judge: `--judge-cmd`.

It is run once a batch, without a shell: `{"mode", "query", "items": [{"id", "text", "document"}]}`
on its input, `{"scores": {id: number}}` on its output.
"""

from __future__ import annotations

import dataclasses
import json
import os
import shlex
from typing import TYPE_CHECKING

from rose import files
from rose.backends import process
from rose.backends.base import BackendFailure
from rose.selection.judge import JudgeFailure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rose.backends.spend import Wait
    from rose.selection.judge import Item, Mode

OPTION = "--judge-cmd"


class CommandJudge:
    """A judge that is a command line; raises JudgeFailure where that names no program."""

    def __init__(self, line: str, *, cwd: str, environ: Mapping[str, str], wait: Wait) -> None:
        self._words = _words(line, cwd, environ)
        self._cwd = cwd
        self._environ = environ
        self._wait = wait
        self.name = os.path.basename(self._words[0])

    def score(self, mode: Mode, query: str, items: Sequence[Item]) -> Mapping[str, object]:
        asked = {"mode": mode, "query": query, "items": [dataclasses.asdict(x) for x in items]}
        try:
            ended = process.run(
                self._words,
                files.dump_json(asked) + "\n",
                cwd=self._cwd,
                environ=self._environ,
                timeout_s=self._wait.left(),
            )
        except BackendFailure as failure:
            more = f" {self._wait.more()}" if failure.kind == "timeout" else ""
            raise JudgeFailure(f"{failure}{more}") from failure
        if ended.code != 0:
            message = f"{self.name} ended with code {ended.code}. {ended.last_words()}"
            raise JudgeFailure(message.rstrip())
        return _scores(ended.out, self.name)


def _words(line: str, cwd: str, environ: Mapping[str, str]) -> list[str]:
    """Return the words of a command line, the program by its absolute path."""
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise JudgeFailure(f"{OPTION} is no command line: {error}.") from error
    named = words[0] if words else ""
    # A person typed it, so a path means what it means in their shell.
    path = os.path.join(cwd, named) if os.sep in named else named
    program = process.find(path, environ) if named else ""
    if not program:
        raise JudgeFailure(f"{OPTION}: {named!r} is neither on PATH nor a path to a program.")
    return [program, *words[1:]]


def _scores(out: str, name: str) -> Mapping[str, object]:
    def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise JudgeFailure(f"{name} scored an id twice. Ask again.")
        return found

    try:
        answer = json.loads(out, object_pairs_hook=once)
    except (ValueError, RecursionError) as error:
        raise JudgeFailure(f"{name} printed no JSON object with `scores`.") from error
    scores = answer.get("scores") if isinstance(answer, dict) else None
    if not isinstance(scores, dict):
        raise JudgeFailure(f"{name} printed no JSON object with `scores`.")
    return scores
