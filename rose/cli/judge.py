"""`rose rerank`, `rose filter` and `rose compress`: three judgements over a JSON array."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from rose.cli import judges, terminal
from rose.cli.app import app
from rose.errors import UsageError
from rose.selection import compress, rerank, rows
from rose.selection import filter as filtering

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rose.selection.judge import Judge, Passage
    from rose.selection.rows import Row

SCORE, EVIDENCE, TEXT = "rerankScore", "evidenceScore", "compressedText"


QueryText = Annotated[str, typer.Option("--query", metavar="Q", help="What the texts are for.")]
TextField = Annotated[str, typer.Option(metavar="F", help="The field that holds the text.")]
ContextFields = Annotated[
    list[str] | None,
    typer.Option("--context-field", metavar="F", help="A field to tell the judge; repeatable."),
]
TopCount = Annotated[
    int | None, typer.Option("--top", metavar="N", min=1, help="Print only the first N.")
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
    command: judges.Command = None,
    judge: judges.Name = None,
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
    threshold: judges.Threshold = filtering.THRESHOLD,
    text_field: TextField = "text",
    context: ContextFields = None,
    top: TopCount = None,
    command: judges.Command = None,
    judge: judges.Name = None,
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
    threshold: judges.Threshold = filtering.THRESHOLD,
    text_field: TextField = "text",
    context: ContextFields = None,
    top: TopCount = None,
    command: judges.Command = None,
    judge: judges.Name = None,
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
    judges.check(command, name)
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
        judge = judges.named(call.command, call.name)
        objects = judged(judge, found, passages)
        terminal.say(f"Judged by {judge.name}.")
    terminal.pour(rows.write(objects[: call.top]))
