"""The console entry: `rose hook …` goes to the hook, everything else to the command line."""

from __future__ import annotations

import os
import sys


def main() -> int:
    """Run one command; the exit code."""
    if sys.argv[1:2] == ["hook"]:
        from rose import prompt

        return prompt.main(sys.argv[2:], os.environ)
    from rose.cli import app

    return app.run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
