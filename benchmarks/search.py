"""The search index against its bars, and against grep.

    python benchmarks/search.py cold|build|warm [COUNT]|bound DATA

cold   one query in a process of its own over 10,000 lessons, against the interpreter and against
       ripgrep over the files and grep over .rose/index.md
build  the index of 100,000 lesson files; then one lesson changed, against none, in alternation:
       looking at the lessons, the index, and the whole of `rose search`; peak memory
warm   queries over 10,000, 100,000 and 1,000,000 generated rows, or COUNT, in one process
bound  what reading only the rarest terms costs in recall; DATA is a folder of selection data sets
"""

from __future__ import annotations

import collections
import contextlib
import itertools
import json
import os
import random
import resource
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

from harness import BARE, ROOT, alternate, cpu_s

from rose import layout
from rose import text as texts
from rose.selection import index, index_file, index_rows, index_score
from rose.store import index as lines
from rose.store import lessons

CORE = [sys.executable, "-c", "import typer, yaml, tiktoken, git"]
VOCABULARY = [f"w{number:x}" for number in range(200_000)]
# Word frequencies as in text without its stop words.
WEIGHTS = list(itertools.accumulate(1 / (rank + 20) for rank in range(len(VOCABULARY))))


def some_words(rng: random.Random, count: int) -> list[str]:
    return rng.choices(VOCABULARY, cum_weights=WEIGHTS, k=count)


def a_lesson(number: int) -> tuple[str, str, list[str]]:
    """Return the path, the title and the words of a generated lesson, the same at every call."""
    rng = random.Random(number)
    words = some_words(rng, max(20, int(rng.gauss(120, 60))))
    return f"nodes/area{number % 100}/lesson{number}.md", " ".join(words[:5]), words


def a_query(rng: random.Random, number: int) -> list[str]:
    """Return a few words of a lesson, as a task that needs it would hold them."""
    words = a_lesson(number)[2]
    return rng.sample(words, rng.randint(3, 8))


