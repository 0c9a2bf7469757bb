"""`rose search` and `rose evidence`: lessons about a query, and what one of them says of it."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rose import session as clock
from rose.cli import page, terminal
from rose.cli.app import app
from rose.selection import index_rows, lookups, search
from rose.selection.lookups import LookUp
from rose.store import lessons

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rose.selection.index_rows import Progress
    from rose.selection.search import Found, Passages
    from rose.store.lessons import Holding

MOST = 1_000
MOST_CHARS = 100_000

QueryText = Annotated[str, typer.Argument(metavar="QUERY", help="What to look for, in words.")]
JsonFlag = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
LogOption = Annotated[
    str,
    typer.Option(
        "--log", metavar="SESSION", help="Write a trace; in a session it is written unasked."
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
    holdings = _holdings()
    globs = scope or []
    with _bar() as progress:
        found = search.search(holdings, query, k=k, chars=chars, scope=globs, progress=progress)
    if as_json:
        terminal.emit([row.as_json() for row in found.rows])
    else:
        _print_rows(found)
    terminal.report(found.findings)
    if session := _session(log):
        shown, budget = lookups.of_search(found), {"k": k, "chars": chars}
        _log(session, holdings, LookUp("search", query, shown, budget, globs))


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
    holdings = _holdings()
    found = search.evidence(holdings, node, query, chars=chars, count=windows)
    if as_json:
        terminal.emit(found.as_json())
    else:
        _print_passages(found)
    if found.is_cut:
        terminal.say(f"{found.path} has more than a mebibyte; only its first was searched.")
    if session := _session(log):
        shown, budget = lookups.of_passages(found), {"chars": chars, "windows": windows}
        _log(session, holdings, LookUp("evidence", query, shown, budget))


def _session(log: str) -> str:
    """Return the session that a call is recorded for: the named one, else the one we run in."""
    return log or os.environ.get("CLAUDE_CODE_SESSION_ID", "")


def _holdings() -> list[Holding]:
    """Return the stores that apply here; raises NoStore."""
    found = terminal.stores()
    found.first()
    return [lessons.hold(store) for store in found.present()]


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
    for window in found.windows:
        page.paragraph(window.text, first=f"  {window.start}: ", rest="    ")


def _say_unusable() -> None:
    terminal.say("The query holds no word that could be looked for.")


def _log(session: str, holdings: Sequence[Holding], look: LookUp) -> None:
    """Write a trace; what keeps it from being written changes nothing else."""
    if reason := lookups.write(holdings, session, clock.now(), look):
        terminal.say(f"[not logged] {reason}")


@contextlib.contextmanager
def _bar() -> Iterator[Progress]:
    """Give what draws a progress bar on a terminal, for an index that takes a while to build."""
    drawn: Any = None

    def show(done: int, total: int) -> None:
        nonlocal drawn
        if total <= index_rows.BATCH or not sys.stderr.isatty():
            return
        if drawn is None:
            from rich.console import Console
            from rich.progress import Progress

            drawn = Progress(console=Console(stderr=True), transient=True)
            drawn.start()
            drawn.add_task("Indexing the lessons", total=total)
        drawn.update(drawn.task_ids[0], completed=done)

    try:
        yield show
    finally:
        if drawn is not None:
            drawn.stop()
