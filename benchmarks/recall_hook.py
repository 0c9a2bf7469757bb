"""What a prompt costs with `recall.serve` on, against the layer alone and the bare interpreter.

    python benchmarks/recall_hook.py [RUNS]

CPU of whole processes, alternated. *new*: a prompt of a session of its own, which is served lessons
of which some word was never served before; *known*: one that is served what another session was;
*held*: a prompt whose lessons the session holds. The index is made and fresh.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import sys
import tempfile

from harness import BARE, LAUNCH, a_store, alternate, cpu_s

from rose import files, layout, refresh
from rose.selection import index
from rose.store import lessons

SIZES = (100, 1_000, 10_000)
HOOK = [sys.executable, "-IS", LAUNCH, "UserPromptSubmit", "--host", "claude-code"]
WORDS = [f"word{number}" for number in range(5_000)]


def _store(base: str, count: int) -> layout.Store:
    """Return a store of so many lessons of 180 words, indexed."""
    store = a_store(base, 10, count)
    rng = random.Random(1)
    for folder, _, names in os.walk(os.path.join(base, "nodes")):
        for name in names:
            with open(os.path.join(folder, name), "a", encoding="utf-8") as stream:
                for _ in range(15):
                    stream.write(" ".join(rng.choices(WORDS, k=12)) + "\n")
    return store


def _set(store: layout.Store, serve: str) -> None:
    files.replace(store.config, f"recall:\n  serve: {serve}\n")
    refresh.everything(layout.Stores(store, None, ""))


def measure(count: int, runs: int) -> None:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as base:
        os.environ["HOME"] = os.path.join(base, "home")
        store = _store(os.path.join(base, "repo"), count)
        rng = random.Random(2)

        def hook(name: str, prompt: str) -> float:
            payload = {"session_id": name, "cwd": store.base, "prompt": prompt}
            return cpu_s(HOOK, json.dumps(payload).encode(), store.base)

        def some_words() -> str:
            return " ".join(rng.choices(WORDS, k=8))

        _set(store, "off")
        alone = alternate(
            runs,
            bare=lambda _: cpu_s(BARE),
            layer=lambda number: hook(f"l{number}", some_words()),
        )
        _set(store, "bodies")
        with contextlib.closing(index.open_index([lessons.hold(store)])):
            same = some_words()
        hook("same", same)
        on = alternate(
            runs,
            new=lambda number: hook(f"n{number}", some_words()),
            known=lambda number: hook(f"k{number}", same),
            held=lambda _: hook("same", same),
        )
        late = sum("deadline" in str(line) for _, line in files.read_jsonl(store.log))
        told = " ".join(f"{name} {s * 1000:6.1f} ms" for name, s in {**alone, **on}.items())
        print(f"{count:6} lessons  {told}  past the deadline {late}", flush=True)


def main() -> None:
    for count in SIZES:
        measure(count, int(sys.argv[1]) if len(sys.argv) > 1 else 15)


if __name__ == "__main__":
    main()
