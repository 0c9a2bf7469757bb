"""`rose recall`: the lessons that may bear on a prompt, as a conversation would be given them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from rose import session as clock
from rose import text as texts
from rose.cli import judges, page, terminal
from rose.cli.app import app
from rose.errors import RoseError
from rose.selection import outcome, pipeline, requests, trace
from rose.store import lessons

if TYPE_CHECKING:
    from rose.layout import Store
    from rose.selection.judge import Mode
    from rose.selection.trace import Record, Row

MOST = 50
LEFT = "not-selected: the best {k} are taken"
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
    k: Annotated[int, typer.Option("--k", min=1, max=MOST, help="How many lessons.")] = requests.K,
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
    holdings = lessons.hold_all(terminal.stores())
    request = replace(
        requests.of(holdings, prompt, session=terminal.session(named), scope=scope or ()),
        k=k,
        condition="no-retrieval" if no_retrieval else "retrieval",
        judging=asked,
    )
    record, problem = pipeline.recall(request, holdings, at=clock.now())
    # Before it is printed: who reads it may hang up in the middle.
    _keep(holdings[0].store, record)
    _print(record, as_json=as_json, explain=explain)
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
    """Print each candidate with its score, what gave it, and what became of it.

    In the order in which they were taken, a judge's where one gave it; the number is the search's.
    """
    fates = outcome.of_lessons(row)
    judged = {one["node"]: one["why"] for one in row["selected"]}
    found = {one["node"]: one for one in row["candidates"]}
    if row["text"]:
        terminal.out()
    for node in dict.fromkeys([*filter(found.__contains__, judged), *found]):
        one = found[node]
        left = LEFT.format(k=row["budget"]["k"]) if judged else "not-selected"
        said = fates[node].said() if node in fates else left
        parts = {**one.get("why", {}), **judged.get(node, {})}
        told = {name: f"{value:.2f}" for name, value in parts.items()}
        gave = "".join(
            f" {name} {text}"
            for name, text in told.items()
            if float(text) or name in outcome.JUDGED
        )
        line = f"{node} ({one['score']:.2f}{':' if gave else ''}{gave}): {said}"
        page.paragraph(line, first=f"{one['rank']:>2}. ", rest="    ")