def a_store(base: str, count: int) -> layout.Store:
    store = layout.project_store(os.path.realpath(base))
    os.makedirs(store.dot)
    for number in range(count):
        path, title, words = a_lesson(number)
        full = os.path.join(base, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        body = "\n".join(" ".join(words[at : at + 12]) for at in range(0, len(words), 12))
        with open(full, "w") as stream:
            stream.write(f"# {title}\n\n{body}\n")
    return store


def timed(run):
    wall, cpu = time.perf_counter(), time.process_time()
    result = run()
    return result, time.perf_counter() - wall, time.process_time() - cpu


def cold(count: int = 10_000, runs: int = 15) -> None:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as base:
        os.environ["HOME"] = os.path.join(base, "home")
        os.environ["PYTHONPATH"] = ROOT
        store = a_store(os.path.join(base, "repo"), count)
        lines.write(store, lessons.hold(store).shelf)
        rng = random.Random(1)
        wanted = [rng.randrange(count) for _ in range(runs)]
        queries = [a_query(rng, number) for number in wanted]
        search = [sys.executable, "-m", "rose", "search", "--json"]
        cpu_s([*search, "warm the caches"], cwd=store.base)
        time.sleep(0.1)
        cpu_s([*search, "warm the caches"], cwd=store.base)
        commands = {
            "bare": lambda _: BARE,
            "core": lambda _: CORE,
            "rose search": lambda n: [*search, " ".join(queries[n])],
            "grep -r": lambda n: ["grep", "-rciwE", "|".join(queries[n]), "nodes"],
            "ripgrep": lambda n: ["rg", "-iw", "--count-matches", "|".join(queries[n]), "nodes"],
            "grep index.md": lambda n: ["grep", "-iwE", "|".join(queries[n]), ".rose/index.md"],
        }
        if shutil.which("rg") is None:
            del commands["ripgrep"]
        run = {
            name: (lambda n, make=make: _measured(make(n), store.base))
            for name, make in commands.items()
        }
        took = alternate(runs, **run)
        for name, seconds in took.items():
            print(
                f"{name:14} {seconds * 1000:7.1f} ms CPU  {seconds / took['bare']:5.1f} x bare  "
                f"{seconds / took['core']:5.2f} x core"
            )
        for name, make in commands.items():
            if make(0) in (BARE, CORE):
                continue
            hits, sizes = [], []
            for n, number in enumerate(wanted):
                ranked = _ranked(name, make(n), store.base)
                sizes.append(len(ranked))
                hits.append(a_lesson(number)[0] in ranked[:5])
            print(
                f"{name:14} in the first five {sum(hits)}/{runs}  lines {statistics.median(sizes)}"
            )


def _measured(command: list[str], cwd: str) -> float:
    with contextlib.suppress(subprocess.CalledProcessError):
        return cpu_s(command, cwd=cwd)
    return 0.0


def _ranked(name: str, command: list[str], cwd: str) -> list[str]:
    """Return the paths that a program names, the most matching ones first."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    if name == "rose search":
        return [row["path"] for row in json.loads(done.stdout)]
    if name == "grep index.md":
        pattern = set(command[2].split("|"))
        found = [line.split(" - ") for line in done.stdout.splitlines()]
        counts = {path: sum(w in pattern for w in rest[0].split()) for path, *rest in found}
    else:
        pairs = (line.rsplit(":", 1) for line in done.stdout.splitlines())
        counts = {path: int(n) for path, n in pairs if int(n)}
    return sorted(counts, key=lambda path: -counts[path])


def build(count: int = 100_000) -> None:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as base:
        store = a_store(os.path.join(base, "repo"), count)
        holding, wall, cpu = timed(lambda: lessons.hold(store))
        print(f"{count:,} lessons: read and parsed in {wall:.1f} s (CPU {cpu:.1f} s)", flush=True)
        before = _peak()
        opened, wall, cpu = timed(lambda: index.open_index([holding]))
        opened.close()
        size = os.path.getsize(store.search) / 1e6
        print(f"index built in {wall:.1f} s (CPU {cpu:.1f} s), {size:.0f} MB on disk")
        print(f"peak memory {before:.0f} MB before, {_peak():.0f} MB after", flush=True)
        _changed_in_process(store)
        _changed_in_search(store, base)


def _change(store: layout.Store, turn: int, *, is_changed: bool) -> None:
    """Change one lesson or none; what was written lies a tick back, as a person's edit does."""
    if is_changed:
        with open(os.path.join(store.base, a_lesson(turn * 7)[0]), "a") as stream:
            stream.write(f"one more line {turn}\n")
    time.sleep(0.03)


def _changed_in_process(store: layout.Store, turns: int = 9) -> None:
    took = collections.defaultdict(list)
    for turn, is_changed in itertools.product(range(turns), (False, True)):
        _change(store, turn, is_changed=is_changed)
        holding, _, cpu = timed(lambda: lessons.hold(store))
        took["looking at all lessons", is_changed].append(cpu)
        parts, _, cpu = timed(lambda holding=holding: index_file.parts_of(holding.shelf.active()))
        took["telling what the index lacks", is_changed].append(cpu)
        opened, _, cpu = timed(lambda holding=holding: index.open_index([holding]))
        took["index open and up to date", is_changed].append(cpu)
        opened.close()
        del holding, parts, opened
    _print_changed(took, "CPU")


def _changed_in_search(store: layout.Store, base: str, turns: int = 9) -> None:
    os.environ["HOME"] = os.path.join(base, "home")
    os.environ["PYTHONPATH"] = ROOT
    command = [sys.executable, "-m", "rose", "search", "--json", "--", " ".join(a_lesson(1)[2][:5])]
    walls, cpus = collections.defaultdict(list), collections.defaultdict(list)
    for turn, is_changed in itertools.product(range(turns + 1), (False, True)):
        _change(store, turn + 1_000, is_changed=is_changed)
        cpu, wall, _ = timed(lambda: cpu_s(command, cwd=store.base))
        if turn:
            walls["whole rose search", is_changed].append(wall)
            cpus["whole rose search", is_changed].append(cpu)
    _print_changed(walls, "wall")
    _print_changed(cpus, "CPU")


def _print_changed(took: dict[tuple[str, bool], list[float]], unit: str) -> None:
    for name in dict.fromkeys(name for name, _ in took):
        none, one = (statistics.median(took[name, is_changed]) * 1000 for is_changed in (0, 1))
        pairs = zip(took[name, False], took[name, True], strict=True)
        more = statistics.median(one - none for none, one in pairs) * 1000
        print(
            f"{name:28} {unit}: no change {none:7.1f} ms, one changed {one:7.1f} ms, "
            f"{more:+.1f} ms ({one / none:.3f})",
            flush=True,
        )


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def warm(only: str = "", queries: int = 300) -> None:
    for count in [int(only)] if only else (10_000, 100_000, 1_000_000):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as base:
            path = os.path.join(base, "search.db")
            _, wall, _ = timed(lambda path=path, count=count: generate(path, count))
            connection = sqlite3.connect(path, isolation_level=None)
            volume = index_score.Volume(connection)
            _, load, _ = timed(lambda volume=volume: volume.load())
            rng = random.Random(2)
            wanted = [rng.randrange(count) for _ in range(queries)]
            walls, cpus, first = [], [], 0
            for number in wanted:
                terms = a_query(rng, number)
                found, took, cpu = timed(
                    lambda volume=volume, terms=terms: index_score.best([volume], [None], terms, 5)
                )
                walls.append(took * 1000)
                cpus.append(cpu * 1000)
                first += f"lesson{number}" in [name for name, _ in found]
            connection.close()
            print(
                f"{count:>9,} rows: built in {wall:.0f} s, {os.path.getsize(path) / 1e6:.0f} MB, "
                f"sizes loaded in {load * 1000:.0f} ms; p50 {_part(walls, 50):.1f} "
                f"p95 {_part(walls, 95):.1f} ms (CPU p95 {_part(cpus, 95):.1f} ms); "
                f"the lesson in the first five {first}/{queries}; peak memory {_peak():.0f} MB",
                flush=True,
            )


def generate(path: str, count: int) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = OFF")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA cache_size = -32000")
    index_rows.create(connection)
    for start in range(0, count, index_rows.BATCH):
        connection.execute("BEGIN")
        for number in range(start, min(count, start + index_rows.BATCH)):
            place, title, words = a_lesson(number)
            words = index_rows.words_of(title, " ".join(words))
            index_rows.put(connection, index_rows.Page(place, f"lesson{number}", "v", words))
        connection.execute("COMMIT")
    connection.close()


