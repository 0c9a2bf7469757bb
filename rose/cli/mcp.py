"""`rose mcp`: search, open and explain as tools, for agent programs that give no shell."""

from __future__ import annotations

import os
import signal
from typing import Annotated

import typer

from rose import layout, session
from rose.cli import terminal
from rose.cli.app import app, version
from rose.errors import UsageError
from rose.mcp import server
from rose.mcp.desk import Desk


@app.command("mcp", short_help="Serve search, open and explain to an agent program, as tools.")
def serve(
    *,
    folder: Annotated[
        str, typer.Option("--store", metavar="DIR", help="The project's folder; else this one.")
    ] = "",
) -> None:
    """Serve the tools search, open and explain on standard streams (MCP), reading only.

    An agent program starts this itself. Without a store it starts all the same, and says so.

    Example: claude mcp add rose -- rose mcp
    """
    given = os.path.abspath(terminal.given_path(folder)) if folder else ""
    if given and not os.path.isdir(given):
        raise UsageError(f"--store {terminal.short(given)}: there is no such folder.")

    def find() -> layout.Stores:
        return layout.find(given, os.environ) if given else terminal.stores()

    if terminal.is_interactive():
        terminal.say("rose: waits for an agent program on standard input; Ctrl-C ends it.")
    _end_at_once()
    server.serve(Desk(find, session.now, terminal.session("")), version())


def _end_at_once() -> None:
    """Let a request to end be the end: a thread that waits for input would outlast an exception."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.default_int_handler:
            signal.signal(number, signal.SIG_DFL)
