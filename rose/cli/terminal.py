"""The one place where the command line meets the environment: stores, streams, the clock."""

from __future__ import annotations

import json
import os
import sys
import time
from typing import TYPE_CHECKING, TextIO

from rose import layout
from rose.errors import NoStore

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rose.findings import Finding

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
    if not home:
        return found.first()
    if found.home is None:
        raise NoStore("No home store. Run `rose init --home`.")
    return found.home


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


def out(text: str = "") -> None:
    """Print a line of the result to standard output."""
    _write(sys.stdout, text)


def say(text: str = "") -> None:
    """Print words about the result to standard error."""
    _write(sys.stderr, text)


def report(findings: Iterable[Finding]) -> None:
    """Print findings to standard error, one a line."""
    for finding in findings:
        say(finding.line())


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
    for base, prefix in ((_cwd(), ""), (os.environ.get("HOME", ""), "~/")):
        if base and path.startswith(base.rstrip(os.sep) + os.sep):
            return prefix + os.path.relpath(path, base)
    return path


def _cwd() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:
        return ""


def now() -> str:
    """Return the time in UTC as records hold it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
