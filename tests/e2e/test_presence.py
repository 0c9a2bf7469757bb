"""One block a session: what resuming, forking, compacting and delegating do to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from tests.e2e.world import count, strings

if TYPE_CHECKING:
    from tests.e2e.world import Run, World

SUBTASK = "Look at the integration tests as a subtask"


@dataclass(frozen=True)
class Claude:
    """The runs of one long session of Claude Code and of its fork, in order."""

    world: World
    first: Run
    third: Run
    fork: Run
    fork_again: Run
    compacted: Run
    delegated: Run


@pytest.fixture(scope="module")
def claude(make_world) -> Claude:
    world = make_world("claude-code")
    first = world.claude("Run the integration tests")
    same = ("--resume", first.session)
    world.claude("Once more", *same)
    third = world.claude("And again", *same)
    fork = world.claude("Try it another way", *same, "--fork-session")
    fork_again = world.claude("Go on", "--resume", fork.session)
    world.claude("/compact", *same, turns=["The integration tests ran."])
    compacted = world.claude("Where were we?", *same)
    call = {"description": "Look", "prompt": SUBTASK, "subagent_type": "general-purpose"}
    delegated = world.claude("Delegate it", turns=[{"tool": "Agent", "input": call}])
    return Claude(world, first, third, fork, fork_again, compacted, delegated)


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


def test_the_prompt_after_a_compaction_gets_one_fresh_block(claude):
    assert count(claude.compacted.bodies, "Run the integration tests") == 0
    assert [count(body, claude.world.block()) for body in claude.compacted.bodies] == [1]


def test_the_first_request_of_a_subagent_holds_the_layer_once(claude):
    inner = [body for body in claude.delegated.bodies if not count(body, "Delegate it")]
    assert SUBTASK in "\n".join(strings(inner[0]["messages"]))
    assert count(inner[0], claude.world.block()) == 1


@dataclass(frozen=True)
class Codex:
    """The runs of one session of Codex and of its fork, in order."""

    world: World
    first: Run
    third: Run
    fork: Run


@pytest.fixture(scope="module")
def codex(make_world) -> Codex:
    world = make_world("codex")
    free = "--dangerously-bypass-hook-trust"
    first = world.codex("Run the integration tests", free)
    world.codex("Once more", free, "resume", first.session, "-")
    third = world.codex("And again", free, "resume", first.session, "-")
    fork = world.codex("Try it another way", free, "fork", first.session, "-")
    return Codex(world, first, third, fork)


def test_the_first_prompt_in_codex_holds_the_layer_once(codex):
    assert [count(body, codex.world.block()) for body in codex.first.bodies] == [1]


def test_three_prompts_of_one_session_of_codex_cost_one_block(codex):
    assert count(codex.third.bodies, "Once more") == 1
    assert [count(body, codex.world.block()) for body in codex.third.bodies] == [1]


def test_a_fork_in_codex_gets_one_block_of_its_own(codex):
    assert codex.fork.session != codex.first.session
    assert [count(body, codex.world.block()) for body in codex.fork.bodies] == [2]
