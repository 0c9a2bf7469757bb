"""The whole loop on the real programs: a fork of an ended session learns, and undo takes back."""

from __future__ import annotations

import json
import os
import subprocess
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from rose import files
from rose.hosts.base import REFLECTION_MARKER
from rose.reflection import queue
from rose.routing import ledger, table
from tests.e2e import world as worlds
from tests.e2e.world import count
from tests.stub_models import last_said, serving

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rose.routing.cases import Record
    from rose.routing.rules import Rule
    from tests.e2e.world import World
    from tests.stub_models import StubServer

LESSON = "nodes/testing/integration-db.md"
NAMED = "testing/integration-db"
TASKS = (
    "Find out why the integration tests fail on my machine",
    "The integration tests are red again, look into it",
)
SETTINGS = {"claude-code": ".claude/settings.local.json", "codex": ".codex/hooks.json"}
KEPT = {"claude-code": ".claude/projects", "codex": ".codex/sessions"}
EVENTS = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd")
RULE = {
    "kind": "add",
    "rule": "",
    "others": [],
    "when": "the task is about the integration tests",
    "then": f"read {LESSON} for the database's address",
    "effect": "prefer",
    "match": ["word:integration"],
    "quotes": [{"quote": TASKS[0], "region": 0, "lines": []}],
    "restates": "",
    "why": "It was opened late.",
}
USED = {"lesson": NAMED, "why": "Its advice was followed."}
NOTHING: dict[str, list[Any]] = {"used": [], "rules": [], "operations": [], "lessons": []}


@dataclass(frozen=True)
class Session:
    """One session of a real client with the reflection that its end started."""

    name: str
    bodies: list[dict[str, Any]]
    asked: list[dict[str, Any]]
    rules: tuple[Rule, ...]
    record: Record


@dataclass(frozen=True)
class Story:
    """Two sessions and what was taken back, with the files of the project before and after each."""

    host: str
    world: World
    first: Session
    second: Session
    line: str
    lessons: tuple[dict[str, bytes], ...]
    untracked: str
    fired: list[dict[str, Any]]
    after_first_undo: Session
    after_second_undo: Session


