"""A real agent program selects for a prompt by reading alone; where it is late, rose does."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from rose import files
from rose.routing import ledger
from rose.selection import trace
from tests.e2e import world as worlds
from tests.e2e.world import count

if TYPE_CHECKING:
    from tests.e2e.world import Run, World

PROMPT = "Run the integration tests against the database"
ASKED = "You choose which lessons bear on a request"
CHOSEN = "nodes/deploy/rollback.md"
LOOKED = "nodes/deploy/secrets.md"
PROGRAMS = {"claude-code": ("claude", worlds.CLAUDE), "codex": ("codex", worlds.CODEX)}


@dataclass(frozen=True)
class Session:
    """One session of two prompts in which a fork selected, and what it left."""

    host: str
    world: World
    runs: list[Run]
    before: dict[str, bytes]
    after: dict[str, bytes]
    rows: list[Any]
    spent: list[Any]


def answers(world: World, host: str) -> list[Any]:
    """Return the turns of a fork that looks into one lesson and names another, then the work's."""
    if host == "codex":
        look = {"tool": "exec_command", "input": {"cmd": f"cat {LOOKED}"}, "when": ASKED}
        said = {"text": json.dumps({"lessons": [CHOSEN, "nodes/none.md"]}), "when": "Environment"}
        return [look, said, "Done."]
    path = os.path.join(world.repo, LOOKED)
    named = {"lessons": [CHOSEN, "nodes/none.md"]}
    return [
        {"tool": "Read", "input": {"file_path": path}, "when": ASKED},
        {"tool": "StructuredOutput", "input": named, "when": "Environment"},
        "Done.",
    ]


def run(world: World, host: str, prompt: str, turns: list[Any], session: str = "") -> Run:
    if host == "codex":
        more = ("resume", session) if session else ()
        return world.codex(prompt, "--dangerously-bypass-hook-trust", *more, turns=turns)
    return world.claude(prompt, *(("--resume", session) if session else ()), turns=turns)


def on_disk(world: World) -> dict[str, bytes]:
    """Return every file of the project but rose's own record of the day."""
    found = {}
    for folder, _, names in os.walk(world.repo):
        if not folder.startswith(world.store.local.rstrip(os.sep)):
            paths = [os.path.join(folder, name) for name in names]
            found.update({path: files.read_bytes(path) for path in paths})
    return found


def a_world(make_world, host: str, seconds: str) -> World:
    world = make_world(host)
    name, program = PROGRAMS[host]
    os.symlink(program, os.path.join(world.top, "bin", name))
    world.rose("config", "recall.serve", "bodies")
    world.rose("config", "recall.selector", "fork")
    world.rose("config", "recall.timeout_s", seconds)
    # A fork is about no session, so this keeps the worker alone from asking a model.
    world.rose("config", "spend.calls_per_session", "0")
    world.extra["ROSE_BACKEND"] = "auto"
    # So that the client's hook finds the index made.
    world.rose("recall", PROMPT)
    return world


def records(world: World, session: str) -> list[Any]:
    return [row for row in trace.latest(world.store, 9) if row["session"] == session]


@pytest.fixture(scope="module", params=sorted(PROGRAMS))
def session(request, make_world) -> Session:
    host = request.param
    world = a_world(make_world, host, "8")
    before = on_disk(world)
    runs = []
    for prompt in (PROMPT, "Go on with the next step"):
        runs.append(run(world, host, prompt, answers(world, host), runs[0].session if runs else ""))
    world.wait_for_worker()
    spent = [line for _, line in files.read_jsonl(world.store.spend) if not line["session"]]
    rows = records(world, runs[0].session)
    return Session(host, world, runs, before, on_disk(world), rows, spent)


def test_what_the_fork_named_reaches_the_request_and_the_rest_is_accounted_for(session):
    first, second = session.rows
    assert [one["node"] for one in first["admitted"]] == ["deploy/rollback"]
    assert {one["node"]: one["reason"] for one in first["excluded"]} == {"nodes/none.md": "missing"}
    assert first["failure"] is None
    served = [count(body, first["text"]) for body in session.runs[0].bodies]
    assert served[-1] == 1
    assert {one["node"]: one["reason"] for one in second["excluded"]}["deploy/rollback"] == (
        "not-selected"
    )


def test_the_layer_is_in_the_hand_of_the_fork(session):
    asked = [body for body in session.runs[0].bodies if count(body, ASKED)]
    assert len(asked) == 2
    assert count(asked[0], "When the task runs the integration tests") == 1


def test_the_second_prompt_forks_the_session_and_sees_what_was_said(session):
    asked = [body for body in session.runs[1].bodies if count(body, ASKED)]
    assert len(asked) == 2
    assert count(asked[0], PROMPT) >= 1


def test_what_the_fork_looked_at_is_recorded_and_counts_as_seen_by_name_alone(session):
    assert [one["nodes"] for row in session.rows for one in row["looked"]] == [
        ["deploy/secrets"],
        ["deploy/secrets"],
    ]
    [case] = ledger.read(session.world.store).cases
    assert "deploy/secrets" in case.listed
    assert [one.lesson for one in case.opened if one.lesson == "deploy/secrets"] == []
    assert "deploy/secrets" not in case.used
    assert "deploy/rollback" in [one.lesson for one in case.opened if one.how == "served"]


def test_each_fork_is_paid_for_and_changes_no_file(session):
    assert [(line["calls"], line["outcome"]) for line in session.spent] == [(1, "answer")] * 2
    assert all(line["input_tokens"] > 0 for line in session.spent)
    assert session.after == session.before


@pytest.mark.parametrize("host", sorted(PROGRAMS))
def test_a_fork_whose_model_is_slow_is_ended_and_the_selector_serves(make_world, host):
    world = a_world(make_world, host, "6")
    done = run(world, host, PROMPT, [{"text": "late", "when": ASKED, "wait": 30}, "Done."])
    [row] = records(world, done.session)
    assert row["failure"] == "selection-failed"
    assert [one["node"] for one in row["admitted"]] == ["testing/integration-db"]
    assert [count(body, row["text"]) for body in done.bodies][-1] == 1
    problems = [line["problem"] for _, line in files.read_jsonl(world.store.log)]
    late = f"the fork failed: {PROGRAMS[host][0]} was not done"
    assert any(late in problem for problem in problems)
