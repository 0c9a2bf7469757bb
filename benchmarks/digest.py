"""How long and how much memory a digest takes, and what of a session it keeps.

The three large real sessions of ../shared, against the lists that were made by hand
(tests/reflection/kept.json), and one written transcript of many megabytes beside 1,000 lessons.
Each runs in a child process; the time includes the loading of the vocabulary.

    python benchmarks/digest.py [MEGABYTES]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import tempfile

import transcript
from harness import ROOT

FOLDER = "claude/spotter"
TAR = os.path.join(ROOT, "..", "shared", "data", "transcripts", "transcripts.tar.gz")
BUDGETS = (24_000, 8_000, 4_000)
CHILD = """
import json, resource, sys, time
sys.path.insert(0, {root!r})
start = time.perf_counter()
from rose import layout
from rose.hosts import registry
from rose.reflection.digest import digest
from rose.store import lessons
held = [lessons.hold(layout.project_store({base!r}), cache=False)]
found = digest(registry.open_transcript({path!r}), held, max_tokens={most})
seconds = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps([seconds, peak, found.tokens, found.left_out, found.text]))
"""


def run(base: str, path: str, most: int):
    code = CHILD.format(root=ROOT, base=base, path=path, most=most)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def kept(text: str, hand) -> str:
    typed = sum(f"\n| {said}" in text for said in hand["typed"])
    fixed = 0
    for command, why, worked in hand["fixed"]:
        _, failed, rest = text.partition(f"failed: {command}")
        _, told, rest = rest.partition(why)
        fixed += bool(failed and told and worked in rest)
    return f"{typed}/{len(hand['typed'])} typed, {fixed}/{len(hand['fixed'])} fixed"


def real(folder: str) -> None:
    with open(os.path.join(ROOT, "tests", "reflection", "kept.json"), encoding="utf-8") as stream:
        hands = json.load(stream)
    with tarfile.open(TAR) as tar:
        tar.extractall(folder, filter="data")
    print("session   budget  tokens  left out  seconds  peak MB  kept of the list")
    for name, hand in hands.items():
        path = os.path.join(folder, FOLDER, f"{name}.jsonl")
        for most in BUDGETS:
            seconds, peak, count, left, text = run(os.path.join(folder, "repo"), path, most)
            print(
                f"{name[:8]} {most:7} {count:7} {left:9} {seconds:8.2f} {peak:8.0f}  "
                f"{kept(text, hand)}"
            )


def written(folder: str, megabytes: int) -> None:
    base = os.path.join(os.path.realpath(folder), "large")
    transcript.a_store(base)
    path = os.path.join(folder, "large.jsonl")
    size = transcript.write(path, base, megabytes)
    seconds, peak, count, left, _ = run(base, path, BUDGETS[0])
    print(
        f"{size:.0f} MB  {BUDGETS[0]:6} {count:7} {left:9} {seconds:8.2f} {peak:8.0f}  "
        f"{size / seconds:.0f} MB/s"
    )


def main() -> None:
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        if os.path.exists(TAR):
            real(folder)
        written(folder, megabytes)


if __name__ == "__main__":
    main()
