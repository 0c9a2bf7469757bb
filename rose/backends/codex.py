"""Asks Codex by a fork of the ended session: no hooks, nothing kept, a read-only sandbox.

A question that stands alone is put to a new session.

The flags are those that were proven on the real program (docs/backends.md). The schema and the
answer lie in a temporary folder outside of the repository, which is removed.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import replace
from typing import TYPE_CHECKING

from rose import files, tail
from rose.backends import base, forks, process
from rose.backends.base import BackendFailure, Look, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rose.backends.base import Answer, Question
    from rose.backends.options import Options

PROGRAM = "codex"
HOST = "codex"
# Of the forked session's transcript: its last count of tokens stands near its end.
TAIL_BYTES = 4 << 20


class Codex:
    """The backend `codex`."""

    name = "codex"
    forks = True

    def __init__(self, _options: Options, environ: Mapping[str, str]) -> None:
        self._environ = environ

    def hindrance(self) -> str:
        return forks.hindrance(PROGRAM, self._environ)

    def ask(self, question: Question, timeout_s: float) -> Answer:
        subject = question.subject
        program = forks.find(PROGRAM, HOST, question, self._environ)
        with tempfile.TemporaryDirectory(prefix="rose-") as named:
            folder = os.path.realpath(named)
            if files.is_below(folder, os.path.realpath(subject.cwd)):
                message = f"{folder} lies in the project. Set TMPDIR to a folder outside of it."
                raise BackendFailure("unavailable", message)
            schema, out = os.path.join(folder, "schema.json"), os.path.join(folder, "answer")
            files.replace(schema, files.dump_json(question.schema))
            words = [
                *(program, "exec", "--json", "--ephemeral", "--disable", "hooks"),
                *("-s", "read-only", "--skip-git-repo-check"),
                *("--output-schema", schema, "-o", out),
                *(() if question.alone else ("fork", subject.session)),
                "-",
            ]
            ended = process.run(
                words, question.text, cwd=subject.cwd, environ=self._environ, timeout_s=timeout_s
            )
            return _answer(ended, _text(out), question)


def _text(path: str) -> str:
    try:
        return files.read_bytes(path, process.MOST_OUT_BYTES).decode("utf-8", "replace")
    except OSError:
        # None was written; the program's own words tell why.
        return ""


def _answer(ended: process.Ended, text: str, question: Question) -> Answer:
    before = {} if question.alone else _spent_before(question.subject.transcript)
    usage = ended.usage + _cost(ended.out, before)
    if ended.code != 0:
        words = _complaint(ended.out) or ended.last_words()
        message = f"{PROGRAM} ended with code {ended.code}: {words} {base.again(question)}"
        raise BackendFailure("exit", message, usage)
    answer = base.read(text, question, name=PROGRAM, usage=usage, model="")
    return replace(answer, looks=tuple(_looks(ended.out)) if question.reads else ())


def _looks(out: str) -> Iterator[Look]:
    for event in _events(out):
        item = event.get("item")
        done = item if event.get("type") == "item.completed" and isinstance(item, dict) else {}
        if done.get("type") == "command_execution":
            yield Look("shell", str(done.get("command")))


def _events(out: str) -> Iterator[Mapping[str, object]]:
    for line in out.splitlines():
        try:
            event = files.parse_json(line)
        except ValueError:
            continue
        if isinstance(event, dict):
            yield event


def _cost(out: str, before: Mapping[str, object] | None) -> Usage:
    """Return the tokens of the answer alone, none where that cannot be told.

    The program counts on from the forked session, whose own count its transcript holds.
    """
    told = [event.get("usage") for event in _events(out) if event.get("type") == "turn.completed"]
    after = told[-1] if told else None
    if not isinstance(after, dict) or before is None:
        return Usage()
    read, written = (
        max(0, base.count(after.get(key)) - base.count(before.get(key)))
        for key in ("input_tokens", "output_tokens")
    )
    return Usage(0, read, written)


def _spent_before(transcript: str) -> Mapping[str, object] | None:
    found = None
    try:
        for row in tail.rows(transcript, TAIL_BYTES):
            payload = row.get("payload")
            if isinstance(payload, dict) and payload.get("type") == "token_count":
                info = payload.get("info")
                total = info.get("total_token_usage") if isinstance(info, dict) else None
                found = total if isinstance(total, dict) else found
        is_whole = os.path.getsize(transcript) <= TAIL_BYTES
    except (OSError, ValueError):
        # It is gone, or its path is none: what the fork itself has cost is not known.
        return None
    # Before its first answer a session has spent nothing.
    return {} if found is None and is_whole else found


def _complaint(out: str) -> str:
    """Return why the turn failed; items of type error are warnings."""
    for event in _events(out):
        fault = event.get("error")
        if event.get("type") == "turn.failed" and isinstance(fault, dict):
            return base.quoted(str(fault.get("message")))
    return ""
