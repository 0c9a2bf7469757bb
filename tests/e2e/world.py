"""A throwaway project with homes of its own, in which the real agent programs are run."""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rose import files, layout
from rose.reflection import queue
from rose.routing import compiled
from tests.stub_models import serving

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tests.stub_models import StubServer

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CLIENT_S = 60
WORKER_S = 30
# Read here, because the suite's own fixture takes ROSE_* away from every test.
CLAUDE, CODEX = (
    os.path.abspath(path) if path else ""
    for path in (os.environ.get("ROSE_E2E_CLAUDE"), os.environ.get("ROSE_E2E_CODEX"))
)

CODEX_CONFIG = """\
model = "stub-model"
model_provider = "stub"
check_for_update_on_startup = false
approval_policy = "never"
sandbox_mode = "danger-full-access"

[analytics]
enabled = false

[model_providers.stub]
name = "stub"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "STUB_API_KEY"
request_max_retries = 0
stream_max_retries = 0

[projects."{repo}"]
trust_level = "trusted"

"""


@dataclass(frozen=True)
class Run:
    """What one run of a client printed, and the bodies of the requests that offered tools."""

    out: str
    err: str
    code: int
    bodies: list[dict[str, Any]]

    @property
    def session(self) -> str:
        """Return the id of the session, from either client's report."""
        first = json.loads(self.out.splitlines()[0])
        return str(first.get("session_id") or first.get("thread_id"))


@dataclass
class World:
    """One project, one person's home, one rose on PATH."""

    top: str
    extra: dict[str, str] = field(default_factory=dict)

    @property
    def repo(self) -> str:
        return os.path.join(self.top, "repo")

    @property
    def home(self) -> str:
        return os.path.join(self.top, "home")

    @property
    def store(self) -> layout.Store:
        return layout.project_store(self.repo)

    def environ(self) -> dict[str, str]:
        """Return an environment that shares nothing with the one of whoever runs the suite."""
        path = os.pathsep.join([os.path.join(self.top, "bin"), os.environ["PATH"]])
        own = {"PATH": path, "HOME": self.home, "TERM": "dumb", "COLUMNS": "80"}
        # A program that happens to be on PATH is asked about a session only where a test says so.
        return {**own, "NO_COLOR": "1", "ROSE_BACKEND": "offline", **self.extra}

    def rose(self, *words: str) -> str:
        """Run a command of rose in the project and return what it printed."""
        done = self._rose(*words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def doctor(self) -> dict[str, Any]:
        """Return what `rose doctor` finds, problems or none."""
        found: dict[str, Any] = json.loads(self._rose("doctor", "--json").stdout)
        return found

    def _rose(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [os.path.join(self.top, "bin", "rose"), *words],
            cwd=self.repo,
            env=self.environ(),
            capture_output=True,
            text=True,
            timeout=CLIENT_S,
            check=False,
        )

    def block(self) -> str:
        """Return the layer as it is compiled now."""
        layer = compiled.read(self.store.layer)
        assert layer is not None
        return str(layer["block"])

    def claude(self, prompt: str, *flags: str, turns: Sequence[Any] = ()) -> Run:
        """Run Claude Code once, in print mode."""
        words = [CLAUDE, "-p", "--output-format", "json", "--allowedTools", "Read,Grep,Bash,Agent"]
        with serving(turns) as stub:
            return self._run([*words, *flags], prompt, self.claude_environ(stub.url), stub)

    def claude_environ(self, url: str) -> dict[str, str]:
        """Return an environment in which Claude Code asks the stub, and nobody else."""
        quiet = ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_AUTOUPDATER")
        silent = ("DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING")
        environ = self.environ() | dict.fromkeys((*quiet, *silent), "1")
        return environ | {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "fake"}

    def codex(self, prompt: str, *flags: str, turns: Sequence[Any] = (), trusted: str = "") -> Run:
        """Run Codex once; `trusted` is what config.toml says beyond the stub."""
        with serving(turns) as stub:
            self.configure_codex(stub.url, trusted)
            environ = self.codex_environ()
            # Not by the file alone: a second session at the same time writes it too.
            to_stub = f'model_providers.stub.base_url="{stub.url}/v1"'
            words = [CODEX, "exec", "--json", "--skip-git-repo-check", "-c", to_stub]
            return self._run([*words, *flags], prompt, environ, stub)

    def configure_codex(self, url: str, trusted: str = "") -> None:
        """Write Codex's own configuration; its folder is made where there is none."""
        path = os.path.join(self.home, ".codex", "config.toml")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        files.replace(path, CODEX_CONFIG.format(url=url, repo=self.repo) + trusted)

    def codex_environ(self) -> dict[str, str]:
        return self.environ() | {
            "CODEX_HOME": os.path.join(self.home, ".codex"),
            "STUB_API_KEY": "fake",
        }

    def _run(
        self, words: Sequence[str], prompt: str, environ: Mapping[str, str], stub: StubServer
    ) -> Run:
        out, err, code = run_client(words, prompt, environ, self.repo)
        return Run(out, err, code, stub.main_bodies)

    def wait_for_worker(self) -> None:
        """Wait until the detached worker has emptied the queue."""
        end = time.monotonic() + WORKER_S
        while queue.pending(self.store):
            assert time.monotonic() < end, "the worker did not finish"
            time.sleep(0.05)


def run_client(
    words: Sequence[str], prompt: str, environ: Mapping[str, str], cwd: str
) -> tuple[str, str, int]:
    """Run a client with a prompt on its input; one that hangs is ended with all that it started."""
    pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(
        words, cwd=cwd, env=environ, text=True, start_new_session=True, **pipes
    ) as client:
        try:
            out, err = client.communicate(prompt, CLIENT_S)
        except subprocess.TimeoutExpired:
            os.killpg(client.pid, signal.SIGKILL)
            raise
    return out, err, client.returncode


def a_world(top: str) -> World:
    """Make a project with lessons, an initialized store, and a `rose` that runs this tree."""
    world = World(os.path.realpath(top))
    os.makedirs(world.top, exist_ok=True)
    shutil.copytree(os.path.join(ROOT, "rose", "demo", "repo"), world.repo)
    for folder in (world.home, os.path.join(world.top, "bin")):
        os.makedirs(folder)
    program = os.path.join(world.top, "bin", "rose")
    line = f'PYTHONPATH="{ROOT}" exec "{sys.executable}" -m rose "$@"'
    files.replace(program, f"#!/bin/sh\n{line}\n")
    os.chmod(program, stat.S_IRWXU)
    world.rose("init")
    return world


def teach(world: World, word: str = "integration") -> None:
    """Give the project one rule, written by a person."""
    world.rose("route", "--when", f"the task runs the {word} tests", "--then", "read nodes/testing")


def strings(value: Any) -> Iterator[str]:
    """Yield every text in a request's body."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from strings(part)


def count(body: Any, text: str) -> int:
    """Return how often a request's body holds a text."""
    return sum(part.count(text) for part in strings(body))
