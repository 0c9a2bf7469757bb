"""`rose doctor`: what is wired, what is broken, and what to do about it."""

from __future__ import annotations

import os
import sys
import time
from typing import Annotated

import typer

from rose.cli import page, terminal
from rose.cli.app import app
from rose.report import health
from rose.report.diagnosis import Around

INDENT = " " * 20


@app.command("doctor", short_help="Say what is wired, what is broken, and how to mend it.")
def doctor(
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Look at everything rose needs, and say what is broken and how to mend it.

    Exits with 1 where something is broken.

    Example: rose doctor --json
    """
    around = Around(
        stores=terminal.stores(),
        environ=os.environ,
        cwd=terminal.cwd(),
        python=sys.executable,
        now=time.time(),
        short=terminal.short,
    )
    checks = list(health.checks(around))
    problems = sum(check.state == "problem" for check in checks)
    if as_json:
        terminal.emit({"problems": problems, "checks": [check.as_json() for check in checks]})
    else:
        for check in checks:
            head = f"{check.state:<8} {check.section:<10} "
            page.paragraph(check.text, first=head, rest=INDENT)
            if check.repair:
                page.paragraph(check.repair, first=INDENT, rest=INDENT)
        terminal.say("No problems." if not problems else f"Problems: {problems}.")
    if problems:
        raise typer.Exit(1)
