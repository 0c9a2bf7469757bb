"""One block a session: what resuming, forking, compacting and delegating do to it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from rose.report import activity
from rose.routing import ledger
from tests.e2e.world import count, strings, teach

if TYPE_CHECKING:
    from tests.e2e.world import Run, World

SUBTASK = "Look at the integration tests as a subtask"
SUMMARY = "The integration tests ran, and that is all there was."
FREE = "--dangerously-bypass-hook-trust"
# What lets Claude Code make room by itself soon, and the summary that it then asks for.
FULL = {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "100000", "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "35"}
ASKED = {"when": "summary", "text": SUMMARY}


@dataclass(frozen=True)
class Claude:
    """The runs of one long session of Claude Code and of its fork, in order."""

    world: World
    first: Run
    third: Run
    fork: Run
    fork_again: Run
    compacted: Run
    on: Run
    delegated: Run
    cleared: Run
    anew: Run


@pytest.fixture(scope="module")
def claude(make_world) -> Claude:
    world = make_world("claude-code")
    first = world.claude("Run the integration tests")
    same = ("--resume", first.session)
    world.claude("Once more", *same)
    third = world.claude("And again", *same)
    fork = world.claude("Try it another way", *same, "--fork-session")
    fork_again = world.claude("Go on", "--resume", fork.session)
    world.claude("/compact", *same, turns=[SUMMARY])
    compacted = world.claude("Where were we?", *same)
    on = world.claude("Go on", *same)
    call = {"description": "Look", "prompt": SUBTASK, "subagent_type": "general-purpose"}
    delegated = world.claude("Delegate it", turns=[{"tool": "Agent", "input": call}])
    cleared = world.claude("/clear", *same)
    anew = world.claude("Begin anew", "--resume", cleared.session)
    return Claude(world, first, third, fork, fork_again, compacted, on, delegated, cleared, anew)


def test_the_first_prompt_of_a_session_holds_the_layer_once(claude):
    assert [count(body, claude.world.block()) for body in claude.first.bodies] == [1]


def test_three_prompts_of_one_session_cost_one_block(claude):
    assert claude.third.session == claude.first.session
    assert count(claude.third.bodies, "Once more") == 1
    assert [count(body, claude.world.block()) for body in claude.third.bodies] == [1]


def test_a_fork_gets_one_block_of_its_own(claude):
    assert claude.fork.session != claude.first.session
    assert [count(body, claude.world.block()) for body in claude.fork.bodies] == [2]


def test_the_second_prompt_of_a_fork_costs_no_further_block(claude):
    assert [count(body, claude.world.block()) for body in claude.fork_again.bodies] == [2]


def test_the_prompts_after_a_compaction_hold_one_fresh_block(claude):
    assert count(claude.compacted.bodies, "Run the integration tests") == 0
    assert [count(body, claude.world.block()) for body in claude.compacted.bodies] == [1]
    assert [count(body, claude.world.block()) for body in claude.on.bodies] == [1]


def test_the_first_request_of_a_subagent_holds_the_layer_once(claude):
    inner = [body for body in claude.delegated.bodies if not count(body, "Delegate it")]
    assert SUBTASK in "\n".join(strings(inner[0]["messages"]))
    assert count(inner[0], claude.world.block()) == 1


def test_a_session_that_was_cleared_gets_a_fresh_block(claude):
    assert claude.cleared.session != claude.first.session
    assert claude.anew.session == claude.cleared.session
    assert count(claude.anew.bodies, "Run the integration tests") == 0
    assert [count(body, claude.world.block()) for body in claude.anew.bodies] == [1]


def test_the_record_shows_that_every_block_arrived_whole(claude):
    claude.world.wait_for_worker()
    found = {row.event: row.counts() for row in activity.arrivals(claude.world.store)}
    assert sorted(found) == ["SessionStart", "SubagentStart", "UserPromptSubmit"]
    assert found["SessionStart"]["whole"] == found["SubagentStart"]["whole"] == 1
    assert sum(of["cut"] + of["none"] + of["unknown"] for of in found.values()) == 0


@dataclass(frozen=True)
class Codex:
    """The runs of one session of Codex and of its fork, in order, and the layer they were sent."""

    block: str
    first: Run
    third: Run
    fork: Run
    fork_again: Run
    compacted: Run
    after: Run
    changed: Run
    changed_block: str


@pytest.fixture(scope="module")
def codex(make_world) -> Codex:
    world = make_world("codex")
    first = world.codex("Run the integration tests", FREE)
    same = ("resume", first.session, "-")
    world.codex("Once more", FREE, *same)
    third = world.codex("And again", FREE, *same)
    fork = world.codex("Try it another way", FREE, "fork", first.session, "-")
    fork_again = world.codex("Go on", FREE, "resume", fork.session, "-")
    full = ("-c", "model_auto_compact_token_limit=1")
    summary = {"side": True, "text": SUMMARY}
    compacted = world.codex("Where were we?", FREE, *full, *same, turns=[summary])
    after = world.codex("Go on", FREE, *same)
    block = world.block()
    teach(world, "slow")
    changed = world.codex("Run the slow tests", FREE, *same)
    return Codex(block, first, third, fork, fork_again, compacted, after, changed, world.block())


def test_the_first_prompt_in_codex_holds_the_layer_once(codex):
    assert [count(body, codex.block) for body in codex.first.bodies] == [1]


def test_three_prompts_of_one_session_of_codex_cost_one_block(codex):
    assert codex.third.session == codex.first.session
    assert count(codex.third.bodies, "Once more") == 1
    assert [count(body, codex.block) for body in codex.third.bodies] == [1]


def test_a_fork_in_codex_gets_one_block_of_its_own(codex):
    assert codex.fork.session != codex.first.session
    assert [count(body, codex.block) for body in codex.fork.bodies] == [2]


def test_the_second_prompt_of_a_fork_in_codex_costs_no_further_block(codex):
    assert [count(body, codex.block) for body in codex.fork_again.bodies] == [2]


def test_the_prompt_after_a_compaction_in_codex_gets_one_fresh_block(codex):
    assert count(codex.compacted.bodies, SUMMARY) == 1
    assert [count(body, codex.block) for body in codex.compacted.bodies] == [1]
    assert [count(body, codex.block) for body in codex.after.bodies] == [1]


def test_a_rule_that_is_taught_between_two_prompts_in_codex_is_in_the_second(codex):
    assert codex.changed_block != codex.block
    assert count(codex.after.bodies, codex.changed_block) == 0
    assert [count(body, codex.changed_block) for body in codex.changed.bodies] == [1]


def test_two_sessions_of_codex_at_once_get_one_block_each_and_are_both_recorded(make_world):
    world = make_world("codex")
    with ThreadPoolExecutor(2) as pool:
        tasks = ["Run the integration tests", "Run the slow tests"]
        runs = list(pool.map(lambda task: world.codex(task, FREE), tasks))
    assert [[count(body, world.block()) for body in run.bodies] for run in runs] == [[1], [1]]
    world.wait_for_worker()
    recorded = sorted(case.session for case in ledger.read(world.store).cases)
    assert recorded == sorted(run.session for run in runs)


def test_the_first_request_of_a_subagent_of_codex_holds_the_layer_once(make_world):
    world = make_world("codex")
    spawn = {"tool": "spawn_agent", "namespace": "multi_agent_v1", "input": {"message": SUBTASK}}
    # The parent waits for what the child does, since the client ends with the parent.
    wait = "until [ -e seen ]; do sleep 0.05; done"
    turns = [
        {"when": "Delegate it", **spawn},
        {"when": SUBTASK, "tool": "exec_command", "input": {"cmd": "touch seen"}},
        {"when": "agent_id", "tool": "exec_command", "input": {"cmd": wait}},
    ]
    bodies = world.codex("Delegate it", FREE, turns=turns).bodies
    inner = [body for body in bodies if not count(body, "Delegate it")]
    assert count(inner[0], SUBTASK) == 1
    assert {count(body, world.block()) for body in inner} == {1}


def compacted_in_a_turn(world: World, host: str) -> Run:
    """Run a turn in the middle of which the host makes room by itself."""
    if host == "codex":
        turns = [
            {"tool": "exec_command", "input": {"cmd": "ls"}},
            {"side": True, "text": SUMMARY},
        ]
        return world.codex(
            "List it", FREE, "-c", "model_auto_compact_token_limit=2000", turns=turns
        )
    first = world.claude("Run the integration tests")
    world.extra |= FULL
    call = {"command": "ls", "description": "List"}
    # It asks for the summary twice.
    turns = [{"when": "word word", "tool": "Bash", "input": call}, ASKED, ASKED]
    return world.claude("word " * 60_000, "--resume", first.session, turns=turns)


@pytest.mark.parametrize("host", ["claude-code", "codex"])
def test_the_turn_goes_on_with_one_block_after_a_compaction_and_so_does_the_next(make_world, host):
    world = make_world(host)
    turn = compacted_in_a_turn(world, host)
    assert count(turn.bodies[-1], SUMMARY) == 1
    assert count(turn.bodies[-1], world.block()) == 1
    if host == "codex":
        after = world.codex("Go on", FREE, "resume", turn.session, "-")
    else:
        after = world.claude("Go on", "--resume", turn.session)
    assert [count(body, world.block()) for body in after.bodies] == [1]


def test_a_subagent_that_is_compacted_gets_its_block_again_and_the_main_agent_no_second(make_world):
    world = make_world("claude-code")
    world.extra |= FULL
    call = {"description": "Look", "prompt": SUBTASK, "subagent_type": "general-purpose"}
    print_much = {"command": "yes word | head -c 29000", "description": "Print"}
    turns = [
        {"when": "Delegate it", "tool": "Agent", "input": call},
        *[ASKED] * 2,
        *[{"when": f"{SUBTASK}|word\nword", "tool": "Bash", "input": print_much}] * 5,
    ]
    bodies = world.claude("Delegate it", turns=turns).bodies
    inner = [body for body in bodies if not count(body, "Delegate it")]
    assert count(inner[-1], SUMMARY) == 1
    assert {count(body, world.block()) for body in bodies} == {1}


def test_a_subagent_of_codex_that_is_compacted_costs_the_main_agent_no_second_block(make_world):
    world = make_world("codex")
    spawn = {"tool": "spawn_agent", "namespace": "multi_agent_v1", "input": {"message": SUBTASK}}
    wait = "until [ -e seen ]; do sleep 0.05; done"
    print_much = "yes word | head -c 30000"
    turns = [
        {"when": "Delegate it", **spawn},
        {"when": SUBTASK, "tool": "exec_command", "input": {"cmd": print_much}},
        {"when": "agent_id", "tool": "exec_command", "input": {"cmd": wait}},
        {"side": True, "text": SUMMARY},
        {"when": SUMMARY, "tool": "exec_command", "input": {"cmd": "touch seen"}},
    ]
    full = ("-c", "model_auto_compact_token_limit=7000")
    run = world.codex("Delegate it", FREE, *full, turns=turns)
    inner = [body for body in run.bodies if not count(body, "Delegate it")]
    after = world.codex("Go on", FREE, "resume", run.session, "-")
    assert count(inner[-1], SUMMARY) == 1
    assert [count(body, world.block()) for body in after.bodies] == [1]
