"""The plugin for Claude Code says what the package says, where the two could drift apart."""

from __future__ import annotations

import json
import os
import re

import pytest

from rose import frontmatter
from rose.cli import app
from rose.hosts import installation

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PLUGIN = os.path.join(ROOT, "plugin")
PAGES = ("commands/rose.md", "skills/where-knowledge-lies/SKILL.md")


def read(*names: str) -> str:
    with open(os.path.join(ROOT, *names), encoding="utf-8") as stream:
        return stream.read()


def test_its_version_is_the_package_s():
    version = re.search(r'^version = "(.+)"$', read("pyproject.toml"), re.MULTILINE)
    assert version is not None
    assert json.loads(read("plugin", ".claude-plugin", "plugin.json"))["version"] == version[1]


def test_the_marketplace_leads_to_it():
    market = json.loads(read(".claude-plugin", "marketplace.json"))
    manifest = json.loads(read("plugin", ".claude-plugin", "plugin.json"))
    sources = {each["name"]: os.path.join(ROOT, each["source"]) for each in market["plugins"]}
    assert list(sources) == [manifest["name"]]
    assert os.path.samefile(sources[manifest["name"]], PLUGIN)


def test_its_hooks_are_those_of_a_shared_install():
    aim = installation.target("claude-code", "project", ROOT, {}, shared=True)
    ours = installation.wanted(aim, "").handlers
    wanted = {
        event: [{"hooks": [{key: value for key, value in handler.items() if key != "_rose"}]}]
        for event, handler in ours.items()
    }
    assert json.loads(read("plugin", "hooks", "hooks.json"))["hooks"] == wanted


@pytest.mark.parametrize("page", PAGES)
def test_its_pages_name_only_commands_that_exist(page):
    named = set(re.findall(r"(?:`|^    )rose ([a-z]+)", read("plugin", page), re.MULTILINE))
    assert named & {"route", "status"}
    assert named <= set(app.COMMANDS)


@pytest.mark.parametrize("page", PAGES)
def test_its_pages_have_a_description(page):
    fields, _, findings = frontmatter.read(read("plugin", page), page)
    assert (bool(fields["description"]), findings) == (True, [])
