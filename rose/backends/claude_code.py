"""Asks Claude Code by a fork of the ended session: no hooks, nothing kept, reading tools only.

A question that stands alone is put to a new session, without a tool unless it is to be read for.

The flags are those that were proven on the real program (docs/backends.md). `--tools` alone would
leave the tools of MCP servers to the fork, and those may write. The prompt goes to standard
input, since some of the flags take a list and would swallow it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rose import files
from rose.backends import base, forks, process
from rose.backends.base import BackendFailure, Look, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rose.backends.base import Answer, Question
    from rose.backends.options import Options

PROGRAM = "claude"
HOST = "claude-code"
TOOLS = "Read,Grep,Glob"
NO_HOOKS = '{"disableAllHooks":true}'
READ = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


class ClaudeCode:
    """The backend `claude`."""

    name = "claude"
    forks = True

    def __init__(self, _options: Options, environ: Mapping[str, str]) -> None:
        self._environ = environ

    def hindrance(self) -> str:
        return forks.hindrance(PROGRAM, self._environ)

    def ask(self, question: Question, timeout_s: float) -> Answer:
        subject = question.subject
        fork = () if question.alone else ("--resume", subject.session, "--fork-session")
        tools = TOOLS if question.reads or not question.alone else ""
        words = [
            forks.find(PROGRAM, HOST, question, self._environ),
            *("-p", *fork, "--no-session-persistence"),
            *("--output-format", "json", "--json-schema", files.dump_json(question.schema)),
            # Every message, so that it can be told what was looked at.
            *(("--verbose",) if question.reads else ()),
            *("--tools", tools),
            *("--strict-mcp-config", "--settings", NO_HOOKS),
        ]
        ended = process.run(
            words, question.text, cwd=subject.cwd, environ=self._environ, timeout_s=timeout_s
        )
        return _answer(ended, question)


def _answer(ended: process.Ended, question: Question) -> Answer:
    messages = _messages(ended.out)
    report = _report(messages)
    usage, model = ended.usage + _cost(report), _model(report)
    if ended.code != 0 or report.get("is_error") is True:
        said = report.get("result") or report.get("subtype")
        words = base.quoted(said) if isinstance(said, str) else ended.last_words()
        message = f"{PROGRAM} ended with code {ended.code}: {words} {base.again(question)}"
        raise BackendFailure("exit", message, usage)
    value = report.get("structured_output")
    if value is not None:
        answer = base.accept(value, question, name=PROGRAM, usage=usage, model=model)
        return replace(answer, looks=tuple(_looks(messages)))
    # A model that never called the tool for its answer may have written it all the same.
    text = str(report.get("result") or "") if report else ended.out
    return base.read(text, question, name=PROGRAM, usage=usage, model=model)


def _messages(out: str) -> Sequence[object]:
    """Return what the program printed: every message where it is verbose, the report last."""
    try:
        found = files.parse_json(out)
    except ValueError:
        return ()
    # A person's settings can make it verbose too.
    return found if isinstance(found, list) else (found,)


def _report(messages: Sequence[object]) -> Mapping[str, object]:
    """Return the program's report, empty where it printed none."""
    last = messages[-1] if messages else None
    return last if isinstance(last, dict) and last.get("type") == "result" else {}


def _looks(messages: Sequence[object]) -> Iterator[Look]:
    for message in messages:
        said = message.get("message") if isinstance(message, dict) else None
        content = said.get("content") if isinstance(said, dict) else None
        for block in content if isinstance(content, list) else ():
            if isinstance(block, dict) and block.get("type") == "tool_use":
                name = str(block.get("name"))
                if name in TOOLS.split(","):
                    yield Look(name, files.dump_json(block.get("input")))


def _cost(report: Mapping[str, object]) -> Usage:
    """Return the tokens of the fork alone: `modelUsage` counts on from the forked session."""
    spent = report.get("usage")
    if not isinstance(spent, dict):
        return Usage()
    read = sum(base.count(spent.get(key)) for key in READ)
    return Usage(0, read, base.count(spent.get("output_tokens")))


def _model(report: Mapping[str, object]) -> str:
    """Return the model that wrote the most, in the forked session and the fork together."""
    models = report.get("modelUsage")
    written = {
        name: base.count(spent.get("outputTokens"))
        for name, spent in (models.items() if isinstance(models, dict) else ())
        if isinstance(spent, dict)
    }
    return max(written, key=written.__getitem__, default="")
