"""Real agent programs against the loopback model: who has none of them skips these tests."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.e2e import world as worlds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = {
    "claude-code": ("ROSE_E2E_CLAUDE", worlds.CLAUDE),
    "codex": ("ROSE_E2E_CODEX", worlds.CODEX),
}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test of this folder, before `-m` chooses."""
    ours = [item for item in items if str(item.path).startswith(HERE + os.sep)]
    has_program = any(is_there(program) for _, program in PROGRAMS.values())
    for item in ours:
        item.add_marker(pytest.mark.e2e)
        if not has_program:
            # Said once a file, not once a test.
            item.add_marker(pytest.mark.skip(reason="no agent program is named: docs/hosts.md"))


def is_there(program: str) -> bool:
    return os.path.isfile(program) and os.access(program, os.X_OK)


def need(host: str) -> None:
    """Skip where a host's program is absent."""
    variable, program = PROGRAMS[host]
    if not is_there(program):
        pytest.skip(f"{variable} names no program: the real {host} was not run")


@pytest.fixture(scope="module")
def make_world(tmp_path_factory) -> Iterator[Callable[..., worlds.World]]:
    """Return a maker of projects wired to a host; their workers are waited for at the end."""
    made: list[worlds.World] = []

    def make(host: str, *, rule: bool = True, install: bool = True) -> worlds.World:
        need(host)
        world = worlds.a_world(str(tmp_path_factory.mktemp("world")))
        made.append(world)
        if rule:
            worlds.teach(world)
        if install:
            world.rose("install", "--host", host)
        return world

    yield make
    for world in made:
        world.wait_for_worker()
