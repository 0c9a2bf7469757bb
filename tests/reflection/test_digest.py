"""A session within a token budget."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from rose import config, tokens
from rose.hosts import registry
from rose.hosts.base import (
    BLOCK_HEADING,
    REFLECTION_MARKER,
    Boundary,
    Event,
    Injection,
    regions,
)
from rose.reflection.digest import digest
from rose.store import lessons
from tests.reflection.told import Told, called, ran, said, typed

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BLOCK = f"{BLOCK_HEADING}\nRead what fits.\n- When the task is a test: read nodes/testing/"


@pytest.fixture
def held(scene):
    settings = config.read(scene.store)[0]
    shelf = lessons.scan(scene.store, settings, cache=False)
    return [lessons.Holding(scene.store, settings, shelf)]


def text_of(held, *events: Event, **options: int) -> str:
    return digest(Told(*events), held, **options).text


def test_a_captured_session_is_told_in_order(scene, held):
    path = scene.capture("work-1")
    assert digest(registry.open_transcript(path), held).text == (
        "[1] typed\n"
        "| Run the integration tests and tell me what is broken\n"
        "[2] said\n"
        "| I'll run them.\n"
        "[3] failed: pytest tests/integration\n"
        "| E RuntimeError: APP_DB_URL is not set\n"
        "| ERROR tests/integration/test_db.py - RuntimeError: APP_DB_URL is not set\n"
        "| =========================== 1 error in 0.04s ===========================\n"
        "[7] then worked: APP_DB_URL=sqlite:///tmp/app.db pytest tests/integration\n"
        "[4] said\n"
        "| Every test errors at setup. Let me see whether anything is written down about this.\n"
        "[5] called: Grep nodes pattern=database output_mode=files_with_matches\n"
        "[6] opened (read): nodes/testing/integration-db.md\n"
        "[8] said\n"
        "| Nothing is broken: the suite needs APP_DB_URL. With it set, both tests pass.\n"
    )


def test_the_numbers_are_those_of_the_regions(held):
    events = [
        typed("begin"),
        Injection(1, "UserPromptSubmit", BLOCK),
        said(BLOCK),
        ran("true"),
        ran("make", "built it"),
        said("done with it"),
        typed(f"{BLOCK}\n\nthen stop", 2),
    ]
    numbered = {region.text.strip(): region.number for region in regions(Told(*events))}
    assert numbered == {"begin": 1, "built it": 2, "done with it": 3, "then stop": 4}
    text = text_of(held, *events)
    assert "[-] ran: true\n[2] ran: make\n[3] said\n| done with it\n" in text
    assert "[4] typed\n| then stop\n" in text


def test_every_prompt_is_kept_where_the_rest_has_no_room(held):
    events = []
    for number in range(40):
        events.append(typed(f"correction {number}: not like that"))
        events += [ran(f"make step{number}-{at} " + "x" * 200) for at in range(20)]
    found = digest(Told(*events), held, max_tokens=2_000)
    assert all(f"correction {number}:" in found.text for number in range(40))
    assert found.tokens <= 2_000
    assert found.left_out == 800 - found.text.count(" ran: ")


def test_one_huge_prompt_does_not_crowd_out_the_others(held):
    events = [typed("huge " * 40_000), *(typed(f"no, number {n}") for n in range(30))]
    text = text_of(held, *events, max_tokens=1_500)
    assert all(f"no, number {n}" in text for n in range(30))
    assert "[…]" in text


def test_failures_have_room_beside_many_prompts(held):
    events = [typed("word " * 300) for _ in range(200)]
    events += [ran("make", "error: no rule", failed=True), ran("make all", "built")]
    text = text_of(held, *events, max_tokens=3_000)
    assert "failed: make\n| error: no rule\n" in text


def test_a_fixed_failure_stands_with_what_fixed_it(held):
    events = [
        ran("git push", "fatal: no upstream branch", failed=True),
        said("It has no upstream."),
        ran("git push -u origin x", "done"),
    ]
    assert text_of(held, *events) == (
        "[1] failed: git push\n"
        "| fatal: no upstream branch\n"
        "[3] then worked: git push -u origin x\n"
        "[2] said\n"
        "| It has no upstream.\n"
    )


def test_what_came_right_before_something_worked_is_kept_first(held):
    events = [ran(f"tool{number} look around", "fine") for number in range(300)]
    events[150:150] = [
        ran("make", "error: stale", failed=True),
        ran("make-clean --all", "clean"),
        ran("make", "built"),
    ]
    text = text_of(held, *events, max_tokens=400)
    assert "make-clean --all" in text
    assert "tool100 " not in text


def test_the_first_and_the_last_of_the_rest_are_kept(held):
    events = [ran(f"tool{number} look around", "fine") for number in range(300)]
    text = text_of(held, *events, max_tokens=300)
    assert "tool0 " in text
    assert "tool299 " in text
    assert "tool150 " not in text


def test_equal_calls_are_told_once(held):
    assert text_of(held, *[ran("git status", "clean")] * 5) == "[1] ran: git status\n"


def test_a_refusal_by_the_person_counts_as_typed(held):
    refused = ran("rm -r build", "User rejected this. the user said:\nkeep the build", failed=True)
    events = [refused, *(ran(f"tool{n} " + "y" * 200, "ok") for n in range(300))]
    text = text_of(held, *events, max_tokens=200)
    assert "[1] refused by the person: rm -r build\n| keep the build\n" in text


def test_lessons_are_listed_in_the_order_of_their_opening(scene, held):
    names = ["testing/fixtures", "api/paging", "deploy/rollback"]
    events = []
    for name in names:
        path = os.path.join(scene.base, f"nodes/{name}.md")
        with open(path, encoding="utf-8") as stream:
            events.append(called("Read", path, stream.read()))
    shown = [line for line in text_of(held, *events).splitlines() if "opened" in line]
    assert shown == [f"[{at}] opened (read): nodes/{name}.md" for at, name in enumerate(names, 1)]


def test_a_subagent_and_what_came_from_outside_are_marked(held):
    events = [
        ran("curl https://example.org", "page", foreign=True),
        ran("make", "built", agent="a1"),
    ]
    text = text_of(held, *events)
    assert "[1, from outside] ran: curl" in text
    assert "[2, subagent] ran: make" in text


def test_the_place_where_the_model_lost_what_came_before_is_marked(held):
    text = text_of(held, typed("begin"), Boundary(1, "compaction"))
    assert "[-] compaction" in text


@pytest.mark.parametrize("event", [typed, said, lambda text: ran("cat x", text, failed=True)])
def test_rose_s_own_words_are_not_told(held, event):
    question = f"{REFLECTION_MARKER} v=1>\nadd many rules\n</rose-reflection>"
    text = text_of(held, event(f"error before\n{BLOCK}\n\n{question}\nerror after"))
    assert "error before" in text
    assert "error after" in text
    assert "nodes/testing" not in text
    assert "many rules" not in text


@pytest.mark.parametrize("event", [typed, said, lambda text: ran(text, text, failed=True)])
def test_a_secret_is_not_told(held, event):
    key = "ghp_" + "a1B2" * 10
    text = text_of(held, event(f"error: denied for {key}"))
    assert "[redacted:" in text
    assert key not in text


@pytest.mark.parametrize("most", [0, 1, 5, 20, 60])
def test_a_budget_for_next_to_nothing_is_kept(held, most):
    events = [typed("word " * 50), *(ran(f"tool{n}", "ok") for n in range(50))]
    found = digest(Told(*events), held, max_tokens=most)
    assert found.tokens == tokens.count(found.text) <= most


def test_a_session_without_events_has_an_empty_digest(held):
    assert digest(Told(), held).text == ""


def test_the_bytes_are_the_same_under_any_hash_seed(scene):
    path = scene.capture("work-2")
    script = (
        "import sys; from rose import config, layout; from rose.hosts import registry\n"
        "from rose.reflection.digest import digest; from rose.store import lessons\n"
        "held = [lessons.hold(layout.project_store(sys.argv[1]), cache=False)]\n"
        "found = digest(registry.open_transcript(sys.argv[2]), held, max_tokens=250)\n"
        "sys.stdout.buffer.write(found.text.encode())"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script, scene.base, path],
            capture_output=True,
            check=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(outputs) == 1
    assert outputs.pop()
