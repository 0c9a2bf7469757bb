"""How long and how much memory a reflection on a huge transcript takes.

Writes a transcript of 300 MB (prompts, calls, results of 170 KB, base64 lines of 20 MB, torn
lines) and a store of 1,000 lessons to a temporary folder, then reflects on it in a child process.

    python benchmarks/transcript.py [MEGABYTES]
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time

from harness import ROOT

LESSONS = 1_000
SESSION = "5e551011-0000-4000-8000-000000000300"
CHILD = """
import resource, sys, time
sys.path.insert(0, {root!r})
from rose import layout
from rose.reflection import reflect
stores = layout.Stores(layout.project_store({base!r}), None, "")
start = time.perf_counter()
outcome = reflect.reflect_on(stores, {path!r}, at="2026-11-30T12:00:00Z")
seconds = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
facts = outcome.facts
print(f"{{seconds:.3f}} {{peak:.1f}} {{facts.rows}} {{len(facts.opened)}} {{len(facts.used)}}")
"""


def lesson(number: int) -> str:
    lines = "\n".join(f"Lesson {number} says line {line} of its own text." for line in range(30))
    command = f"tool-{number} --option-{number} src/part{number}/x.py"
    return f"# Lesson {number}\n\nRun `{command}`.\n{lines}\n"


def a_store(base: str) -> None:
    os.makedirs(os.path.join(base, ".rose", "routing"))
    os.makedirs(os.path.join(base, "nodes"))
    for number in range(LESSONS):
        with open(os.path.join(base, "nodes", f"n{number}.md"), "w", encoding="utf-8") as stream:
            stream.write(lesson(number))


def rows(base: str, randomly: random.Random):
    """Yield the lines of a transcript without end."""
    yield row(base, 0, "user", "Run the long migration of the billing tables")
    number = 0
    words = [f"word{n}" for n in range(5_000)]
    while True:
        number += 1
        if number % 50 == 0:
            at = number // 50 % LESSONS
            call = {"name": "Read", "input": {"file_path": f"{base}/nodes/n{at}.md"}}
            result = lesson(at)
        else:
            call = {
                "name": "Bash",
                "input": {"command": f"make step{number} && cat out/{number}.log"},
            }
            if number % 50 == 7:
                call["input"]["command"] = f"tool-{number // 50 % LESSONS} --all"
            result = "\n".join(" ".join(randomly.choices(words, k=12)) for _ in range(1_500))
        block = {"type": "tool_use", "id": f"t{number}", **call}
        yield row(base, number, "assistant", [block])
        done = {"type": "tool_result", "tool_use_id": f"t{number}", "content": result}
        yield row(base, number, "user", [done])
        if number % 97 == 0:
            yield '{"type":"user","message":{"ro'
        if number % 400 == 0:
            image = {"type": "base64", "data": "iVBORw0K" * 2_600_000}
            yield row(base, number, "user", [{"type": "image", "source": image}])


def row(base: str, number: int, kind: str, content: object) -> str:
    stamp = (
        f"2026-11-30T{10 + number // 3600 % 13:02d}:{number // 60 % 60:02d}:{number % 60:02d}.000Z"
    )
    return json.dumps(
        {
            "type": kind,
            "uuid": f"{number:08d}-{kind}-{len(str(content))}",
            "timestamp": stamp,
            "cwd": base,
            "sessionId": SESSION,
            "version": "2.1.332",
            "message": {"role": kind, "content": content},
        }
    )


def write(path: str, base: str, megabytes: int) -> float:
    size = 0
    with open(path, "w", encoding="utf-8") as stream:
        for line in rows(base, random.Random(1)):
            size += stream.write(line + "\n")
            if size >= megabytes * 1_000_000:
                return size / 1_000_000
    return 0.0


def main() -> None:
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        base = os.path.join(os.path.realpath(folder), "repo")
        a_store(base)
        path = os.path.join(folder, f"{SESSION}.jsonl")
        size = write(path, base, megabytes)
        code = CHILD.format(root=ROOT, base=base, path=path)
        start = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        whole = time.perf_counter() - start
    seconds, peak, count, opened, used = done.stdout.split()
    print(f"transcript   {size:8.1f} MB, {count} rows, {LESSONS} lessons in the store")
    print(f"observed     {opened} lessons opened, {used} used")
    speed = size / float(seconds)
    print(f"reflection   {float(seconds):8.1f} s, {speed:.1f} MB/s ({whole:.1f} s in all)")
    print(f"peak memory  {float(peak):8.1f} MB (bound: 512)")


if __name__ == "__main__":
    main()
