"""What a prompt waits and pays for where `recall.selector` is `fork`, on the real programs.

    ROSE_E2E_CLAUDE=PATH ROSE_E2E_CODEX=PATH python benchmarks/recall_fork.py [RUNS]

The hook runs as a host runs it, against a loopback model that looks into one lesson, names another
and answers at once, or never (*late*). Wall clock of the hook, medians; requests and tokens of one
fork, as the scripted model counts them (four characters a token, without the program's own tools).
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

from harness import LAUNCH, ROOT

sys.path.insert(0, ROOT)

from rose import files
from rose.selection import trace
from tests.e2e import test_fork, world
from tests.stub_models import serving

PROMPT = test_fork.PROMPT
LIMIT_S = 60


@dataclass(frozen=True)
class Prompted:
    """One prompt: how long its hook took, what it served, what the model was asked."""

    wall_s: float
    row: dict[str, object]
    requests: int
    tokens: int


def _world(top: str, host: str, selector: str) -> world.World:
    made = world.a_world(os.path.join(top, f"{host}-{selector}"))
    world.teach(made)
    name, program = test_fork.PROGRAMS[host]
    os.symlink(program, os.path.join(made.top, "bin", name))
    for key, value in (("serve", "bodies"), ("selector", selector), ("timeout_s", "8")):
        made.rose("config", f"recall.{key}", value)
    made.rose("recall", PROMPT)
    made.extra["ROSE_BACKEND"] = "auto"
    return made


def _prompt(made: world.World, host: str, turns: list[object], session: str = "") -> Prompted:
    transcript = _transcript(made, session) if session else ""
    told = {"session_id": session or os.urandom(8).hex(), "transcript_path": transcript}
    payload = {**told, "cwd": made.repo, "prompt": PROMPT, "hook_event_name": "UserPromptSubmit"}
    with serving(turns) as stub:
        if host == "codex":
            made.configure_codex(stub.url)
        environ = made.codex_environ() if host == "codex" else made.claude_environ(stub.url)
        words = [sys.executable, "-IS", LAUNCH, "UserPromptSubmit", "--host", host]
        began = time.perf_counter()
        subprocess.run(
            words,
            input=json.dumps(payload).encode(),
            cwd=made.repo,
            env=environ,
            check=True,
            timeout=LIMIT_S,
            capture_output=True,
        )
        wall_s = time.perf_counter() - began
        requests = len(stub.main_bodies)
    spent = list(files.read_jsonl(made.store.spend)) if os.path.exists(made.store.spend) else []
    tokens = spent[-1][1]["input_tokens"] + spent[-1][1]["output_tokens"] if spent else 0
    return Prompted(wall_s, dict(trace.latest(made.store, 1)[0]), requests, tokens)


def _transcript(made: world.World, session: str) -> str:
    for folder, _, names in os.walk(made.home):
        for name in names:
            if session in name and name.endswith(".jsonl"):
                return os.path.join(folder, name)
    sys.exit(f"{session} left no transcript")


def _said(name: str, found: list[Prompted]) -> str:
    walls = [one.wall_s for one in found]
    back = sum(one.row["failure"] == "selection-failed" for one in found)
    last = found[-1]
    return (
        f"  {name:<20} {statistics.median(walls):5.2f} s (at most {max(walls):.2f})  "
        f"requests {last.requests}  tokens {last.tokens:,}  fell back {back} of {len(found)}"
    )


def measure(top: str, host: str, runs: int) -> None:
    plain, forked = (_world(top, host, name) for name in ("embedded", "fork"))
    turns = test_fork.answers(forked, host)[:2]
    begun = test_fork.run(forked, host, "Hello", ["Done."]).session
    late = [{"text": "late", "when": test_fork.ASKED, "wait": LIMIT_S / 2}]
    print(host)
    print(_said("embedded", [_prompt(plain, host, []) for _ in range(runs)]))
    print(_said("fork, first prompt", [_prompt(forked, host, turns) for _ in range(runs)]))
    print(_said("fork of the session", [_prompt(forked, host, turns, begun) for _ in range(runs)]))
    print(_said("fork, model late", [_prompt(forked, host, late) for _ in range(runs)]), flush=True)


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as top:
        for host, (_, program) in test_fork.PROGRAMS.items():
            if not os.access(program, os.X_OK):
                sys.exit(f"no program is named for {host}")
            measure(os.path.realpath(top), host, runs)


if __name__ == "__main__":
    main()
