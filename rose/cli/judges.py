"""Who judges, as a command line and the settings name it, and what its options are."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from rose.backends import options, spend
from rose.backends.options import Options
from rose.cli import terminal
from rose.config import Settings
from rose.errors import NoStore, UsageError
from rose.selection import judge_choice, judge_local
from rose.selection.filter import THRESHOLD
from rose.selection.judge import JudgeFailure
from rose.selection.judge_command import CommandJudge
from rose.selection.judged import Judging

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rose.layout import Stores
    from rose.selection.judge import Judge, Mode


def share(value: float | None) -> float | None:
    """Return a share; a range of typer's own would let NaN through, which keeps nothing."""
    if value is not None and not 0 <= value <= 1:
        raise typer.BadParameter(f"{value:g} is not from 0 to 1.")
    return value


Threshold = Annotated[
    float,
    typer.Option(metavar="T", callback=share, help="The least score that is kept, 0 to 1."),
]
Rerank = Annotated[bool, typer.Option("--rerank", help="A judge orders what was found.")]
Filter = Annotated[
    bool, typer.Option("--filter", help="A judge says what holds something to act on.")
]
Compress = Annotated[bool, typer.Option("--compress", help="A judge says which parts must stay.")]
Least = Annotated[
    float | None,
    typer.Option(
        "--threshold",
        metavar="T",
        callback=share,
        help=f"The least score that --filter and --compress keep; else {THRESHOLD}.",
    ),
]
Command = Annotated[
    str | None,
    typer.Option("--judge-cmd", metavar="CMD", help="A program that judges: docs/judges.md."),
]
Name = Annotated[
    str | None,
    typer.Option("--judge", metavar="NAME", help=f"Who judges: {judge_choice.NAMES_SAID}."),
]


def check(command: str | None, name: str | None) -> None:
    """Raise UsageError where no judge is meant by what was given."""
    if command is not None and name is not None:
        raise UsageError("--judge-cmd and --judge do not go together; give one of them.")
    if name is not None:
        judge_choice.check(name)


def asked(
    modes: Mapping[Mode, bool], threshold: float | None, command: str | None, name: str | None
) -> Judging | None:
    """Return what a judge is asked by recall, None where nothing is; raises UsageError.

    Where nobody can judge, the result says so: what was found is recorded all the same.
    """
    check(command, name)
    wanted = frozenset(mode for mode, is_on in modes.items() if is_on)
    if not wanted and (name is not None or command is not None):
        raise UsageError("Say what the judge is for: --rerank, --filter or --compress.")
    if threshold is not None and not wanted & {"filter", "compress"}:
        raise UsageError("--threshold is for --filter and --compress; give one of them.")
    if not wanted:
        return None
    least = THRESHOLD if threshold is None else threshold
    try:
        return Judging(wanted, named(command, name), least)
    except JudgeFailure as failure:
        return Judging(wanted, None, least, str(failure))


def named(command: str | None, name: str | None) -> Judge:
    """Return who judges; raises JudgeFailure where nobody can."""
    if name == judge_local.NAME:
        return judge_local.LocalJudge()
    cwd, stores = terminal.cwd(), terminal.stores()
    if command is not None:
        wait = spend.wait_of(_options(stores).settings)
        return CommandJudge(command, cwd=cwd, environ=os.environ, wait=wait)
    try:
        store = stores.first()
    except NoStore as error:
        raise JudgeFailure(f"No judge: {error} {judge_choice.REPAIR}") from error
    held = _options(stores)
    terminal.report(held.findings)
    backend = name or held.settings.reflection_backend
    purse = spend.Purse(store, held.settings, spend.wait_of(held.settings))
    return judge_choice.model(backend, held, os.environ, cwd=cwd, purse=purse)


def _options(stores: Stores) -> Options:
    """Return the settings that hold here, the defaults where there is no store."""
    return options.options_of(stores, os.environ) if stores.present() else Options(Settings())
