"""The command line's edge: every command registered, every error turned into an exit code."""

from __future__ import annotations

import io
import os
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
    "check": "check",
    "reflect": "reflect",
    "undo": "reflect",
    "history": "history",
    "add": "lessons",
    "show": "lessons",
    "list": "lessons",
    "archive": "lessons",
    "import": "import_",
    "search": "search",
    "evidence": "search",
    "recall": "recall",
    "reject": "reject",
    "rejected": "reject",
    "reconsider": "reject",
    "trace": "trace",
    "replay": "trace",
    "rerank": "judge",
    "filter": "judge",
    "compress": "judge",
    "eval": "evaluate",
    "config": "config",
    "doctor": "doctor",
    "trust": "trust",
    "off": "trust",
    "install": "install",
    "uninstall": "install",
    "hook": "hook",
    "mcp": "mcp",
}

app = typer.Typer(
    name="rose",
    no_args_is_help=True,
    add_completion=True,
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
        terminal.out(f"rose {version()}")
        raise typer.Exit


def version() -> str:
    """Return rose's own version."""
    from importlib import metadata

    try:
        return metadata.version("rose-router")
    except metadata.PackageNotFoundError:
        return "unknown (not installed)"


def run(arguments: Sequence[str]) -> int:
    """Run one command line; the exit code (docs/cli.md)."""
    words = [_decoded(word) for word in arguments]
    terminal.open_streams()
    _register(words)
    try:
        code = app(args=words, prog_name="rose", standalone_mode=False)
        # What is printed at last can fail too, and here somebody answers for it.
        terminal.flush()
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except SystemExit:
        # Typer's answer to a pipe whose reader has enough; nothing else here exits.
        return 0
    except Exception as error:  # noqa: BLE001 - the edge, where every error becomes a code
        return _code_of(error)
    if code == INTERRUPTED:
        # Typer says so by this code or by an exception, by version.
        terminal.settle()
        terminal.say("rose: interrupted.")
    return code if isinstance(code, int) else 0


def _decoded(word: str) -> str:
    """Return an argument as the UTF-8 that it is; LC_ALL=C hands it over as lone surrogates."""
    try:
        return os.fsencode(word).decode("utf-8")
    except ValueError:
        return word


def _code_of(error: Exception) -> int:
    """Say what went wrong in one sentence and return its exit code."""
    terminal.settle()
    if isinstance(error, UsageProblem):
        shown = io.StringIO()
        error.show(shown)
        terminal.say(shown.getvalue().rstrip("\n"))
        return int(error.exit_code)
    if isinstance(error, Refused):
        terminal.report(error.findings, refused=True)
        return error.exit_code
    if isinstance(error, RoseError):
        terminal.say(f"rose: {error}")
        return error.exit_code
    if isinstance(error, BrokenPipeError):
        # Whoever read our output has enough of it.
        return 0
    if isinstance(error, OSError):
        terminal.say(f"rose: {error.filename or 'input or output'}: {error.strerror or error}.")
        return 1
    import traceback

    terminal.say("".join(traceback.format_exception(error)).rstrip("\n"))
    terminal.say("rose: this is a bug in rose; nothing more was written.")
    return UNEXPECTED


def _register(arguments: Sequence[str]) -> None:
    """Import the module of the command that is called, or all of them for the list of commands."""
    called = COMMANDS.get(arguments[0]) if arguments else None
    for module in dict.fromkeys(COMMANDS.values()) if called is None else (called,):
        import_module(f"rose.cli.{module}")
