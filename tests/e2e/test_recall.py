"""What recall serves reaches the model beside the layer, and comes back as what was opened."""

from __future__ import annotations

import pytest

from rose.routing import ledger
from rose.selection import pack, trace
from tests.e2e.world import count

PROMPT = "Run the integration tests against the database"


def run(world, host):
    if host == "codex":
        return world.codex(PROMPT, "--dangerously-bypass-hook-trust")
    return world.claude(PROMPT)


@pytest.mark.parametrize("host", ["claude-code", "codex"])
def test_both_blocks_are_in_the_request_and_the_lessons_count_as_served(make_world, host):
    world = make_world(host)
    world.rose("config", "recall.serve", "bodies")
    # So that the client's hook finds the index made.
    world.rose("recall", PROMPT)
    done = run(world, host)
    world.wait_for_worker()
    own = [row for row in trace.latest(world.store, 9) if row["session"] == done.session]
    assert [row["failure"] for row in own] == [None]
    [row] = own
    assert [count(body, world.block() + pack.JOIN + row["text"]) for body in done.bodies] == [1]
    [case] = ledger.read(world.store).cases
    served = {one.lesson: one.how for one in case.opened}
    assert served == dict.fromkeys((one["node"] for one in row["admitted"]), "served")
    assert row["output"]["opened"] == [one["node"] for one in row["admitted"]]
