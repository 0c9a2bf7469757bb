"""How long an import of the published skills and editor rules takes, and what of it is verbatim.

The 502 files of ../shared are laid out as in their repositories, and `rose import` is run on them
twice, each time as a process of its own.

    python benchmarks/import_skills.py [RUNS]
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

from harness import ROOT

DATA = os.path.join(ROOT, "..", "shared", "data", "skills")


def lay_out(base: str) -> dict[str, bytes]:
    """Write every row to its path below its repository, and return the bytes by path."""
    laid = {}
    for name in sorted(os.listdir(DATA)):
        with open(os.path.join(DATA, name), encoding="utf-8") as stream:
            for row in map(json.loads, stream):
                path = os.path.join(base, row["repo"].replace("/", "__"), row["path"])
                os.makedirs(os.path.dirname(path), exist_ok=True)
                laid[path] = row["text"].encode("utf-8")
                with open(path, "wb") as file:
                    file.write(laid[path])
    return laid


def rose(project: str, *words: str) -> dict[str, object]:
    command = [sys.executable, "-m", "rose", *words, "--json"]
    environ = {**os.environ, "PYTHONPATH": ROOT, "HOME": os.path.dirname(project)}
    done = subprocess.run(command, cwd=project, env=environ, capture_output=True, check=False)
    return json.loads(done.stdout)


def state(project: str) -> dict[str, int]:
    return {
        os.path.join(folder, name): os.stat(os.path.join(folder, name)).st_mtime_ns
        for folder, _, names in os.walk(project)
        for name in names
    }


def measure() -> tuple[float, float, float]:
    """Import twice into a new store, print what came of it, and return wall, CPU, second wall."""
    with tempfile.TemporaryDirectory() as base:
        laid = lay_out(os.path.join(base, "published"))
        project = os.path.join(base, "home", "project")
        os.makedirs(project)
        rose(project, "init")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.perf_counter()
        done = rose(project, "import", os.path.join(base, "published"))
        first = time.perf_counter() - start
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        verbatim = 0
        for file in done["files"]:
            with open(os.path.join(project, file["path"]), "rb") as stream:
                verbatim += stream.read() == laid[os.path.join(base, file["source"])]
        was = state(project)
        start = time.perf_counter()
        rose(project, "import", os.path.join(base, "published"))
        second = time.perf_counter() - start
        print(
            f"{len(done['files'])} of {len(laid)} in, {verbatim} verbatim, "
            f"{len(done['rules'])} rules, {done['everywhere']} for every file, "
            f"{len(done['findings'])} findings, second run changed "
            f"{'nothing' if state(project) == was else 'something'}"
        )
        return first, cpu, second


def main() -> None:
    runs = [measure() for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 3)]
    first, cpu, second = (statistics.median(values) for values in zip(*runs, strict=True))
    worst = max(run[0] for run in runs)
    print(f"first {first:.1f} s (at most {worst:.1f}), {cpu:.1f} s of CPU; second {second:.1f} s")


if __name__ == "__main__":
    main()
