"""A fork of a real ended session answers, fires no hook, leaves nothing behind, changes nothing."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pytest

from rose import files
from rose.backends import registry
from rose.backends.base import Answer, BackendFailure, Question, Subject
from rose.backends.options import Options
from rose.config import Settings
from tests.e2e import world as worlds
from tests.e2e.test_trust_of_codex import hooks, tables
from tests.e2e.world import count
from tests.stub_models import CHARS_PER_TOKEN, serving

if TYPE_CHECKING:
    from tests.e2e.world import World

TASK = "Run the integration tests and tell me what is broken"
ASKED = "Which lesson was used in this session"
ANSWER = {"rules": [{"when": "the task runs the tests", "then": "read nodes/testing/"}], "note": ""}
TEXTS = {"type": "object", "properties": {"when": {"type": "string"}, "then": {"type": "string"}}}
RULE = {**TEXTS, "required": ["when", "then"], "additionalProperties": False}
SCHEMA = {
    "type": "object",
    "properties": {"rules": {"type": "array", "items": RULE}, "note": {"type": "string"}},
    "required": ["rules", "note"],
    "additionalProperties": False,
}
WRITE = {"tool": "mcp__writer__write", "input": {}, "when": ASKED}
HERE = os.path.dirname(os.path.abspath(__file__))
SETTINGS = {"claude-code": ".claude/settings.local.json", "codex": ".codex/hooks.json"}
KEPT = {"claude-code": ".claude/projects", "codex": ".codex/sessions"}
EVENTS = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd")


@dataclass(frozen=True)
class Ended:
    """An ended session of a real client, what lay on disk then, and how often hooks had run."""

    host: str
    world: World
    subject: Subject
    trusted: str
    before: dict[str, bytes]
    fired: int


@dataclass(frozen=True)
class Fork:
    """What came of one question to a fork, and what it left."""

    made: Answer | BackendFailure
    bodies: list[dict[str, Any]]
    after: dict[str, bytes]
    fired: int


def on_disk(world: World, host: str) -> dict[str, bytes]:
    """Return every file in the project and among the host's sessions."""
    found = {}
    for top in (world.repo, os.path.join(world.home, KEPT[host])):
        for folder, _, names in os.walk(top):
            paths = [os.path.join(folder, name) for name in names]
            found.update({path: files.read_bytes(path) for path in paths})
    return found


def fired(world: World) -> int:
    try:
        return files.read_text(os.path.join(world.top, "fired")).count("x")
    except FileNotFoundError:
        return 0


@pytest.fixture(scope="module", params=sorted(SETTINGS))
def ended(request, make_world) -> Ended:
    host = request.param
    world = make_world(host, install=False)
    program, name = (worlds.CODEX, "codex") if host == "codex" else (worlds.CLAUDE, "claude")
    os.symlink(program, os.path.join(world.top, "bin", name))
    handler = {"type": "command", "command": f"printf x >> {world.top}/fired"}
    settings = os.path.join(world.repo, SETTINGS[host])
    os.makedirs(os.path.dirname(settings))
    wired = {"hooks": {event: [{"hooks": [handler]}] for event in EVENTS}}
    if host == "claude-code":
        # A tool that this person has allowed once and for all.
        writer = {"command": sys.executable, "args": [os.path.join(HERE, "mcp_server.py")]}
        tools = os.path.join(world.repo, ".mcp.json")
        files.replace(tools, json.dumps({"mcpServers": {"writer": writer}}))
        wired |= {"enableAllProjectMcpServers": True, "permissions": {"allow": [WRITE["tool"]]}}
    files.replace(settings, json.dumps(wired))
    trusted = tables(hooks(world)) if host == "codex" else ""
    run = world.codex(TASK, trusted=trusted) if host == "codex" else world.claude(TASK)
    before = on_disk(world, host)
    transcript = next(path for path in before if run.session in path)
    subject = Subject(host, run.session, transcript, world.repo)
    return Ended(host, world, subject, trusted, before, fired(world))