def _part(values: list[float], percent: int) -> float:
    return sorted(values)[min(len(values) - 1, len(values) * percent // 100)]


def _jsonl(path: str) -> list[dict]:
    with open(path, encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def bound(data: str) -> None:
    whole = index_score.MOST_POSTINGS
    for name in sorted(os.listdir(data)):
        rows = _jsonl(os.path.join(data, name, "lessons.jsonl"))
        episodes = _jsonl(os.path.join(data, name, "episodes.jsonl"))
        episodes = [episode for episode in episodes if episode["split"] == "train"]
        connection = sqlite3.connect(":memory:", isolation_level=None)
        index_rows.create(connection)
        for row in rows:
            title = f"{row['path'][6:-3]} {row['title']}"
            words = index_rows.words_of(title, f"{row['title']}\n{row['body']}")
            index_rows.put(connection, index_rows.Page(row["id"], row["id"], "v", words))
        volume = index_score.Volume(connection)
        for share in (None, 1.0, 0.5, 0.2, 0.1, 0.05, 0.02):
            index_score.MOST_POSTINGS = whole if share is None else int(share * len(rows))
            recalls = collections.defaultdict(list)
            for k in (3, 10):
                for episode in episodes:
                    terms = texts.words(episode["prompt"])
                    found = index_score.best([volume], [None], terms, k)
                    used = set(episode["used"])
                    if used:
                        got = sum(lesson in used for lesson, _ in found)
                        recalls[k].append(got / len(used))
            means = "  ".join(f"R@{k} {statistics.mean(recalls[k]):.4f}" for k in recalls)
            print(f"{name:9} postings read {share or 'all':>5} of the lessons  {means}", flush=True)
        connection.close()
    index_score.MOST_POSTINGS = whole


if __name__ == "__main__":
    parts = {"cold": cold, "build": build, "warm": warm, "bound": bound}
    parts[sys.argv[1]](*sys.argv[2:3])
