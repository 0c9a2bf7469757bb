"""What arrives: whole layers, one in each of two sessions, nothing where rose is off."""

from __future__ import annotations

import itertools
import json
import os
import shlex
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from rose import files
from rose.hosts import installation
from rose.report import activity
from rose.routing import ledger
from tests.e2e.world import count, teach
from tests.factories import a_rule_file

LAYER_BYTES = 9_500
LINE_CHARS = 100
TITLE = "rose routing layer"


def run(world, host, prompt):
    if host == "codex":
        return world.codex(prompt, "--dangerously-bypass-hook-trust")
    return world.claude(prompt)


def line_of(number, chars):
    """Return a rule's id, and its condition, whose line in the layer has so many characters."""
    when = f"the task is of kind {number:04d} "
    filler = chars - len(f"- When {when}: read nodes/testing")
    return {"id": f"r_{number:06x}", "when": when + "x" * filler, "then": "read nodes/testing"}


def fill(world, chars):
    """Write rules that make a layer of so many characters if it may be that long."""
    a_rule_file(world.store, **line_of(0, LINE_CHARS))
    world.rose("route")
    left = chars - len(world.block())
    for number in itertools.count(1):
        size = LINE_CHARS if left > 2 * LINE_CHARS else left - 1
        a_rule_file(world.store, **line_of(number, size))
        left -= size + 1
        if left <= 0:
            return


@pytest.mark.parametrize("host", ["claude-code", "codex"])
@pytest.mark.parametrize(
    ("chars", "has_every_rule"), [(9_499, True), (10_000, False), (40_000, False)]
)
def test_a_layer_arrives_whole_and_below_the_cap_of_the_host(
    make_world, host, chars, has_every_rule
):
    world = make_world(host, rule=False)
    world.rose("config", "routing.max_tokens", "100000")
    fill(world, chars)
    bodies = run(world, host, "Run the tests").bodies
    block = world.block()
    assert [count(body, block) for body in bodies] == [1]
    assert count(bodies, TITLE) == 1
    assert LAYER_BYTES - 2 * LINE_CHARS < len(block) <= LAYER_BYTES
    assert (len(block) == chars) == has_every_rule
    assert matrix(world) == {"whole": 1, "cut": 0, "none": 0, "unknown": 0}
    assert "UserPromptSubmit: whole 1" in world.rose("doctor")


def matrix(world):
    """Return what the log says of the one event at which the one session was sent something."""
    world.wait_for_worker()
    (row,) = activity.arrivals(world.store)
    assert row.event == "UserPromptSubmit"
    return row.counts()


PADDING = """\
import json, subprocess, sys
done = subprocess.run(sys.argv[1:], input=sys.stdin.buffer.read(), capture_output=True)
if done.stdout:
    document = json.loads(done.stdout)
    document["hookSpecificOutput"]["additionalContext"] += "\\n\\n" + "notes of the team " * 600
    print(json.dumps(document))
"""


def pad(world):
    """Let another program call rose's hook, and print more behind its layer."""
    script = os.path.join(world.top, "pad.py")
    files.replace(script, PADDING)
    path = os.path.join(world.repo, ".claude", "settings.local.json")
    settings = json.loads(files.read_text(path))
    handler = settings["hooks"]["UserPromptSubmit"][0]["hooks"][0]
    handler["command"] = f"{shlex.join([sys.executable, script])} {handler['command']}"
    files.replace(path, json.dumps(settings))


def lower(world):
    """Let Codex take less of rose's hook than the layer is long."""
    path = os.path.join(world.repo, ".codex", "hooks.json")
    text = files.read_text(path)
    files.replace(path, text.replace(f": {installation.CONTEXT_TOKENS}", ": 500"))