def ask(ended: Ended, *turns: Any, session: str = "") -> Fork:
    world = ended.world
    subject = replace(ended.subject, session=session or ended.subject.session)
    with serving(turns) as stub:
        if ended.host == "codex":
            world.configure_codex(stub.url, ended.trusted)
        is_codex = ended.host == "codex"
        environ = world.codex_environ() if is_codex else world.claude_environ(stub.url)
        backend = registry.choose("auto", ended.host, Options(Settings()), environ)
        assert backend is not None
        made: Answer | BackendFailure
        try:
            made = backend.ask(Question(f"{ASKED}?", SCHEMA, subject), worlds.CLIENT_S)
        except BackendFailure as failure:
            made = failure
        bodies = stub.main_bodies
    return Fork(made, bodies, on_disk(world, ended.host), fired(world))


def answering(host: str, answer: dict[str, Any], when: str = ASKED) -> dict[str, Any]:
    """Return the turn in which a model answers in the form that the host asks it for."""
    if host == "codex":
        return {"text": json.dumps(answer), "when": when}
    return {"tool": "StructuredOutput", "input": answer, "when": when}


@pytest.fixture(scope="module")
def fork(ended) -> Fork:
    return ask(ended, answering(ended.host, ANSWER))


def test_a_fork_answers_in_the_form_that_it_was_asked_for(fork):
    assert isinstance(fork.made, Answer)
    assert fork.made.value == ANSWER


def test_a_fork_sees_the_session(fork):
    assert count(fork.bodies[0], TASK) >= 1
    assert count(fork.bodies[0], ASKED) == 1


def test_a_fork_fires_no_hook(ended, fork):
    assert ended.fired > 0
    assert fork.fired == ended.fired


def test_a_fork_leaves_no_session_behind_and_changes_no_file(ended, fork):
    assert fork.after == ended.before


def test_the_tokens_of_a_fork_are_its_own_alone(fork):
    body = fork.bodies[0]
    read = len(json.dumps(body.get("messages") or body["input"])) // CHARS_PER_TOKEN
    assert (fork.made.usage.calls, fork.made.usage.input_tokens) == (1, read)
    assert 0 < fork.made.usage.output_tokens < 100


def test_a_fork_that_tries_to_act_changes_nothing_and_may_still_answer(ended):
    acting = {
        "codex": {"tool": "exec_command", "input": {"cmd": "touch evil"}},
        "claude-code": {"tool": "Bash", "input": {"command": "touch evil", "description": "x"}},
    }
    turns = ({**acting[ended.host], "when": ASKED}, answering(ended.host, ANSWER, "evil|Bash"))
    fork = ask(ended, *turns)
    assert len(fork.bodies) == 2
    assert isinstance(fork.made, Answer)
    assert (fork.after, fork.fired) == (ended.before, ended.fired)


@pytest.mark.parametrize("ended", ["claude-code"], indirect=True)
def test_a_tool_of_a_server_that_the_session_may_use_is_out_of_a_fork_s_reach(ended):
    world = ended.world
    world.claude(f"{ASKED}?", turns=[WRITE])
    evil = os.path.join(world.repo, "evil")
    os.unlink(evil)
    fork = ask(ended, WRITE, answering(ended.host, ANSWER, "mcp__writer"))
    assert isinstance(fork.made, Answer)
    assert not os.path.exists(evil)


def test_an_answer_in_words_is_told_from_one_in_the_asked_form(ended):
    fork = ask(ended, *["I used the lesson on databases."] * 3)
    assert isinstance(fork.made, BackendFailure)
    assert fork.made.kind == "plain-text"
    assert "I used the lesson" in str(fork.made)


def test_a_session_that_is_not_there_ends_with_a_code_and_its_reason(ended):
    fork = ask(ended, session="0b6c0000-0000-4000-8000-000000000000")
    assert isinstance(fork.made, BackendFailure)
    assert fork.made.kind == "exit"
    assert "0b6c0000" in str(fork.made)
    assert fork.bodies == []
