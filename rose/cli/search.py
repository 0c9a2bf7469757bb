"""`rose search` and `rose evidence`: lessons about a query, and what one of them says of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from rose import session as clock
from rose.cli import page, progress, terminal
from rose.cli.app import app
from rose.selection import index_rows, lookups, search
from rose.selection.lookups import LookUp
from rose.store import lessons

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rose.selection.search import Found, Passages
    from rose.store.lessons import Holding

MOST = 1_000
MOST_CHARS = 100_000

QueryText = Annotated[str, typer.Argument(metavar="QUERY", help="What to look for, in words.")]
JsonFlag = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
LogOption = Annotated[
    str,
    typer.Option(
        "--log",
        "--session",
        metavar="SESSION",
        help="Write a trace; in a session it is written unasked.",
    ),
]


@app.command("search")
def search_lessons(
    *,
    query: QueryText,
    k: Annotated[int, typer.Option("--k", min=1, max=MOST, help="How many lessons.")] = search.K,
    chars: Annotated[
        int, typer.Option("--chars", min=1, max=MOST_CHARS, help="How much is shown of each.")
    ] = search.CHARS,
    scope: Annotated[
        list[str] | None,
        typer.Option("--scope", metavar="GLOB", help="Only these lessons; may be repeated."),
    ] = None,
    as_json: JsonFlag = False,
    log: LogOption = "",
) -> None:
    """Find the lessons that are most about a query.

    Example: rose search "integration tests database" --scope "nodes/testing/**"
    """
    holdings = lessons.hold_all(terminal.stores())
    globs = scope or []
    with progress.bar("Indexing the lessons", least=index_rows.BATCH) as show:
        found = search.search(holdings, query, k=k, chars=chars, scope=globs, progress=show)
    # Before it is printed: who reads it may hang up in the middle.
    if session := terminal.session(log):
        shown, budget = lookups.of_search(found), {"k": k, "chars": chars}
        _log(session, holdings, LookUp("search", query, shown, budget, globs))
    if as_json:
        terminal.emit([row.as_json() for row in found.rows])
    else:
        _print_rows(found)
    terminal.report(found.findings)


@app.command("evidence", short_help="Show what one lesson says about a query.")
def show_evidence(
    *,
    node: Annotated[str, typer.Argument(metavar="NODE", help="A lesson's id or path.")],
    query: QueryText,
    chars: Annotated[
        int, typer.Option("--chars", min=1, max=MOST_CHARS, help="How wide a passage may be.")
    ] = search.EVIDENCE_CHARS,
    windows: Annotated[
        int, typer.Option("--windows", min=1, max=MOST, help="How many passages.")
    ] = search.WINDOWS,
    as_json: JsonFlag = False,
    log: LogOption = "",
) -> None:
    """Show the passages of one lesson that say most about a query.

    Example: rose evidence testing/integration-db "which port"
    """
    holdings = lessons.hold_all(terminal.stores())
    found = search.evidence(holdings, node, query, chars=chars, count=windows)
    if session := terminal.session(log):
        shown, budget = lookups.of_passages(found), {"chars": chars, "windows": windows}
        _log(session, holdings, LookUp("evidence", query, shown, budget))
    if as_json:
        terminal.emit(found.as_json())
    else:
        _print_passages(found)
    if found.is_cut:
        terminal.say(f"{found.path} has more than a mebibyte; only its first was searched.")


def _print_rows(found: Found) -> None:
    if not found.terms:
        _say_unusable()
    elif not found.rows:
        terminal.say("No lesson is about that.")
    for number, row in enumerate(found.rows, 1):
        first = f"{number}. "
        rest = " " * len(first)
        page.paragraph(f"{row.node} - {row.title}", first=first, rest=rest)
        page.paragraph(f"{row.path} ({row.score:.2f})", first=rest, rest=rest)
        page.paragraph(row.window.text, first=rest, rest=rest)


def _print_passages(found: Passages) -> None:
    if not found.terms:
        _say_unusable()
    elif not found.windows:
        where = " in its first mebibyte" if found.is_cut else ""
        terminal.say(f"{found.node} says nothing about that{where}.")
    else:
        terminal.out(found.path)
    for place, said in found.passages():
        page.paragraph(said, first=f"  {place}: ", rest="    ")


def _say_unusable() -> None:
    terminal.say(f"The query {search.NO_WORD}.")


def _log(session: str, holdings: Sequence[Holding], look: LookUp) -> None:
    """Write a trace; what keeps it from being written changes nothing else."""
    if reason := lookups.write(holdings, session, clock.now(), look):
        terminal.say(f"[not logged] {reason}")
