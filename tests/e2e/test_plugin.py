"""The plugin of this repository in the real Claude Code: from its folder and from the market."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from tests.e2e import world as worlds
from tests.e2e.world import count, strings

if TYPE_CHECKING:
    from tests.e2e.world import Run, World

PLUGIN = os.path.join(worlds.ROOT, "plugin")


def manage(world: World, *words: str) -> str:
    """Run a command of Claude Code that manages plugins, without a model."""
    environ = world.environ() | {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
    out, err, code = worlds.run_client([worlds.CLAUDE, "plugin", *words], "", environ, world.repo)
    assert code == 0, out + err
    return out


@dataclass(frozen=True)
class Plugged:
    """A project that is wired by the plugin alone: from the folder, then from the market."""

    world: World
    folder: Run
    command: Run
    market: Run
    settings: str


@pytest.fixture(scope="module")
def plugged(make_world) -> Plugged:
    world = make_world("claude-code", install=False)
    folder = world.claude("Run the integration tests", "--plugin-dir", PLUGIN)
    command = world.claude("/rose:rose docs tasks need nodes/docs", "--plugin-dir", PLUGIN)
    manage(world, "marketplace", "add", worlds.ROOT)
    manage(world, "install", "rose@rose", "--scope", "project")
    market = world.claude("Run the integration tests")
    with open(os.path.join(world.repo, ".claude", "settings.json"), encoding="utf-8") as stream:
        return Plugged(world, folder, command, market, stream.read())


@pytest.mark.parametrize("path", [PLUGIN, worlds.ROOT], ids=["plugin", "marketplace"])
def test_the_client_finds_no_fault(make_world, path):
    world = make_world("claude-code", rule=False, install=False)
    assert "Validation passed" in manage(world, "validate", path)


def test_its_hook_injects_the_layer_once(plugged):
    assert [count(body, plugged.world.block()) for body in plugged.folder.bodies] == [1]


def test_its_skill_is_listed_to_the_model(plugged):
    assert count(plugged.folder.bodies, "rose:where-knowledge-lies") == 1


def test_its_command_shows_the_state_and_hands_on_the_words(plugged):
    said = [text for text in strings(plugged.command.bodies[0]) if "The state of the bet" in text]
    assert len(said) == 1
    assert "1 selection rule over 15 lessons" in said[0]
    assert 'words: "docs tasks need nodes/docs"' in said[0]


def test_installed_from_the_local_market_it_injects_the_layer_once(plugged):
    assert json.loads(plugged.settings) == {"enabledPlugins": {"rose@rose": True}}
    assert [count(body, plugged.world.block()) for body in plugged.market.bodies] == [1]


def test_doctor_sees_a_project_that_the_plugin_alone_wires(plugged):
    hosts = [one for one in plugged.world.doctor()["checks"] if one["section"] == "hosts"]
    assert [one["state"] for one in hosts] == ["ok"]
    assert "by the plugin rose@rose" in hosts[0]["text"]


def test_where_rose_is_not_on_the_path_it_does_nothing_and_says_nothing(make_world):
    world = make_world("claude-code", install=False)
    os.unlink(os.path.join(world.top, "bin", "rose"))
    done = world.claude("Run the integration tests", "--plugin-dir", PLUGIN)
    assert (done.code, done.err, len(done.bodies)) == (0, "", 1)
    assert count(done.bodies, "rose routing layer") == 0
