"""What the benchmarks share: CPU of whole child processes, and stores of any size."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, ROOT)
LAUNCH = os.path.join(ROOT, "rose", "launch.py")
BARE = [sys.executable, "-c", "pass"]


def cpu_s(command: list[str], stdin: bytes = b"", cwd: str = ROOT) -> float:
    """Return the user and system CPU of one child process, in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, input=stdin, stdout=subprocess.DEVNULL, cwd=cwd, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)


def alternate(runs: int, **commands) -> dict[str, float]:
    """Run some callables in alternation and return the median of what each returned."""
    seen: dict[str, list[float]] = {name: [] for name in commands}
    for number in range(runs):
        for name, run in commands.items():
            seen[name].append(run(number))
    return {name: statistics.median(values) for name, values in seen.items()}


def a_record(store, sessions: int, rules: int) -> None:
    """Write a ledger of so many sessions, each with a few features and one used lesson."""
    from rose import files
    from rose.routing import cases, ledger

    path = os.path.join(store.ledger("local"), ledger.writer_name(store) + ".jsonl")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as stream:
        for number in range(sessions):
            rule = number * 7 % max(rules, 1)
            case = cases.Case(
                session=f"s{number}",
                n=number + 1,
                rows=100,
                at="2026-11-30T00:00:00Z",
                host="claude-code",
                task=f"work on word{rule} and word{number % 97} once more " * 3,
                kinds=(f"word:word{rule}", f"word:word{number % 97}", "command:pytest"),
                sent=tuple(f"r_{n:06x}" for n in range(25)),
                delivered=tuple(f"r_{n:06x}" for n in range(25)),
                used=(f"area{rule % 100}/lesson{rule % 100}",),
            )
            stream.write(files.dump_json({**cases.line_of(case), "n": number + 1}) + "\n")


def a_store(base: str, rules: int, lessons: int, sessions: int = 0):
    """Make a store with so many rules, lessons and recorded sessions, compiled, and return it."""
    from rose import layout, refresh, trust, yamltext

    store = layout.project_store(os.path.realpath(base))
    os.makedirs(os.environ["HOME"], exist_ok=True)
    os.makedirs(store.routing, exist_ok=True)
    for number in range(lessons):
        folder = os.path.join(base, "nodes", f"area{number % 100}")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, f"lesson{number}.md"), "w") as stream:
            stream.write(f"# Lesson {number}\n\nUse `tool{number} --flag{number}` there.\n")
    for number in range(rules):
        lesson = number % max(lessons, 1)
        fields = {
            "id": f"r_{number:06x}",
            "when": f"the task mentions `word{number}`",
            "then": f"read nodes/area{lesson % 100}/lesson{lesson}.md",
            "match": [f"word:word{number}"],
        }
        with open(os.path.join(store.routing, f"r_{number:06x}.md"), "w") as stream:
            stream.write(f"---\n{yamltext.dump(fields)}---\n")
    a_record(store, sessions, rules)
    refresh.everything(layout.Stores(store, None, ""))
    trust.add(store, os.environ)
    return store
