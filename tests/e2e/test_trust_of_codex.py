"""Codex runs a hook only where its hash is trusted, and says nothing about the others."""

from __future__ import annotations

import json
import subprocess
import threading

import pytest

from tests.e2e import world as worlds
from tests.e2e.world import count

HELLO = {"clientInfo": {"name": "rose-tests", "version": "1"}}


@pytest.fixture(scope="module")
def codex(make_world):
    return make_world("codex")


def hooks(world):
    """Return the hooks as Codex's own server lists them."""
    world.configure_codex("http://127.0.0.1:1")
    pipes = dict.fromkeys(("stdin", "stdout"), subprocess.PIPE)
    words = [worlds.CODEX, "app-server"]
    with subprocess.Popen(
        words,
        cwd=world.repo,
        env=world.codex_environ(),
        text=True,
        stderr=subprocess.DEVNULL,
        **pipes,
    ) as server:
        watch = threading.Timer(worlds.CLIENT_S, server.kill)
        watch.start()
        asked = [
            {"id": 1, "method": "initialize", "params": HELLO},
            {"method": "initialized"},
            {"id": 2, "method": "hooks/list", "params": {"cwds": [world.repo]}},
        ]
        server.stdin.write("".join(json.dumps(line) + "\n" for line in asked))
        server.stdin.flush()
        answers = (json.loads(line) for line in server.stdout)
        answer = next(answer for answer in answers if answer.get("id") == 2)
        watch.cancel()
        server.terminate()
    return answer["result"]["data"][0]["hooks"]


def tables(listed):
    """Return what `/hooks` writes into config.toml once a person has trusted these hooks."""
    return "".join(
        f"[hooks.state.{json.dumps(hook['key'])}]\n"
        f"trusted_hash = {json.dumps(hook['currentHash'])}\n"
        for hook in listed
    )


def test_a_hook_that_nobody_trusts_is_passed_over(codex):
    bodies = codex.codex("Run the integration tests").bodies
    assert (len(bodies), count(bodies, codex.block())) == (1, 0)


def test_a_trusted_hook_injects_the_layer_once(codex):
    bodies = codex.codex("Run the integration tests", trusted=tables(hooks(codex))).bodies
    assert [count(body, codex.block()) for body in bodies] == [1]


def test_a_second_install_keeps_the_hashes_that_are_trusted(codex):
    before = {hook["key"]: hook["currentHash"] for hook in hooks(codex)}
    codex.rose("install", "--host", "codex")
    assert {hook["key"]: hook["currentHash"] for hook in hooks(codex)} == before
    assert len(before) == 6


def test_doctor_tells_trusted_hooks_from_untrusted_ones(codex):
    listed = hooks(codex)
    before = codex.rose("doctor")
    codex.configure_codex("http://127.0.0.1:1", tables(listed))
    assert ("not trusted yet" in before, "not trusted yet" in codex.rose("doctor")) == (True, False)
