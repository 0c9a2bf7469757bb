"""Lays text out on a terminal of 80 columns: labelled rows and wrapped paragraphs.

Everything printed here may come from a file, so control characters are taken out first.
"""

from __future__ import annotations

import shlex
import sys
import textwrap
from typing import TYPE_CHECKING

from rose import text as texts
from rose.cli import terminal

if TYPE_CHECKING:
    from collections.abc import Iterable

WIDTH = 80
LABEL = 11
MAX_QUOTE = 300


def row(label: str, *lines: str) -> None:
    """Print a label and its lines, aligned; a row without lines prints nothing."""
    head = label.ljust(LABEL)
    for line in lines:
        # The rest of a rule's line stands under its text, not under its dash.
        hang = 2 if line.startswith("- ") else 0
        paragraph(line, first=head, rest=" " * (LABEL + hang))
        head = " " * LABEL


def paragraph(line: str, *, first: str, rest: str) -> None:
    """Print one line of text, wrapped between words."""
    clean = texts.clean_line(line)
    wrapped = textwrap.wrap(
        clean,
        WIDTH,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
    for part in wrapped or [first.rstrip()]:
        terminal.out(part)


def bet(line: str) -> None:
    """Print the routing line, on a terminal that is too narrow for it in two."""
    width = terminal.columns(sys.stdout)
    head, mark, rest = line.partition("  (")
    if width is None or len(line) <= width or not mark:
        terminal.out(line)
    else:
        row(head[:LABEL].rstrip(), head[LABEL:], mark.lstrip() + rest)


def items(lines: Iterable[str], indent: str = "  ") -> None:
    """Print each text as an indented paragraph."""
    for line in lines:
        paragraph(line, first=indent, rest=indent + "  ")


def quoted(text: str) -> str:
    """Return a quotation short enough to read."""
    clean = texts.clean_line(text)
    return f'"{clean}"' if len(clean) <= MAX_QUOTE else f'"{clean[: MAX_QUOTE - 1]}…"'


def count(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def recovered(number: int) -> str:
    """Return that so many headers are no YAML, and are read nevertheless."""
    if number == 1:
        return "1 header is no YAML, and is read line by line"
    return f"{number} headers are no YAML, and are read line by line"


def retry(session: str) -> str:
    """Return the command that tries a session again which the worker gave up."""
    return f"rose reflect --session {shlex.quote(texts.clean_line(session))}"


def undo_line(session: str) -> str:
    """Return the command that takes a session's reflection back."""
    return f"undo: rose undo {shlex.quote(texts.clean_line(session))}"
