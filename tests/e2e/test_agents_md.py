"""A Codex whose hooks are off finds the block in AGENTS.md."""

from __future__ import annotations

from rose.hosts import agents_md
from tests.e2e.world import count


def test_codex_without_hooks_reads_the_block_of_agents_md_once(make_world):
    world = make_world("codex", install=False)
    world.rose("install", "--agents-md")
    (body,) = world.codex("Run the integration tests", "--disable", "hooks").bodies
    assert count(body, agents_md.block()) == 1
    assert count(body, "rose routing layer") == 0
    world.rose("uninstall", "--agents-md")
    (body,) = world.codex("Run the integration tests", "--disable", "hooks").bodies
    assert count(body, "rose: begin") == 0
