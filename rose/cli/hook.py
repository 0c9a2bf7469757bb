"""`rose hook` as the list of commands shows it; the events themselves go to `prompt`."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from rose import prompt
from rose.cli import terminal
from rose.cli.app import app
from rose.hosts import wire


@app.command("hook", short_help="Answer one event of a host (programs call this).")
def hook(
    *,
    context: typer.Context,
    event: Annotated[
        str,
        typer.Argument(
            metavar="EVENT", help=f"The host's name of it, or {', '.join(wire.EVENTS)}."
        ),
    ] = "",
    host: Annotated[
        str, typer.Option("--host", help=f"Who asks: {' or '.join(wire.HOSTS)}.")
    ] = wire.HOSTS[0],
    if_trusted: Annotated[
        bool,
        typer.Option(
            prompt.IF_TRUSTED, help="Pass over a store that came with a clone until `rose trust`."
        ),
    ] = False,
) -> None:
    """Answer one event of a host, whose payload comes on standard input. Always exits with 0.

    Hosts are better given the faster form, which `rose install` writes.

    Example: rose hook UserPromptSubmit --host claude-code
    """
    if not event:
        terminal.out(context.get_help())
        return
    asks = [prompt.IF_TRUSTED] if if_trusted else []
    prompt.main([event, "--host", host, *asks], os.environ)
