"""The whole pass with a real small model on a local server: whatever it answers, the store holds.

How to run it, and what it needs: tests/local_model.py. `-rP` shows the count.
"""

from __future__ import annotations

import sys
from collections import Counter

import pytest

from rose import files
from rose.backends.openai import OpenAI
from rose.reflection.ask import Reflector
from rose.routing import ledger, table
from rose.routing import rules as rulebook
from tests.clirun import run
from tests.factories import a_rule_file
from tests.fakes import some_options
from tests.local_model import serving_model
from tests.reflection.scene import LESSONS, Scene

pytestmark = pytest.mark.model

SESSIONS = ("work-1", "work-2", "work-cut", "work-docs", "work-routed")
ROUNDS = 4
# What it may read and write in all: a model that never stops is stopped by it.
CONTEXT = 4096
MOST = 10**9
SPEND = {
    f"spend_{what}_per_{per}": MOST
    for what in ("calls", "tokens", "seconds")
    for per in ("day", "session")
}


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    with serving_model(tmp_path_factory.mktemp("model"), CONTEXT) as address:
        yield address


def a_scene(tmp_path, number: int) -> Scene:
    """Return a project with some rules of its own, so that no two rounds ask the same."""
    tmp_path.mkdir()
    scene = Scene(tmp_path, {"learning": {"lessons": "on"}})
    for name in sorted(LESSONS)[:number]:
        origin = "reflection" if number % 2 else "manual"
        when, then = f"the task changes the {name.partition('/')[0]}", f"read nodes/{name}.md"
        a_rule_file(scene.store, when=when, then=then, origin=origin)
    return scene


def faults(scene) -> list[str]:
    """Return what is wrong with any rule of the store, as `rose check` sees it."""
    current = table.read(scene.store, ("nodes",))
    found = [finding.line() for finding in current.findings]
    for rule in current.rules:
        path = table.path_of(scene.store, rule.id)
        told = run("check", path, "--as", "rule", "--json", cwd=scene.base).json
        # A rule that a test wrote has no quotes.
        found += [
            f"{one['rule']}: {one['message']}"
            for one in told["findings"]
            if one["severity"] == "error" and one["rule"] != "evidence-missing"
        ]
        found += [] if rulebook.line(rule).isprintable() else [rule.id]
    return found


def test_whatever_a_small_model_answers_the_store_stays_valid(tmp_path, url):
    settings = {"openai_base_url": url, "openai_model": "gemma", "reflection_timeout_s": 120}
    options = some_options(**settings, **SPEND)
    model = OpenAI(options, {})
    reflector = Reflector(lambda _: model, options.settings, lambda: 1_796_000_000.0)
    count: Counter[str] = Counter()
    for number in range(ROUNDS):
        scene = a_scene(tmp_path / str(number), number)
        for name in SESSIONS:
            outcome = scene.reflect(scene.capture(name), reflector=reflector)
            assert outcome.state == "reflected"
            assert faults(scene) == []
            tell(count, outcome)
        assert len(ledger.read(scene.store).cases) == len(SESSIONS)
        assert len([*files.read_jsonl(scene.store.trace)]) == len(SESSIONS)
    sys.stdout.write(f"{dict(sorted(count.items()))}\n")
    assert count["asked"] == ROUNDS * len(SESSIONS)
    assert count["answered"] > 0


def tell(count: Counter[str], outcome) -> None:
    """Add up what became of one answer."""
    asked = outcome.asked
    count["asked"] += 1
    count["answered"] += asked.proposal is not None
    count[f"failed: {asked.kind}"] += bool(asked.kind)
    count["seconds"] += round(asked.usage.seconds)
    if asked.proposal is not None:
        said = asked.proposal
        aside = Counter(item.where.partition(" ")[0] for item in said.malformed)
        count["operations"] += len(said.operations) + aside["operations"]
        count["operations set aside"] += aside["operations"]
        count["operations accepted"] += len(outcome.learned)
        count["lessons"] += len(said.lessons) + aside["lessons"]
        count["lessons accepted"] += sum(new.is_sound for new in outcome.lessons)
        count["claims"] += len(said.used) + len(said.rules) + aside["used"] + aside["rules"]
