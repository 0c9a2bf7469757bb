"""The pages say what the program does: a command, a setting or a path cannot drift away."""

from __future__ import annotations

import os
import re

import pytest

from rose import config
from rose.cli import app

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def page(name: str) -> str:
    with open(os.path.join(ROOT, "docs", name), encoding="utf-8") as stream:
        return stream.read()


@pytest.mark.parametrize("command", [*app.COMMANDS, "hook"])
def test_every_command_is_documented(command):
    assert f"### `rose {command}`" in page("cli.md")


def test_every_documented_command_exists():
    named = set(re.findall(r"^### `rose (\w+)`", page("cli.md"), re.MULTILINE))
    assert named == {*app.COMMANDS, "hook"}


@pytest.mark.parametrize("key", config.KEYS.values(), ids=config.KEYS)
def test_every_setting_is_documented_with_its_default(key):
    default = config.get(config.Settings(), key.name)
    assert f"| `{key.name}` | {default} |" in page("cli.md")


@pytest.mark.parametrize(
    "name", sorted(name for name in os.listdir(os.path.join(ROOT, "docs", "decisions")))
)
def test_a_decision_has_its_number_and_its_parts(name):
    text = page(f"decisions/{name}")
    assert text.startswith(f"# {name[:3]}. ")
    assert "**Context.**" in text
    assert "**Decision.**" in text


@pytest.mark.parametrize(
    "name", ["README.md", *(f"docs/{n}" for n in os.listdir(os.path.join(ROOT, "docs")))]
)
def test_a_link_between_pages_leads_somewhere(name):
    path = os.path.join(ROOT, name)
    if os.path.isdir(path):
        return
    with open(path, encoding="utf-8") as stream:
        links = re.findall(r"\]\((?!https?:)([^)#]+)", stream.read())
    missing = [
        link for link in links if not os.path.exists(os.path.join(os.path.dirname(path), link))
    ]
    assert missing == []


def test_every_check_of_a_draft_is_documented():
    found = set()
    folder = os.path.join(ROOT, "rose", "check")
    for name in os.listdir(folder):
        if name.endswith(".py"):
            with open(os.path.join(folder, name), encoding="utf-8") as stream:
                named = r'(?:Finding\(|\.fail\(\s*"[a-z]+",)\s*"([a-z-]+)"'
                found |= set(re.findall(named, stream.read()))
    assert len(found) > 30
    assert found <= set(re.findall(r"`([a-z-]+)`", page("cli.md")))
