"""A whole run of the real Claude Code with rose's hooks against one without, alternated.

    ROSE_E2E_CLAUDE=PATH python benchmarks/client.py [RUNS]

One prompt, one tool call, a loopback model that answers at once; wall clock and CPU of the client
with all that it waits for. The detached worker is waited for between two runs.
"""

from __future__ import annotations

import os
import resource
import statistics
import sys
import tempfile
import time

from harness import ROOT

sys.path.insert(0, ROOT)

from tests.e2e import world as worlds

CALL = {"tool": "Bash", "input": {"command": "true", "description": "Nothing"}}


def run(world: worlds.World) -> tuple[float, float]:
    """Return the wall clock and the CPU of one session, in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    done = world.claude("Run the integration tests", turns=[CALL])
    wall = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.code:
        sys.exit(done.err)
    world.wait_for_worker()
    return wall, (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    if not os.access(worlds.CLAUDE, os.X_OK):
        sys.exit("ROSE_E2E_CLAUDE names no program")
    found: dict[str, list[tuple[float, float]]] = {"without": [], "with": []}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as top:
        made = {name: worlds.a_world(os.path.join(top, name)) for name in found}
        for world in made.values():
            worlds.teach(world)
        made["with"].rose("install", "--host", "claude-code")
        # The first start of a client in a home writes files that later ones find.
        for world in made.values():
            run(world)
        for _ in range(runs):
            for name, world in made.items():
                found[name].append(run(world))
    for index, what in enumerate(("wall clock", "CPU")):
        bare, hooked = (statistics.median(r[index] for r in found[n]) for n in found)
        print(
            f"{what:<10} without {bare * 1000:.0f} ms  with {hooked * 1000:.0f} ms  "
            f"overhead {(hooked - bare) * 1000:+.0f} ms  ratio {hooked / bare:.2f}"
        )


if __name__ == "__main__":
    main()
