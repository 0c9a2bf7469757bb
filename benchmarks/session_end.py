"""The session-end hook: its CPU against the bare interpreter, and sessions whose hook is killed.

    python benchmarks/session_end.py [RUNS [SESSIONS]]

CPU of the whole process with the child that lets go of the worker, alternated; the worker itself
is waited for outside of what is measured. Then each session's hook is started in a process group
of its own that gets SIGKILL at a random moment, 0 to 1.5 s after its start (and once more 0 to
0.1 s, while it is at work at all); two hours later, as the files are dated, another session begins
in the project, and the ledger's lines are counted.
"""

from __future__ import annotations

import collections
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

from harness import BARE, LAUNCH, ROOT, a_store, alternate, cpu_s

TRANSCRIPT = os.path.join(ROOT, "rose", "demo", "transcripts", "work-1.jsonl")
HOST = "claude-code"
HOOK = [sys.executable, "-IS", LAUNCH]
MOST_S = 1.5
WAIT_S = 300


def a_session(base: str, name: str) -> dict[str, str]:
    """Write the transcript of one session and return its payload."""
    path = os.path.join(base, "transcripts", f"{name}.jsonl")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(TRANSCRIPT) as source, open(path, "w") as target:
        for number, line in enumerate(source):
            # Rows of one uuid are rows of one session, in however many files they stand.
            own = {"sessionId": name, "uuid": f"{name}-{number}"}
            target.write(json.dumps({**json.loads(line.replace("/repo", base)), **own}) + "\n")
    return {"session_id": name, "transcript_path": path, "cwd": base, "reason": "other"}


def drain(store) -> None:
    """Wait until no session is in the queue."""
    from rose.reflection import queue

    end = time.monotonic() + WAIT_S
    while queue.pending(store) and time.monotonic() < end:
        time.sleep(0.05)


def lines_of(store) -> collections.Counter:
    """Return how many lines of the ledger each session has."""
    found: collections.Counter = collections.Counter()
    for folder, _, names in os.walk(store.ledger("local")):
        for name in names:
            if name.endswith(".jsonl"):
                with open(os.path.join(folder, name)) as stream:
                    found.update(json.loads(line).get("session") for line in stream)
    return found


def ratio(store, runs: int) -> None:
    command = [*HOOK, "SessionEnd", "--host", HOST]

    def hook(number: int) -> float:
        payload = json.dumps(a_session(store.base, f"cpu{number}")).encode()
        spent = cpu_s(command, payload, store.base)
        drain(store)
        return spent

    found = alternate(runs, bare=lambda _: cpu_s(BARE), hook=hook)
    print(
        f"bare {found['bare'] * 1000:.1f} ms  session end {found['hook'] * 1000:.1f} ms  "
        f"ratio {found['hook'] / found['bare']:.2f}  (medians of {runs}, bar 2)",
        flush=True,
    )


def kill_one(payload: dict[str, str], moment_s: float) -> bool:
    """Run the hook, kill its process group at a moment, and tell whether it was still there."""
    words = [*HOOK, "SessionEnd", "--host", HOST]
    nothing = subprocess.DEVNULL
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=nothing, stderr=nothing, start_new_session=True
    ) as process:
        started = time.monotonic()
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(json.dumps(payload).encode())
            process.stdin.close()
        time.sleep(max(0.0, moment_s - (time.monotonic() - started)))
        was_there = process.poll() is None
        if was_there:
            os.killpg(process.pid, signal.SIGKILL)
    return was_there


def start(payload: dict[str, str]) -> None:
    """Run the hook of a session's start, which begins a session and picks up what was left."""
    words = [*HOOK, "SessionStart", "--host", HOST]
    told = json.dumps({**payload, "source": "startup"}).encode()
    subprocess.run(words, input=told, cwd=payload["cwd"], check=True)


def killed(store, sessions: int, most_s: float) -> None:
    chance = random.Random(7)
    moments = [chance.uniform(0, most_s) for _ in range(sessions)]
    payloads = [a_session(store.base, f"kill{most_s}-{number}") for number in range(sessions)]
    for payload in payloads:
        start(payload)
    begun = [entry.path for entry in os.scandir(store.begun)]
    for path in (*begun, *(payload["transcript_path"] for payload in payloads)):
        # Nothing was heard of it for two hours.
        os.utime(path, (time.time() - 7200,) * 2)
    with ThreadPoolExecutor(2) as pool:
        alive = list(pool.map(kill_one, payloads, moments))
    start({**payloads[0], "session_id": "next"})
    drain(store)
    counts = lines_of(store)
    tally = collections.Counter(counts[payload["session_id"]] for payload in payloads)
    lost = sorted(
        moment
        for payload, moment in zip(payloads, moments, strict=True)
        if not counts[payload["session_id"]]
    )
    print(
        f"{sessions} sessions, SIGKILL within {most_s} s ({sum(alive)} of them still running): "
        f"{tally[1]} reflected once, {tally[0]} not at all, "
        f"{sessions - tally[0] - tally[1]} more than once; "
        f"lost after {', '.join(f'{moment * 1000:.0f}' for moment in lost) or 'no'} ms",
        flush=True,
    )


def main() -> None:
    from rose import trust

    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    sessions = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as base:
        os.environ["HOME"] = os.path.join(base, "home")
        os.makedirs(os.environ["HOME"])
        store = a_store(os.path.join(os.path.realpath(base), "repo"), 100, 100)
        trust.add(store, os.environ)
        ratio(store, runs)
        killed(store, sessions, MOST_S)
        # The moments in which the hook is at work at all.
        killed(store, sessions, 0.1)


if __name__ == "__main__":
    main()
