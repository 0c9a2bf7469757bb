"""From two real sessions to a rule, to the third session's request, to credit, and back."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from rose import files
from rose.routing import ledger
from tests.e2e.world import count

if TYPE_CHECKING:
    from tests.e2e.world import Run, World

LESSON = "nodes/testing/integration-db.md"
TASKS = (
    "Run the integration tests and tell me what is broken",
    "The integration tests are red on my branch, find out why",
    "Run the integration tests before I merge",
    "Run the integration tests for the last time",
)
FILES = {"claude-code": ".claude/settings.local.json", "codex": ".codex/hooks.json"}
BEFORE = '{\n\t"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}\n}'


@dataclass(frozen=True)
class Story:
    """What the sessions of one project sent and left behind, in order."""

    host: str
    world: World
    runs: list[Run]
    rules: list[str]
    line: str
    settings_after: bytes
    record: dict[str, int]
    verdicts: list[dict[str, str]]
    rules_after_undo: list[str]


def work(world: World, host: str, task: str) -> Run:
    """Run a session that opens the lesson and uses what it says."""
    command = "APP_DB_URL=sqlite:///tmp/app.db env | grep APP_DB_URL"
    if host == "codex":
        calls = [
            {"tool": "exec_command", "input": {"cmd": f"cat {LESSON}"}},
            {"tool": "exec_command", "input": {"cmd": command}},
        ]
        done = world.codex(task, "--dangerously-bypass-hook-trust", turns=calls)
    else:
        path = os.path.join(world.repo, LESSON)
        calls = [
            {"tool": "Read", "input": {"file_path": path}},
            {"tool": "Bash", "input": {"command": command, "description": "Run"}},
        ]
        done = world.claude(task, turns=calls)
    world.wait_for_worker()
    return done


def ids(world: World) -> list[str]:
    return [rule["id"] for rule in json.loads(world.rose("route", "--json"))["rules"]]


@pytest.fixture(scope="module", params=sorted(FILES))
def story(request, make_world) -> Story:
    host = request.param
    world = make_world(host, rule=False, install=False)
    settings = os.path.join(world.repo, FILES[host])
    os.makedirs(os.path.dirname(settings))
    files.replace(settings, BEFORE)
    world.rose("install", "--host", host)
    runs = [work(world, host, task) for task in TASKS[:2]]
    rules = ids(world)
    line = world.block().splitlines()[-1]
    runs.append(work(world, host, TASKS[2]))
    record = json.loads(world.rose("route", "--json"))["rules"][0]["record"]
    cases = {case.session: dict(case.verdicts) for case in ledger.read(world.store).cases}
    world.rose("undo")
    left = ids(world)
    runs.append(work(world, host, TASKS[3]))
    world.rose("uninstall", "--host", host)
    return Story(
        host,
        world,
        runs,
        rules,
        line,
        files.read_bytes(settings),
        record,
        [cases[run.session] for run in runs[:3]],
        left,
    )


def test_two_sessions_that_used_one_lesson_teach_one_rule(story):
    assert len(story.rules) == 1
    assert LESSON in story.line


def test_the_rule_is_in_the_request_of_the_third_session_and_of_none_before(story):
    assert [count(run.bodies[0], story.line) for run in story.runs[:3]] == [0, 0, 1]


def test_every_request_of_a_session_holds_the_rule_once(story):
    assert [count(body, story.line) for body in story.runs[2].bodies] == [1, 1, 1]


def test_the_session_that_followed_the_rule_gives_it_credit(story):
    assert story.verdicts == [{}, {}, {story.rules[0]: "followed-useful"}]
    assert story.record["helped"] >= 1


def test_undo_takes_the_rule_out_of_the_next_session(story):
    assert story.rules_after_undo == []
    assert count(story.runs[3].bodies, story.line) == 0


def test_uninstall_leaves_the_settings_as_they_were(story):
    assert story.settings_after == BEFORE.encode()
