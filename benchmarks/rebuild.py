"""What a stale stamp costs: one rule changed among many, and `rose route` over a hundred.

    python benchmarks/rebuild.py

CPU of whole processes. The changed rule gets a text that nobody has counted before.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time

from harness import BARE, LAUNCH, ROOT, a_store, alternate, cpu_s

HOOK = [sys.executable, "-IS", LAUNCH, "UserPromptSubmit", "--host", "claude-code"]


def _edit(store, number: int, text: str) -> None:
    path = os.path.join(store.routing, "r_000001.md")
    with open(path + ".tmp", "w") as stream:
        stream.write(
            f"---\nid: r_000001\nwhen: the task is number {number} {text}\n"
            f"then: read nodes/area1/lesson1.md\n---\n"
        )
    os.replace(path + ".tmp", path)


def _payload(store, name: str) -> bytes:
    return json.dumps({"session_id": name, "cwd": store.base, "prompt": "x"}).encode()


def rebuilds(rules: int, sessions: int, runs: int) -> None:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as base:
        os.environ["HOME"] = os.path.join(base, "home")
        store = a_store(os.path.join(base, "repo"), rules, 100, sessions)

        def stale(number: int) -> float:
            _edit(store, number, "жук 数据 " * (number % 5))
            return cpu_s(HOOK, _payload(store, f"s{number}"), store.base)

        found = alternate(runs, bare=lambda _: cpu_s(BARE), stale=stale)
        print(
            f"{rules:6} rules, {sessions:6} sessions, one rule changed: "
            f"{found['stale']:.3f} s of CPU a prompt",
            flush=True,
        )


def cold(rules: int) -> None:
    """Ten thousand rules that no cache knows: the first prompt must still answer in time."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as base:
        os.environ["HOME"] = os.path.join(base, "home")
        store = a_store(os.path.join(base, "repo"), rules, 100)
        for name in os.listdir(store.local):
            if name.endswith(".json") and name != "layer.json":
                os.unlink(os.path.join(store.local, name))
        with open(os.path.join(store.routing, "r_ffffff.md"), "w") as stream:
            stream.write("---\nid: r_ffffff\nwhen: made new\nthen: see nodes/\n---\n")
        for prompt in (1, 2, 3):
            start = time.perf_counter()
            done = subprocess.run(
                HOOK, input=_payload(store, f"p{prompt}"), capture_output=True, check=True
            )
            took = time.perf_counter() - start
            new = b"made new" in done.stdout
            print(
                f"{rules:6} rules, nothing cached, prompt {prompt}: {took:.2f} s, "
                f"{len(done.stdout)} bytes, {'the new' if new else 'the last'} layer",
                flush=True,
            )
            time.sleep(8)


def route(runs: int) -> None:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as base:
        os.environ["HOME"] = os.path.join(base, "home")
        os.environ["PYTHONPATH"] = ROOT
        store = a_store(os.path.join(base, "repo"), 100, 100)
        command = [sys.executable, "-m", "rose", "route"]
        found = alternate(
            runs,
            bare=lambda _: cpu_s(BARE),
            route=lambda _: cpu_s(command, cwd=store.base),
        )
        ratio = found["route"] / found["bare"]
        print(f"rose route, 100 rules: {found['route'] * 1000:.0f} ms, {ratio:.1f} x bare")


if __name__ == "__main__":
    rebuilds(1000, 0, 10)
    rebuilds(1000, 1000, 10)
    rebuilds(1000, 10_000, 5)
    rebuilds(10_000, 1000, 5)
    cold(10_000)
    route(10)
