"""The one place where the command line meets the environment: stores, streams, and paths."""

from __future__ import annotations

import json
import os
import sys
import textwrap
from typing import TYPE_CHECKING, TextIO

from rose import files, layout
from rose.errors import NoStore

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rose.findings import Finding

COLUMNS = 80
_CONTROLS = {
    code: f"\\x{code:02x}" for code in (*range(32), *range(0x7F, 0xA0)) if chr(code) not in "\t\n"
}


def stores() -> layout.Stores:
    """Return the stores that apply in the working directory."""
    try:
        return layout.find(os.getcwd(), os.environ)
    except FileNotFoundError:
        return layout.Stores(None, None, "the working directory is gone.")


def writable(*, home: bool) -> layout.Store:
    """Return the store that a command writes to; raises NoStore."""
    found = stores()
    return home_of(found) if home else found.first()


def home_of(found: layout.Stores) -> layout.Store:
    """Return the home store; raises NoStore."""
    if found.home is None:
        raise NoStore("No home store. Run `rose init --home`.")
    return found.home


def session(named: str) -> str:
    """Return the session that is meant: the named one, else the one we run in, else none."""
    return named or os.environ.get("CLAUDE_CODE_SESSION_ID", "")


def open_streams() -> None:
    """Let the streams that whoever started us closed lead nowhere."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - for good


def flush() -> None:
    """Print what is left of the result; raises OSError where nobody takes it."""
    sys.stdout.flush()


def settle() -> None:
    """Print what is left of the result, or drop it where nobody takes it."""
    try:
        flush()
    except OSError:
        _drop(sys.stdout)


def _drop(file: TextIO) -> None:
    """Lead a stream nowhere, so that what it still holds does not fail again at the exit."""
    null = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(null, file.fileno())
    finally:
        os.close(null)


def emit(value: object) -> None:
    """Print a result as JSON, in ASCII where the terminal or the text asks for it."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    # Lone surrogates, from names and torn files, can only be printed as escapes.
    if not _speaks_utf8(sys.stdout) or any("\ud800" <= char <= "\udfff" for char in text):
        text = json.dumps(value, indent=2)
    sys.stdout.write(text + "\n")


def pour(data: bytes) -> None:
    """Print bytes as they are."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def read_in() -> bytes:
    """Return all that stands on standard input."""
    return sys.stdin.buffer.read()


def out(text: str = "") -> None:
    """Print a line of the result to standard output."""
    _write(sys.stdout, text)


def say(text: str = "") -> None:
    """Print words about the result to standard error, after the result so far.

    A terminal gets them wrapped between words; anything else gets them as they are, so that a
    finding is one line for a program.
    """
    flush()
    try:
        for line in text.split("\n"):
            _write(sys.stderr, _wrapped(line, columns(sys.stderr)))
        sys.stderr.flush()
    except OSError:
        # Nobody can be told, and what was asked for goes on.
        _drop(sys.stderr)


def report(findings: Iterable[Finding], *, refused: bool = False) -> None:
    """Print findings to standard error, one a line.

    Where something was `refused`, its errors stopped it; without an error all of them did.
    """
    listed = list(findings)
    has_errors = any(finding.severity == "error" for finding in listed)
    for finding in listed:
        stopped = refused and (finding.severity == "error" or not has_errors)
        say(f"{'refused' if stopped else 'warning'}: {finding.line()}")


def columns(file: TextIO) -> int | None:
    """Return how many columns a terminal has, None for what is none."""
    if not file.isatty():
        return None
    try:
        return os.get_terminal_size(file.fileno()).columns or COLUMNS
    except OSError:
        return COLUMNS


def _wrapped(line: str, width: int | None) -> str:
    """Return a line in as many as a width needs; what is indented is laid out already."""
    if width is None or len(line) <= width or line[:1].isspace():
        return line
    parts = textwrap.wrap(
        line, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(parts)


def _write(file: TextIO, text: str) -> None:
    encoding = file.encoding or "ascii"
    # Text from files may hold what the terminal cannot show (LANG=C, lone surrogates), or what
    # it would obey.
    shown = text.translate(_CONTROLS).encode(encoding, "backslashreplace").decode(encoding)
    file.write(shown + "\n")


def _speaks_utf8(file: TextIO) -> bool:
    return (file.encoding or "").lower().replace("-", "") == "utf8"


def refresh(found: layout.Stores) -> None:
    """Bring index and layer up to date after a change; a failure is said, the change holds."""
    from rose import refresh as refreshing

    made = refreshing.everything(found)
    if not made["written"]:
        say(f"rose: done, but the derived files are not up to date: {made['reason']}")


def is_interactive() -> bool:
    """Tell whether a person can answer a question."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def ask(question: str) -> bool:
    """Ask a yes-or-no question on the terminal; anything but yes is no."""
    sys.stderr.write(question + " [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def short(path: str) -> str:
    """Return a path as a person reads it: relative below the working directory, `~` below HOME."""
    for base, prefix in ((cwd(), ""), (os.environ.get("HOME", ""), "~/")):
        # Below the root everything is, and no path is shorter without its slash.
        if base.strip(os.sep) and files.is_below(path, base):
            return prefix + os.path.relpath(path, base)
    return path


def cwd() -> str:
    """Return the working directory, empty where it is gone."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return ""


def given_path(word: str) -> str:
    """Return the path that an argument names, in the form in which the system takes it."""
    return os.fsdecode(word.encode("utf-8", "surrogateescape"))
