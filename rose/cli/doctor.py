"""`rose doctor`: what is wired, what is broken, and what to do about it."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Annotated

import typer

from rose import frontmatter
from rose.cli import page, terminal
from rose.cli.app import app
from rose.report import health
from rose.report.diagnosis import Around, Check

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

INDENT = " " * 20
MAX_RECOVERED = 3


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
        for check in _gathered(checks):
            head = f"{check.state:<8} {check.section:<10} "
            page.paragraph(check.text, first=head, rest=INDENT)
            if check.repair:
                page.paragraph(check.repair, first=INDENT, rest=INDENT)
        terminal.say("No problems." if not problems else f"Problems: {problems}.")
    if problems:
        raise typer.Exit(1)


def _gathered(checks: Sequence[Check]) -> Iterator[Check]:
    """Yield the checks, those on headers that were read all the same as one."""
    mild = [c for c in checks if c.finding is not None and c.finding.rule == frontmatter.RECOVERED]
    for check in checks:
        if check not in mild:
            yield check
        elif check is mild[0]:
            yield _recovered(
                check.section, [c.finding.where for c in mild if c.finding is not None]
            )


def _recovered(section: str, places: Sequence[str]) -> Check:
    more = len(places) - MAX_RECOVERED
    listed = ", ".join(places[:MAX_RECOVERED]) + (f" and {more} more" if more > 0 else "")
    repair = "`rose doctor --json` names each with what YAML finds there." if more > 0 else ""
    return Check(section, "note", f"{page.recovered(len(places))}: {listed}", repair)
