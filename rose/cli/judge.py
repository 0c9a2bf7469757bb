"""`rose rerank`, `rose filter` and `rose compress`: three judgements over a JSON array."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rose.backends import options
from rose.backends.options import Options
from rose.cli import terminal
from rose.cli.app import app
from rose.config import Settings
from rose.errors import NoStore, UsageError
from rose.reflection import spend
from rose.selection import compress, judge_choice, judge_local, rerank, rows
from rose.selection import filter as filtering
from rose.selection.judge import JudgeFailure
from rose.selection.judge_command import CommandJudge

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rose.backends.base import FailureKind, Usage
    from rose.layout import Store, Stores
    from rose.selection.judge import Judge, Passage
    from rose.selection.rows import Row

SCORE, EVIDENCE, TEXT = "rerankScore", "evidenceScore", "compressedText"


def _share(value: float) -> float:
    # A range of typer's own would let NaN through, which keeps nothing and says nothing.
    if not 0 <= value <= 1:
        raise typer.BadParameter(f"{value:g} is not from 0 to 1.")
    return value


QueryText = Annotated[str, typer.Option("--query", metavar="Q", help="What the texts are for.")]
TextField = Annotated[str, typer.Option(metavar="F", help="The field that holds the text.")]
ContextFields = Annotated[
    list[str] | None,
    typer.Option("--context-field", metavar="F", help="A field to tell the judge; repeatable."),
]
TopCount = Annotated[
    int | None, typer.Option("--top", metavar="N", min=1, help="Print only the first N.")
]
Threshold = Annotated[
    float,
    typer.Option(metavar="T", callback=_share, help="The least score that is kept, 0 to 1."),
]
JudgeCommand = Annotated[
    str | None,
    typer.Option("--judge-cmd", metavar="CMD", help="A program that judges: docs/judges.md."),
]
JudgeName = Annotated[
    str | None,
    typer.Option("--judge", metavar="NAME", help=f"Who judges: {judge_choice.NAMES_SAID}."),
]


@dataclass(frozen=True, slots=True)
class _Call:
    """What one call asks for, its words checked."""

    output: str
    query: str
    text_field: str
    context: tuple[str, ...]
    top: int | None
    command: str | None
    name: str | None


@app.command("rerank", short_help="Order a JSON array by how related its texts are.")
def rerank_rows(
    *,
    query: QueryText,
    text_field: TextField = "text",
    context: ContextFields = None,
    top: TopCount = None,
    command: JudgeCommand = None,
    judge: JudgeName = None,
) -> None:
    """Order the objects of a JSON array by how related their texts are to a query.

    Reads standard input; each object gains `rerankScore`.

    Example: rose search "slow tests" --json | rose rerank --query "slow tests" --text-field title
    """
    call = _call(
        SCORE,
        query=query,
        text_field=text_field,
        context=context,
        top=top,
        command=command,
        name=judge,
    )

    def judged(who: Judge, found: Sequence[Row], passages: Sequence[Passage]) -> list[str]:
        ranked = rerank.rerank(who, call.query, passages)
        return [found[one.at].written(SCORE, one.score) for one in ranked]

    _run(call, judged)


@app.command("filter", short_help="Keep the objects of a JSON array worth acting on.")
def filter_rows(
    *,
    query: QueryText,
    threshold: Threshold = filtering.THRESHOLD,
    text_field: TextField = "text",
    context: ContextFields = None,
    top: TopCount = None,
    command: JudgeCommand = None,
    judge: JudgeName = None,
) -> None:
    """Keep the objects of a JSON array whose text holds something to act on for a query.

    Reads standard input; each object gains `evidenceScore`. An empty array is a good answer.

    Example: cat found.json | rose filter --query "the database is down" --judge-cmd ./judge
    """
    call = _call(
        EVIDENCE,
        query=query,
        text_field=text_field,
        context=context,
        top=top,
        command=command,
        name=judge,
    )

    def judged(who: Judge, found: Sequence[Row], passages: Sequence[Passage]) -> list[str]:
        kept = filtering.keep(who, call.query, passages, threshold)
        return [found[one.at].written(EVIDENCE, one.score) for one in kept]

    _run(call, judged)


@app.command("compress", short_help="Keep the parts of texts in a JSON array that matter.")
def compress_rows(
    *,
    query: QueryText,
    threshold: Threshold = filtering.THRESHOLD,
    text_field: TextField = "text",
    context: ContextFields = None,
    top: TopCount = None,
    command: JudgeCommand = None,
    judge: JudgeName = None,
) -> None:
    """Keep the parts of each text in a JSON array that a query needs, copied and in order.

    Reads standard input; each object gains `compressedText`. One with no such part is left out.

    Example: cat found.json | rose compress --query "the database is down" --judge local
    """
    call = _call(
        TEXT,
        query=query,
        text_field=text_field,
        context=context,
        top=top,
        command=command,
        name=judge,
    )

    def judged(who: Judge, found: Sequence[Row], passages: Sequence[Passage]) -> list[str]:
        kept = compress.compress(who, call.query, passages, threshold)
        return [found[one.at].written(TEXT, one.text()) for one in kept]

    _run(call, judged)


def _call(
    output: str,
    *,
    query: str,
    text_field: str,
    context: list[str] | None,
    top: int | None,
    command: str | None,
    name: str | None,
) -> _Call:
    """Return a call whose words hold; raises UsageError before anything is read."""
    if not query.strip():
        raise UsageError("--query is empty; say what the texts are for.")
    if output in (text_field, *(context or ())):
        raise UsageError(f"`{output}` is what this command writes; it cannot be read from.")
    if command is not None and name is not None:
        raise UsageError("--judge-cmd and --judge do not go together; give one of them.")
    if name is not None:
        judge_choice.check(name)
    return _Call(output, query, text_field, tuple(context or ()), top, command, name)


def _run(
    call: _Call, judged: Callable[[Judge, Sequence[Row], Sequence[Passage]], list[str]]
) -> None:
    """Judge what stands on standard input and print what comes of it, all or nothing."""
    found = rows.read(terminal.read_in())
    passages = rows.passages(found, call.text_field, call.context)
    objects: list[str] = []
    # Nothing to judge needs no judge: no array item, or to compress, not one unit.
    if any(passage.text.strip() for passage in passages) or (found and call.output != TEXT):
        judge = _judge(call)
        objects = judged(judge, found, passages)
        terminal.say(f"Judged by {judge.name}.")
    terminal.pour(rows.write(objects[: call.top]))


def _judge(call: _Call) -> Judge:
    """Return who judges; raises JudgeFailure where nobody can."""
    if call.name == judge_local.NAME:
        return judge_local.LocalJudge()
    cwd, stores = terminal.cwd(), terminal.stores()
    if call.command is not None:
        timeout_s = _options(stores).settings.reflection_timeout_s
        return CommandJudge(call.command, cwd=cwd, environ=os.environ, timeout_s=timeout_s)
    try:
        store = stores.first()
    except NoStore as error:
        raise JudgeFailure(f"No judge: {error} {judge_choice.REPAIR}") from error
    held = _options(stores)
    terminal.report(held.findings)
    name = call.name or held.settings.reflection_backend
    meter = _Meter(store, held.settings, name)
    return judge_choice.model(name, held, os.environ, cwd=cwd, meter=meter)


def _options(stores: Stores) -> Options:
    """Return the settings that hold here, the defaults where there is no store."""
    return options.options_of(stores, os.environ) if stores.present() else Options(Settings())


class _Meter:
    """Judgements count against the day's limits of the store; they are about no session."""

    def __init__(self, store: Store, settings: Settings, name: str) -> None:
        self._store = store
        self._settings = settings
        self._name = name

    def left(self) -> str:
        return spend.left(self._store, self._settings, "", time.time())

    def note(self, usage: Usage, outcome: Literal["answer", "interrupted"] | FailureKind) -> None:
        spend.note(
            self._store, "", backend=self._name, usage=usage, outcome=outcome, now=time.time()
        )
