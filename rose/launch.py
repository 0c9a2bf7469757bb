"""What hosts run, as `python -IS …/rose/launch.py EVENT --host HOST`.

A script is compiled at every start, so it holds only the way into the package
(docs/decisions/004). The path is appended: nothing in it may hide the standard library.
"""

from __future__ import annotations

import os
import sys

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] == "reflect":
        # The worker has its site packages, where another rose may lie: this one is meant.
        # The package is pinned by importing it from here alone; the rest is found as ever.
        others, sys.path[:] = sys.path[:], sys.path[-1:]
        __import__("rose")
        sys.path[:] = others
        from rose.__main__ import main

        sys.exit(main())
    from rose.prompt import main as answer

    # Nothing is buffered, so there is nothing to tear down in order (docs/measurements.md).
    os._exit(answer(sys.argv[1:], os.environ))
