"""`rose reflect --all`: every session of the project, oldest first.

Each is recorded by itself, so a run that was interrupted goes on where it stopped when it is
started again. Words go to stderr, and on a terminal there is a progress bar.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from rose import session as clock
from rose.cli import progress, reflectpage, terminal
from rose.errors import RoseError
from rose.reflection import find, reflect, worker
from rose.reflection.ask import Unanswered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rose.layout import Stores
    from rose.reflection.ask import Reflector


def run(
    stores: Stores,
    homes: find.Homes,
    reflector: Reflector | None,
    *,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Reflect on every session; a broken one stops no other, a spent limit stops the run."""
    outcomes: list[reflect.Outcome] = []
    failures: list[worker.Failure] = []
    found = find.all_transcripts(stores.first().base, homes)
    with _progress(len(found), is_shown=not as_json) as advance:
        for number, (path, host) in enumerate(found, 1):
            try:
                outcome = reflect.reflect_on(
                    stores, path, at=clock.now(), host=host, dry_run=dry_run, reflector=reflector
                )
            except RoseError as error:
                failures.append(worker.Failure(path, str(error)))
                line = f"failed: {error}"
                if isinstance(error, Unanswered) and error.asked.kind == "spent":
                    advance(number, f"{line} The same command goes on from here.")
                    break
            else:
                outcomes.append(outcome)
                line = reflectpage.in_one_line(outcome)
            advance(number, line)
    if not as_json and not found:
        terminal.out("No session of this project was found.")
    if as_json:
        summary = worker.Summary(tuple(outcomes), tuple(failures))
        terminal.emit(reflectpage.summary_json(summary))
    if failures:
        raise typer.Exit(1)


@contextmanager
def _progress(total: int, *, is_shown: bool) -> Iterator[Callable[[int, str], None]]:
    """Yield what is called with each session that is done."""

    def plainly(number: int, line: str) -> None:
        if is_shown:
            reflectpage.progress(number, total, line)

    if not (is_shown and total and progress.can_draw()):
        yield plainly
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    # What goes to a file must not be drawn above the bar instead.
    is_shared = sys.stdout.isatty()
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, redirect_stdout=is_shared) as bar:
        task = bar.add_task("sessions", total=total)

        def beside_the_bar(number: int, line: str) -> None:
            plainly(number, line)
            bar.update(task, completed=number)

        yield beside_the_bar
