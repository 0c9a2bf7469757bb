"""`rose recall`: the lessons that may bear on a prompt, as a conversation would be given them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, cast

import typer

from rose import session as clock
from rose import text as texts
from rose.cli import judges, page, terminal
from rose.cli.app import app
from rose.errors import RoseError
from rose.selection import outcome, pipeline, sticky, trace
from rose.selection.pack import Budget
from rose.store import lessons

if TYPE_CHECKING:
    from rose.layout import Store
    from rose.selection.judge import Mode
    from rose.selection.pack import Serving
    from rose.selection.trace import Record, Row

MOST = 50
Globs = Annotated[
    list[str] | None,
    typer.Option("--scope", metavar="GLOB", help="Only these lessons; may be repeated."),
]
NoRetrieval = Annotated[
    bool, typer.Option("--no-retrieval", help="Take no candidates, for a comparison.")
]
Explain = Annotated[
    bool, typer.Option("--explain", help="Say what became of each candidate, and why.")
]
Session = Annotated[
    str, typer.Option("--session", metavar="ID", help="Whose record; else the one we run in.")
]


@app.command("recall", short_help="Print the lessons that may bear on a prompt.")
def recall(
    *,
    prompt: Annotated[str, typer.Argument(metavar="PROMPT", help="What is to be done.")],
    k: Annotated[int, typer.Option("--k", min=1, max=MOST, help="How many lessons.")] = pipeline.K,
    scope: Globs = None,
    named: Session = "",
    no_retrieval: NoRetrieval = False,
    rerank: judges.Rerank = False,
    filters: judges.Filter = False,
    compress: judges.Compress = False,
    threshold: judges.Least = None,
    judge: judges.Name = None,
    command: judges.Command = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole record.")] = False,
    explain: Explain = False,
) -> None:
    """Print the lessons that may bear on a prompt, within `recall.max_tokens`.

    As `recall.serve` would have it, and their text where that is off. Each call leaves a record.
    A judge is asked only for what is named: --rerank, then --filter, then --compress.

    Example: rose recall "the integration tests cannot reach the database" --k 2
    """
    modes: dict[Mode, bool] = {"rerank": rerank, "filter": filters, "compress": compress}
    asked = judges.asked(modes, threshold, command, judge)
    found = terminal.stores()
    store = found.first()
    holdings = [lessons.hold(one) for one in found.present()]
    settings = holdings[0].settings
    serving = settings.recall_serve if settings.recall_serve != "off" else "bodies"
    query, globs = pipeline.query_of(prompt), tuple(scope or ())
    session = named or os.environ.get("CLAUDE_CODE_SESSION_ID", "")
    request = pipeline.Request(
        query,
        Budget(settings.recall_max_tokens),
        cast("Serving", serving),
        k,
        globs,
        "no-retrieval" if no_retrieval else "retrieval",
        session,
        rejected=sticky.standing(holdings, session, query, globs),
        judging=asked,
    )
    record, problem = pipeline.recall(request, holdings, at=clock.now())
    _print(record, as_json=as_json, explain=explain)
    _keep(store, record)
    _say(record)
    if problem:
        raise RoseError(problem)


def _keep(store: Store, record: Record) -> None:
    try:
        trace.append(store, record)
    except (RoseError, OSError) as error:
        terminal.say(f"[not logged] {error}")


def _print(record: Record, *, as_json: bool, explain: bool) -> None:
    if as_json:
        terminal.emit(record.as_json())
        return
    if record.text:
        terminal.out(record.text)
    if explain:
        _explain(record.as_json())


def _say(record: Record) -> None:
    """Say what was served, or what it rests on that nothing was."""
    spent = f"{record.tokens} of {record.budget['tokens']} tokens"
    head = f"{record.id}, {spent}" if record.text else f"{record.id}, nothing is served"
    terminal.say(texts.clean_line(f"{head}: {outcome.said(record.as_json())}."))


def _explain(row: Row) -> None:
    """Print each candidate with its score, what gave it, and what became of it."""
    outcome = {one["node"]: f"served, {one['form']}" for one in row["admitted"]}
    outcome |= {one["node"]: f"{one['reason']}: {one['detail']}" for one in row["excluded"]}
    judged = {one["node"]: one["why"] for one in row["selected"]}
    terminal.out()
    for one in row["candidates"]:
        said = outcome.get(one["node"], "not selected")
        parts = {**one.get("why", {}), **judged.get(one["node"], {})}
        gave = "".join(f" {name} {value:g}" for name, value in parts.items())
        head = f"{one['rank']:>2}. "
        line = f"{one['node']} ({one['score']:.2f}{':' if gave else ''}{gave}): {said}"
        page.paragraph(line, first=head, rest="    ")
