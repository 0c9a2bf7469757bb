"""Codex's own server, over which its interactive program talks: for what `codex exec` has not."""

from __future__ import annotations

import contextlib
import json
import subprocess
import threading
from typing import TYPE_CHECKING, Any

from tests.e2e import world as worlds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.world import World

HELLO = {"clientInfo": {"name": "rose-tests", "version": "1"}}


class CodexServer:
    """One running server."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._asked = 0

    def ask(self, method: str, params: object, done: str = "") -> Any:
        """Return the answer to one request, once the server has told the event `done`."""
        self._asked += 1
        self.tell({"id": self._asked, "method": method, "params": params})
        answer = self._next("id", self._asked)
        if done:
            self._next("method", done)
        return answer["result"]

    def tell(self, message: object) -> None:
        """Send one message and wait for nothing."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def _next(self, key: str, value: object) -> dict[str, Any]:
        assert self._process.stdout is not None
        lines: list[dict[str, Any]] = []
        for line in self._process.stdout:
            lines.append(json.loads(line))
            if lines[-1].get(key) == value:
                return lines[-1]
        raise AssertionError(f"the server ended before {value}: {lines[-3:]}")

    def begin(self, **params: object) -> str:
        """Begin a session and return its id."""
        return str(self.ask("thread/start", params)["thread"]["id"])

    def prompt(self, session: str, text: str) -> None:
        """Run one turn to its end."""
        params = {"threadId": session, "input": [{"type": "text", "text": text}]}
        self.ask("turn/start", params, "turn/completed")

    def compact(self, session: str) -> None:
        """Do what `/compact` does."""
        self.ask("thread/compact/start", {"threadId": session}, "turn/completed")


@contextlib.contextmanager
def serving_codex(world: World) -> Iterator[CodexServer]:
    """Run a server in a world's project until the end of the block."""
    pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout"), subprocess.PIPE)
    with subprocess.Popen(
        [worlds.CODEX, "app-server"],
        cwd=world.repo,
        env=world.codex_environ(),
        text=True,
        stderr=subprocess.DEVNULL,
        **pipes,
    ) as process:
        watch = threading.Timer(worlds.CLIENT_S, process.kill)
        watch.start()
        try:
            server = CodexServer(process)
            server.ask("initialize", HELLO)
            server.tell({"method": "initialized"})
            yield server
        finally:
            watch.cancel()
            process.terminate()


def hooks(world: World) -> list[dict[str, Any]]:
    """Return the hooks of a project as the server lists them."""
    world.configure_codex("http://127.0.0.1:1")
    with serving_codex(world) as server:
        answer = server.ask("hooks/list", {"cwds": [world.repo]})
    found: list[dict[str, Any]] = answer["data"][0]["hooks"]
    return found


def tables(listed: list[dict[str, Any]]) -> str:
    """Return what `/hooks` writes into config.toml once a person has trusted these hooks."""
    return "".join(
        f"[hooks.state.{json.dumps(hook['key'])}]\n"
        f"trusted_hash = {json.dumps(hook['currentHash'])}\n"
        for hook in listed
    )
