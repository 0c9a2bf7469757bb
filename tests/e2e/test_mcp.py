"""What an agent opens through `rose mcp`, registered as the page says, counts as opened."""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from rose.routing import ledger
from rose.selection import trace
from tests.e2e import world as worlds

pytest.importorskip("mcp", reason="the extra `mcp` is not installed")

LESSON = "testing/integration-db"
PROMPT = "Look into the integration tests"
COMMAND = "APP_DB_URL=sqlite:///tmp/app.db true"
SEARCH = {"query": "integration tests database", "k": 2}
# Codex does not wait for a server before its first request unless that is required.
CODEX = """\
[mcp_servers.rose]
command = "rose"
args = ["mcp"]
required = true
startup_timeout_sec = 60
"""


def turns(host):
    asked = [("search", SEARCH), ("open", {"node": LESSON}), ("open", {"node": "zebra"})]
    if host == "codex":
        calls = [{"tool": t, "namespace": "mcp__rose", "input": given} for t, given in asked]
        return [*calls, {"tool": "exec_command", "input": {"cmd": COMMAND}}, "Done."]
    calls = [{"tool": f"mcp__rose__{tool}", "input": given} for tool, given in asked]
    shell = {"tool": "Bash", "input": {"command": COMMAND, "description": "x"}}
    return [*calls, shell, "Done."]


def run(world, host):
    if host == "codex":
        trust = "--dangerously-bypass-hook-trust"
        return world.codex(PROMPT, trust, turns=turns(host), trusted=CODEX)
    subprocess.run(
        [worlds.CLAUDE, "mcp", "add", "rose", "--", "rose", "mcp"],
        cwd=world.repo,
        env=world.environ(),
        capture_output=True,
        check=True,
        timeout=worlds.CLIENT_S,
    )
    return world.claude(PROMPT, "--allowedTools", "mcp__rose", turns=turns(host))


@pytest.mark.parametrize("host", ["claude-code", "codex"])
def test_a_lesson_that_was_opened_by_the_tool_is_observed_and_traced(make_world, host):
    world = make_world(host)
    done = run(world, host)
    world.wait_for_worker()
    with open(os.path.join(world.repo, "nodes", f"{LESSON}.md"), encoding="utf-8") as stream:
        body = json.dumps(stream.read().splitlines()[-1], ensure_ascii=False)[1:-1]
    assert worlds.count(done.bodies[2], body) >= 1
    assert worlds.count(done.bodies[3], "No lesson 'zebra'.") >= 1
    [case] = ledger.read(world.store).cases
    assert [(one.lesson, one.how) for one in case.opened] == [(LESSON, "read")]
    assert case.used == (LESSON,)
    assert "testing/slow-tests" in case.listed
    rows = [row for row in trace.latest(world.store, 9) if row["session"] == done.session]
    assert [(row["kind"], row["candidates"][0]["node"]) for row in rows] == [
        ("search", LESSON),
        ("evidence", LESSON),
    ]