@pytest.mark.parametrize(
    ("host", "spoil", "said"),
    [("claude-code", pad, "10,000 characters"), ("codex", lower, "additionalContextLimit")],
)
def test_a_layer_that_the_host_cut_is_told_as_cut_with_what_to_do(make_world, host, spoil, said):
    world = make_world(host, rule=False)
    world.rose("config", "routing.max_tokens", "100000")
    fill(world, 9_499)
    spoil(world)
    bodies = run(world, host, "Run the tests").bodies
    assert (count(bodies, TITLE), count(bodies, world.block())) == (1, 0)
    assert matrix(world) == {"whole": 0, "cut": 1, "none": 0, "unknown": 0}
    assert f"{host} UserPromptSubmit: cut 1" in world.rose("status")
    problems = [one for one in world.doctor()["checks"] if one["state"] == "problem"]
    assert [one["section"] for one in problems] == ["delivery"]
    assert said in problems[0]["repair"]


def test_a_layer_that_the_host_dropped_is_told_as_never_delivered(make_world):
    world = make_world("claude-code")
    path = os.path.join(world.repo, ".claude", "settings.local.json")
    # A wrapper of a person's that loses the one line that counts.
    text = files.read_text(path).replace("UserPromptSubmit --host claude-code", "{} >&2")
    files.replace(path, text.replace("{}", "UserPromptSubmit --host claude-code"))
    for _ in range(2):
        assert count(world.claude("Run the tests").bodies, TITLE) == 0
    assert matrix(world) == {"whole": 0, "cut": 0, "none": 2, "unknown": 0}
    assert "never delivered on this host" in world.rose("status")
    problems = [one for one in world.doctor()["checks"] if one["state"] == "problem"]
    assert ["never delivered" in one["text"] for one in problems] == [True]


def test_two_sessions_at_once_get_one_block_each_and_are_both_recorded(make_world):
    world = make_world("claude-code")
    with ThreadPoolExecutor(2) as pool:
        runs = list(pool.map(world.claude, ["Run the integration tests", "Run the slow tests"]))
    block = world.block()
    assert [[count(body, block) for body in one.bodies] for one in runs] == [[1], [1]]
    world.wait_for_worker()
    recorded = sorted(case.session for case in ledger.read(world.store).cases)
    assert recorded == sorted(one.session for one in runs)


@pytest.mark.parametrize("host", ["claude-code", "codex"])
def test_nothing_arrives_and_nothing_is_recorded_where_the_variable_says_off(make_world, host):
    world = make_world(host)
    world.extra["ROSE_OFF"] = "1"
    bodies = run(world, host, "Run the integration tests").bodies
    del world.extra["ROSE_OFF"]
    world.wait_for_worker()
    assert (len(bodies), count(bodies, TITLE)) == (1, 0)
    assert ledger.read(world.store).cases == ()


@pytest.mark.parametrize("host", ["claude-code", "codex"])
def test_nothing_arrives_where_the_setting_says_off(make_world, host):
    world = make_world(host)
    world.rose("config", "routing.enabled", "false")
    bodies = run(world, host, "Run the integration tests").bodies
    assert (len(bodies), count(bodies, TITLE)) == (1, 0)


def test_a_rule_that_is_taught_between_two_prompts_is_in_the_second(make_world):
    world = make_world("claude-code")
    first = world.claude("Run the integration tests")
    before = world.block()
    teach(world, "slow")
    second = world.claude("Run the slow tests", "--resume", first.session)
    assert count(first.bodies, before) == 1
    assert before != world.block()
    assert count(second.bodies, world.block()) == 1


def test_a_store_that_came_with_a_clone_is_passed_over_until_it_is_trusted(make_world):
    world = make_world("claude-code", install=False)
    world.rose("install", "--host", "claude-code", "--scope", "user")
    world.rose("trust", "--revoke")
    before = world.claude("Run the integration tests").bodies
    world.rose("trust")
    after = world.claude("Run the integration tests").bodies
    assert (len(before), count(before, TITLE)) == (1, 0)
    assert [count(body, world.block()) for body in after] == [1]


def test_a_session_that_is_switched_off_gets_nothing_more(make_world):
    world = make_world("claude-code")
    first = world.claude("Run the integration tests")
    before = world.block()
    world.rose("off", "--session", first.session)
    teach(world, "slow")
    second = world.claude("Run the slow tests", "--resume", first.session)
    assert count(second.bodies, world.block()) == 0
    assert count(second.bodies, TITLE) == count(first.bodies, before) == 1
