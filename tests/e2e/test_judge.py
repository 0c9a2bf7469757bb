"""A real agent program judges: in no session, without a hook, leaving nothing behind."""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from rose import files, layout
from rose.backends import spend
from rose.backends.options import Options
from rose.config import Settings
from rose.selection import filter as filtering
from rose.selection import judge_choice
from rose.selection.judge import JudgeFailure, Passage
from tests.e2e import world as worlds
from tests.e2e.test_trust_of_codex import hooks, tables
from tests.e2e.world import count
from tests.stub_models import CHARS_PER_TOKEN, serving

if TYPE_CHECKING:
    from rose.backends.base import Usage
    from tests.e2e.world import World

QUERY = "Run the integration tests"
PASSAGES = (Passage("Export `APP_DB_URL` before pytest.", ("title: Database",)), Passage("Tea."))
ANSWER = {"scores": [{"id": "0", "score": 0.9}, {"id": "1", "score": 0}]}
HOOKS = {"claude-code": ".claude/settings.json", "codex": ".codex/hooks.json"}
NAMES = {"claude-code": "claude", "codex": "codex"}
EVENTS = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd")


@dataclass(frozen=True)
class Judged:
    """What came of one judgement by a real program."""

    kept: list[Any] | JudgeFailure
    usage: Usage
    bodies: list[dict[str, Any]]
    sessions: list[str]
    has_fired: bool


@pytest.fixture(scope="module", params=sorted(HOOKS))
def place(request, make_world) -> tuple[str, World, str]:
    """Return a host, a world whose person has hooks for every event, and Codex's trust in them."""
    host = request.param
    world = make_world(host, install=False)
    program = worlds.CODEX if host == "codex" else worlds.CLAUDE
    os.symlink(program, os.path.join(world.top, "bin", NAMES[host]))
    handler = {"type": "command", "command": f"printf x >> {world.top}/fired"}
    wired = {"hooks": {event: [{"hooks": [handler]}] for event in EVENTS}}
    path = os.path.join(world.home, HOOKS[host])
    os.makedirs(os.path.dirname(path))
    files.replace(path, json.dumps(wired))
    return host, world, tables(hooks(world)) if host == "codex" else ""


def judge(place: tuple[str, World, str], turn: Any) -> Judged:
    host, world, trusted = place
    store, settings = layout.project_store(world.repo), Settings()
    purse = spend.Purse(store, settings, spend.wait_of(settings))
    with serving([turn] * 3) as stub:
        if host == "codex":
            world.configure_codex(stub.url, trusted)
            environ = world.codex_environ()
        else:
            environ = world.claude_environ(stub.url)
        options = Options(Settings())
        who = judge_choice.model(NAMES[host], options, environ, cwd=world.repo, purse=purse)
        kept: list[Any] | JudgeFailure
        try:
            kept = list(filtering.keep(who, QUERY, PASSAGES))
        except JudgeFailure as failure:
            kept = failure
        used = spend.of_day(store, time.time())
        bodies = stub.main_bodies
    left = [
        name
        for folder, _, names in os.walk(world.home)
        for name in names
        if name.endswith(".jsonl") and ("projects" in folder or "sessions" in folder)
    ]
    fired = os.path.exists(os.path.join(world.top, "fired"))
    return Judged(kept, used, bodies, left, fired)


@pytest.fixture(scope="module")
def judged(place) -> Judged:
    said = json.dumps(ANSWER)
    turn = {"tool": "StructuredOutput", "input": ANSWER} if place[0] == "claude-code" else said
    return judge(place, turn)


def test_an_agent_program_judges_texts_in_no_session(judged):
    assert judged.kept == [(0, 0.9)]
    assert len(judged.bodies) >= 1
    assert count(judged.bodies[0], "APP_DB_URL") == 1
    assert count(judged.bodies[0], QUERY) == 1


def test_a_judgement_fires_no_hook_and_leaves_no_session_behind(judged):
    assert not judged.has_fired
    assert judged.sessions == []


def test_the_tokens_of_a_judgement_are_counted(judged):
    assert judged.usage.calls == 1
    body = judged.bodies[0]
    read = len(json.dumps(body.get("messages") or body["input"])) // CHARS_PER_TOKEN
    assert judged.usage.input_tokens >= read
    assert judged.usage.output_tokens > 0


def test_a_judge_that_answers_in_words_is_no_judge(place):
    found = judge(place, "The first one, I should say.")
    assert isinstance(found.kept, JudgeFailure)
    assert "in words" in str(found.kept)
