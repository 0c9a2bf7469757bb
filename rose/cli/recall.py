"""`rose recall`: the lessons that may bear on a prompt, as a conversation would be given them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, cast

import typer

from rose import session as clock
from rose.cli import page, terminal
from rose.cli.app import app
from rose.errors import RoseError
from rose.selection import pipeline, trace
from rose.selection.pack import Budget
from rose.store import lessons

if TYPE_CHECKING:
    from rose.selection.pack import Serving
    from rose.selection.trace import Record, Row

MOST = 50


@app.command("recall", short_help="Print the lessons that may bear on a prompt.")
def recall(
    *,
    prompt: Annotated[str, typer.Argument(metavar="PROMPT", help="What is to be done.")],
    k: Annotated[int, typer.Option("--k", min=1, max=MOST, help="How many lessons.")] = pipeline.K,
    scope: Annotated[
        list[str] | None,
        typer.Option("--scope", metavar="GLOB", help="Only these lessons; may be repeated."),
    ] = None,
    named: Annotated[
        str,
        typer.Option("--session", metavar="ID", help="Whose record; else the one we run in."),
    ] = "",
    no_retrieval: Annotated[
        bool, typer.Option("--no-retrieval", help="Take no candidates, for a comparison.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole record.")] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say what became of each candidate, and why.")
    ] = False,
) -> None:
    """Print the lessons that may bear on a prompt, within `recall.max_tokens`.

    As `recall.serve` would have it, and their text where that is off. Each call leaves a record.

    Example: rose recall "the integration tests cannot reach the database" --k 2
    """
    found = terminal.stores()
    store = found.first()
    holdings = [lessons.hold(one) for one in found.present()]
    settings = holdings[0].settings
    serving = settings.recall_serve if settings.recall_serve != "off" else "bodies"
    request = pipeline.Request(
        pipeline.query_of(prompt),
        Budget(settings.recall_max_tokens),
        cast("Serving", serving),
        k,
        tuple(scope or ()),
        "no-retrieval" if no_retrieval else "retrieval",
        named or os.environ.get("CLAUDE_CODE_SESSION_ID", ""),
    )
    record, problem = pipeline.recall(request, holdings, at=clock.now())
    _print(record, as_json=as_json, explain=explain)
    try:
        trace.append(store, record)
    except (RoseError, OSError) as error:
        terminal.say(f"[not logged] {error}")
    if problem:
        raise RoseError(problem)
    _say(record)


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
    if record.condition == "no-retrieval":
        terminal.say(f"{head}: retrieval was left out.")
    elif record.failure == "bad-request":
        terminal.say(f"{head}: the prompt holds no word that could be looked for.")
    elif record.failure == "nothing-eligible":
        where = " in that scope" if record.scope else ""
        count = page.count(int(str(record.store["lessons"])), "lesson")
        terminal.say(f"{head}: of {count} none{where} is about that.")
    else:
        terminal.say(f"{head}: {trace.account(record.as_json())}.")


def _explain(row: Row) -> None:
    """Print each candidate with its score, what gave it, and what became of it."""
    outcome = {one["node"]: f"served, {one['form']}" for one in row["admitted"]}
    outcome |= {one["node"]: f"{one['reason']}: {one['detail']}" for one in row["excluded"]}
    terminal.out()
    for one in row["candidates"]:
        said = outcome.get(one["node"], "not selected")
        gave = "".join(f" {name} {value:g}" for name, value in one.get("why", {}).items())
        head = f"{one['rank']:>2}. "
        line = f"{one['node']} ({one['score']:.2f}{':' if gave else ''}{gave}): {said}"
        page.paragraph(line, first=head, rest="    ")
