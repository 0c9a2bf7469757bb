"""rose routes itself: the store of this repository is one that its own checks accept."""

from __future__ import annotations

import os
import shutil

import pytest

from rose import config, layout
from rose.check import checks, context
from rose.routing import table
from rose.store import lessons

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@pytest.fixture
def store(tmp_path):
    """Return a copy, so that no test writes into the checkout."""
    base = os.path.join(tmp_path, "rose")
    for name in ("nodes", os.path.join(".rose", "routing")):
        shutil.copytree(os.path.join(ROOT, name), os.path.join(base, name))
    return layout.project_store(base)


def test_the_lessons_are_many_and_sound(store):
    shelf = lessons.scan(store, config.read(store)[0])
    assert len(shelf.active()) >= 15
    assert shelf.findings == ()


def test_every_rule_passes_the_checks_of_a_taught_rule(store):
    settings = config.read(store)[0]
    shelf = lessons.scan(store, settings)
    found = table.read(store, settings.lessons_paths)
    assert found.findings == ()
    assert len(found.rules) >= 5
    ground = context.of_store(lessons.Holding(store, settings, shelf), settings.routing_max_tokens)
    faults = [
        fault
        for rule in found.rules
        for fault in checks.check_rule(
            checks.Draft(rule.when, rule.then, rule.effect, replaces=rule.id), ground
        )
    ]
    assert faults == []
