"""The console entry: `rose hook …` goes to the hook, everything else to the command line."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def main() -> int:
    """Run one command; the exit code."""
    if sys.argv[1:2] == ["hook"] and not _asks_for_help(sys.argv[2:]):
        from rose import prompt

        return prompt.main(sys.argv[2:], os.environ)
    try:
        _end_in_order()
        from rose.cli import app

        return app.run(sys.argv[1:])
    except KeyboardInterrupt:
        # Before the command line could say so: while its parts were loaded.
        sys.stderr.write("rose: interrupted.\n")
        return 130


def _end_in_order() -> None:
    """Take a request to end like Ctrl-C: what rose started ends with it, and is paid for."""
    import signal

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)


def _asks_for_help(words: Sequence[str]) -> bool:
    """Tell a person at a terminal from a host, which pipes an event in."""
    return words[:1] in (["--help"], ["-h"]) or (not words and os.isatty(0))


if __name__ == "__main__":
    sys.exit(main())
