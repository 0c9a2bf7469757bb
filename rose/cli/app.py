"""The command line's edge: every command registered, every error turned into an exit code."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rose.cli import terminal
from rose.errors import RoseError
from rose.findings import Refused

if TYPE_CHECKING:
    from collections.abc import Sequence

UNEXPECTED = 3
INTERRUPTED = 130
# Typer carries its own copy of click or imports the package, by version: the class is the same.
UsageProblem: Any = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")

# Command -> its module. Only the module of the command that is called is loaded.
COMMANDS = {
    "demo": "demo",
    "init": "setup",
    "status": "status",
    "route": "route",
    "reflect": "reflect",
    "undo": "reflect",
    "add": "lessons",
    "show": "lessons",
    "list": "lessons",
    "archive": "lessons",
    "config": "config",
    "doctor": "doctor",
}

app = typer.Typer(
    name="rose",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="rose learns where the knowledge was: rules that tell a coding agent which lessons to "
    "read for which kind of work.\n\nFirst steps: `rose demo`, then `rose init` in your project.",
)


@app.callback(invoke_without_command=True)
def main(
    *,
    show_version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.")
    ] = False,
) -> None:
    if show_version:
        terminal.out(f"rose {_version()}")
        raise typer.Exit


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("rose-router")
    except PackageNotFoundError:
        return "unknown (not installed)"


def run(arguments: Sequence[str]) -> int:
    """Run one command line; the exit code (DESIGN 6)."""
    _register(arguments)
    try:
        code = app(args=list(arguments), prog_name="rose", standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        terminal.say("rose: interrupted.")
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the edge, where every error becomes a code
        return _code_of(error)
    return code if isinstance(code, int) else 0


def _code_of(error: Exception) -> int:
    """Say what went wrong in one sentence and return its exit code."""
    if isinstance(error, UsageProblem):
        error.show()
        return int(error.exit_code)
    if isinstance(error, Refused):
        terminal.report(error.findings)
        return error.exit_code
    if isinstance(error, RoseError):
        terminal.say(f"rose: {error}")
        return error.exit_code
    if isinstance(error, BrokenPipeError):
        # Whoever read our output has enough of it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    if isinstance(error, OSError):
        terminal.say(f"rose: {error.filename or 'input or output'}: {error.strerror or error}.")
        return 1
    import traceback

    traceback.print_exception(error)
    terminal.say("rose: this is a bug in rose; nothing more was written.")
    return UNEXPECTED


def _register(arguments: Sequence[str]) -> None:
    """Import the module of the command that is called, or all of them for the list of commands."""
    called = COMMANDS.get(arguments[0]) if arguments else None
    for module in dict.fromkeys(COMMANDS.values()) if called is None else (called,):
        import_module(f"rose.cli.{module}")
