"""The prompt hook as installed, stamp fresh, against the bare interpreter.

    python benchmarks/hook.py [RUNS]

CPU of the whole process, alternated; a new session a run, so that every run prints the layer.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile

from harness import BARE, LAUNCH, a_store, alternate, cpu_s

SIZES = ((10, 100), (100, 100), (1000, 100), (10_000, 100), (100, 10_000))


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    ratios = {}
    for rules, lessons in SIZES:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as base:
            os.environ["HOME"] = os.path.join(base, "home")
            store = a_store(os.path.join(base, "repo"), rules, lessons)
            command = [sys.executable, "-IS", LAUNCH, "UserPromptSubmit", "--host", "claude-code"]

            def hook(number: int, command=command, base=store.base) -> float:
                payload = {"session_id": f"s{number}", "cwd": base, "prompt": "run the tests"}
                return cpu_s(command, json.dumps(payload).encode(), base)

            found = alternate(runs, bare=lambda _: cpu_s(BARE), hook=hook)
            ratios[rules, lessons] = found["hook"] / found["bare"]
            print(
                f"{rules:6} rules {lessons:6} lessons  bare {found['bare'] * 1000:5.1f} ms  "
                f"hook {found['hook'] * 1000:5.1f} ms  ratio {ratios[rules, lessons]:.2f}",
                flush=True,
            )
    print(f"largest over smallest {max(ratios.values()) / min(ratios.values()):.2f}")


if __name__ == "__main__":
    main()