def a_world_with_a_fork(make_world, host: str) -> World:
    """Make a project whose hooks are installed beside one that notes each event."""
    world = make_world(host, rule=False, install=False)
    program, name = (worlds.CODEX, "codex") if host == "codex" else (worlds.CLAUDE, "claude")
    os.symlink(program, os.path.join(world.top, "bin", name))
    note = {"type": "command", "command": f"cat >> {world.top}/fired; echo >> {world.top}/fired"}
    settings = os.path.join(world.repo, SETTINGS[host])
    os.makedirs(os.path.dirname(settings))
    files.replace(settings, json.dumps({"hooks": {e: [{"hooks": [note]}] for e in EVENTS}}))
    world.rose("install", "--host", host)
    git(world, "init", "-q")
    git(world, "add", "-A")
    git(world, "-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "-qm", "x")
    return world


def git(world: World, *words: str) -> str:
    env = world.environ()
    done = subprocess.run(
        ["git", *words], cwd=world.repo, env=env, capture_output=True, text=True, check=True
    )
    return done.stdout


@contextmanager
def model(world: World, host: str, turns: Sequence[Any]) -> Iterator[StubServer]:
    """Serve a model to a host's program and to the worker that a session's end starts."""
    with serving(turns) as stub:
        world.extra = {"ROSE_BACKEND": "auto"}
        if host == "codex":
            world.configure_codex(stub.url)
            world.extra |= world.codex_environ()
        else:
            world.extra |= world.claude_environ(stub.url)
        yield stub


def run(world: World, host: str, stub: StubServer, task: str) -> tuple[str, list[dict[str, Any]]]:
    """Run one session to its end; its id and what it sent."""
    if host == "codex":
        words = [worlds.CODEX, "exec", "--json", "--skip-git-repo-check"]
        words += ["--dangerously-bypass-hook-trust"]
    else:
        words = [worlds.CLAUDE, "-p", "--output-format", "json", "--allowedTools", "Read"]
    out, err, code = worlds.run_client(words, task, world.environ(), world.repo)
    assert code == 0, err
    return worlds.Run(out, err, code, []).session, stub.main_bodies


def opening(world: World, host: str) -> dict[str, Any]:
    """Return the turn in which the agent opens the lesson."""
    if host == "codex":
        return {"tool": "exec_command", "input": {"cmd": f"cat {LESSON}"}}
    return {"tool": "Read", "input": {"file_path": os.path.join(world.repo, LESSON)}}


def answers(host: str, answer: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the turns of a fork that tries to act and then answers in the form asked for."""
    if host == "codex":
        act = {"tool": "exec_command", "input": {"cmd": "touch evil"}}
        last = {"text": json.dumps(answer)}
    else:
        act = {"tool": "Bash", "input": {"command": "touch evil", "description": "x"}}
        last = {"tool": "StructuredOutput", "input": answer}
    return [{**act, "when": REFLECTION_MARKER}, {**last, "when": "evil|Bash"}]


def session(world: World, host: str, task: str, answer: dict[str, Any]) -> Session:
    """Run a session that opens the lesson, and wait for what is learned from it."""
    with model(world, host, [opening(world, host), "Done.", *answers(host, answer)]) as stub:
        name, bodies = run(world, host, stub, task)
        world.wait_for_worker()
        ours = [body for body in bodies if count(body, REFLECTION_MARKER) == 0]
        asked = [body for body in stub.main_bodies if count(body, REFLECTION_MARKER)]
    return Session(name, ours, asked, *state(world))


def state(world: World) -> tuple[tuple[Rule, ...], Record]:
    return table.read(world.store, ("nodes",)).rules, ledger.read(world.store)


def on_disk(world: World) -> dict[str, bytes]:
    """Return the files of the project but git's and rose's own."""
    found = {}
    for folder, names, inner in os.walk(world.repo):
        names[:] = [name for name in names if name not in (".git", ".rose")]
        paths = [os.path.join(folder, name) for name in inner]
        found.update({path: files.read_bytes(path) for path in paths})
    return found


def kept(world: World, host: str) -> dict[str, str]:
    """Return the sessions that a host keeps, by the names of their files."""
    top = os.path.join(world.home, KEPT[host])
    return {
        name: files.read_text(os.path.join(folder, name))
        for folder, _, names in os.walk(top)
        for name in names
    }


@pytest.fixture(scope="module", params=sorted(SETTINGS))
def story(request, make_world) -> Story:
    host = request.param
    world = a_world_with_a_fork(make_world, host)
    lessons = [on_disk(world)]
    first = session(world, host, TASKS[0], {**NOTHING, "operations": [RULE]})
    line = world.block().splitlines()[-1]
    lessons.append(on_disk(world))
    untracked = git(world, "status", "--porcelain", "-uall")
    claims = [
        {"rule": rule.id, "applied": "yes", "followed": "yes", "paid": "yes", "why": ""}
        for rule in first.rules
    ]
    second = session(world, host, TASKS[1], {**NOTHING, "used": [USED], "rules": claims})
    lessons.append(on_disk(world))
    fired = [
        json.loads(row)
        for row in files.read_text(os.path.join(world.top, "fired")).splitlines()
        if row.strip()
    ]
    world.rose("undo", second.name)
    after_first_undo = Session("", [], [], *state(world))
    world.rose("undo", first.name)
    after_second_undo = Session("", [], [], *state(world))
    return Story(
        host,
        world,
        first,
        second,
        line,
        tuple(lessons),
        untracked,
        fired,
        after_first_undo,
        after_second_undo,
    )


def test_the_worker_asks_a_fork_that_has_the_session_before_it(story):
    assert len(story.first.asked) == len(story.second.asked) == 2
    for body, task in zip((story.first.asked[0], story.second.asked[0]), TASKS, strict=True):
        assert count(body, task) >= 1
        assert last_said(body).startswith(REFLECTION_MARKER)


def test_the_rule_of_the_fork_lands_with_its_quote(story):
    [rule] = story.first.rules
    assert (rule.when, rule.then, rule.status) == (RULE["when"], RULE["then"], "active")
    assert [(item.session, item.quote) for item in rule.evidence] == [(story.first.name, TASKS[0])]


def test_the_next_session_has_the_rule_in_its_first_request(story):
    [rule] = story.first.rules
    assert story.line == f"- When {rule.when}: {rule.then}"
    assert count(story.first.bodies[0], story.line) == 0
    assert count(story.second.bodies[0], story.line) == 1


def test_what_the_second_session_used_by_a_models_word_is_credited_as_such(story):
    [rule] = story.second.rules
    case = story.second.record.cases[-1]
    assert (case.session, case.by) == (story.second.name, "model")
    assert (case.used, case.judged_used) == ((NAMED,), (NAMED,))
    assert (case.verdicts, case.judged_rules) == ({rule.id: "followed-useful"}, (rule.id,))


def test_undo_takes_back_one_reflection_and_then_the_other(story):
    assert story.after_first_undo.rules == story.first.rules
    assert story.after_first_undo.record.cases == story.first.record.cases
    assert story.after_second_undo.rules == ()
    assert story.after_second_undo.record.cases == ()


def test_no_hook_is_fired_by_a_fork(story):
    assert {told["session_id"] for told in story.fired} == {story.first.name, story.second.name}
    prompts = [told["prompt"] for told in story.fired if "prompt" in told]
    assert prompts == list(TASKS)


def test_no_session_of_a_fork_is_kept_or_queued(story):
    found = kept(story.world, story.host)
    assert len(found) == 2
    assert [text for text in found.values() if REFLECTION_MARKER in text] == []
    assert queue.entries(story.world.store) == []
    assert len(story.second.record.cases) == 2


def test_no_file_of_the_project_is_changed_by_a_fork_that_tries(story):
    before, between, after = story.lessons
    assert before == between == after
    [rule] = story.first.rules
    assert story.untracked == f"?? .rose/routing/{rule.id}.md\n"


def test_every_call_is_counted_and_traced(story):
    lines = [line for _, line in files.read_jsonl(story.world.store.trace)]
    answered = [line for line in lines if "operations" in line]
    named = "codex" if story.host == "codex" else "claude"
    assert [line["by"] for line in answered] == [named, named]
    spent = [line for _, line in files.read_jsonl(story.world.store.spend)]
    assert [(line["calls"], line["outcome"]) for line in spent] == [(1, "answer")] * 2
    assert all(line["input_tokens"] > 0 for line in spent)


@pytest.mark.parametrize(
    ("reply", "kind"),
    [("I used the lesson on databases.", "plain-text"), ("", "no-answer")],
    ids=["words", "nothing"],
)
@pytest.mark.parametrize("host", sorted(SETTINGS))
def test_without_an_answer_the_session_waits_with_its_reason_and_then_the_floor_counts(
    make_world, host, reply, kind
):
    world = a_world_with_a_fork(make_world, host)
    turns = [opening(world, host), "Done.", *[{"text": reply, "when": ""}] * 20]
    with model(world, host, turns) as stub:
        name, _ = run(world, host, stub, TASKS[0])
        entry = waiting(world)
        assert (entry["session"], entry["state"], entry["tries"]) == (name, "pending", 1)
        assert entry["reason"]
        assert ledger.read(world.store).cases == ()
        with pytest.raises(AssertionError):
            world.rose("reflect", "--pending")
        assert ledger.read(world.store).cases == ()
        world.rose("reflect", "--pending")
    [case] = ledger.read(world.store).cases
    assert (case.session, case.by, [one.lesson for one in case.opened]) == (
        name,
        "observed",
        [NAMED],
    )
    lines = [line for _, line in files.read_jsonl(world.store.trace)]
    assert [line["failed"]["kind"] for line in lines] == [kind, kind, kind]
    assert queue.entries(world.store) == []


def waiting(world: World) -> dict[str, object]:
    """Return the entry of the queue once a worker has given it back."""
    end = time.monotonic() + worlds.WORKER_S
    while True:
        found = queue.entries(world.store)
        if len(found) == 1 and found[0]["reason"]:
            return dict(found[0])
        assert time.monotonic() < end, found
        time.sleep(0.05)
