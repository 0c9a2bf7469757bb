"""What Codex's interactive program does at `/compact` and `/clear`, over the server it uses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.codex_server import hooks, serving_codex, tables
from tests.e2e.world import count
from tests.stub_models import serving

if TYPE_CHECKING:
    from tests.e2e.world import Run

FIRST = "Run the integration tests"
SUMMARY = "The integration tests ran, and that is all there was."


@dataclass(frozen=True)
class Talk:
    """The requests of two sessions, the first compacted twice, the last time right before its end.

    The second is what a clear begins, and the runs resume the first after its end.
    """

    block: str
    compacted: list[dict[str, Any]]
    cleared: list[dict[str, Any]]
    resumed: list[Run]


@pytest.fixture(scope="module")
def talk(make_world) -> Talk:
    world = make_world("codex")
    trusted = tables(hooks(world))
    with serving([{"side": True, "text": SUMMARY}] * 2) as stub:
        world.configure_codex(stub.url, trusted)
        with serving_codex(world) as server:
            session = server.begin()
            server.prompt(session, FIRST)
            server.compact(session)
            server.prompt(session, "Where were we?")
            server.prompt(session, "Go on")
            compacted = stub.main_bodies
            server.compact(session)
            server.prompt(server.begin(sessionStartSource="clear"), "Begin anew")
            cleared = stub.main_bodies[len(compacted) :]
    resumed = [world.codex("Go on", "resume", session, "-", trusted=trusted) for _ in range(2)]
    return Talk(world.block(), compacted, cleared, resumed)


def test_each_turn_before_and_after_a_compact_of_codex_holds_one_block(talk):
    assert [count(body, SUMMARY) for body in talk.compacted] == [0, 1, 1]
    assert [count(body, talk.block) for body in talk.compacted] == [1, 1, 1]


def test_a_session_of_codex_that_ended_right_after_a_compact_gets_one_block_when_it_goes_on(talk):
    bodies = [body for run in talk.resumed for body in run.bodies]
    assert [count(body, talk.block) for body in bodies] == [1, 1]


def test_what_a_clear_of_codex_begins_holds_one_block(talk):
    assert count(talk.cleared, FIRST) == 0
    assert [count(body, talk.block) for body in talk.cleared] == [1]
