"""The worker: every session in the queue, each at most three times, none in silence."""

from __future__ import annotations

import os

import pytest

from rose import files
from rose.errors import Locked
from rose.reflection import queue, worker
from rose.routing import ledger
from tests.reflection.scene import NOON


def put(scene, session, transcript, at=NOON, host="claude-code"):
    queue.put(scene.store, host=host, session=session, transcript=transcript, cwd=scene.base, at=at)


def run(scene):
    return worker.run_pending(scene.stores, now=lambda: 0.0, at=lambda: NOON, wait_s=0.0)


def test_every_pending_session_is_reflected_on_and_leaves_the_queue(scene):
    put(scene, "a", scene.capture("work-1"))
    put(scene, "b", scene.capture("work-2"))
    summary = run(scene)
    assert [outcome.state for outcome in summary.outcomes] == ["reflected", "reflected"]
    assert len(scene.rules()) == 1
    assert queue.entries(scene.store) == []


def test_one_bad_transcript_does_not_keep_the_others_waiting(scene):
    put(scene, "bad", os.path.join(scene.base, "gone.jsonl"), at="2026-11-30T00:00:00Z")
    put(scene, "good", scene.capture("work-1"))
    summary = run(scene)
    assert len(summary.outcomes) == 1
    assert [failure.session for failure in summary.failures] == ["bad"]
    assert "gone.jsonl" in summary.failures[0].reason
    [left] = queue.entries(scene.store)
    assert (left["session"], left["state"], left["tries"]) == ("bad", "pending", 1)


def test_after_three_tries_a_session_has_failed_with_its_reason(scene):
    put(scene, "bad", os.path.join(scene.base, "gone.jsonl"))
    for _ in range(4):
        run(scene)
    [left] = queue.entries(scene.store)
    assert (left["state"], left["tries"]) == ("failed", 3)
    assert "gone.jsonl" in str(left["reason"])


def test_an_unknown_host_is_a_failure_with_a_reason(scene):
    put(scene, "a", scene.capture("work-1"), host="another")
    assert "another" in run(scene).failures[0].reason


def test_a_session_without_a_transcript_has_nothing_to_teach(scene):
    put(scene, "ephemeral", "")
    assert run(scene).untold == ("ephemeral",)
    assert queue.entries(scene.store) == []
    assert ledger.read(scene.store).cases == ()


def test_a_second_worker_leaves_the_queue_to_the_first(scene):
    put(scene, "a", scene.capture("work-1"))
    with queue.working_lock(scene.store, 0.0), pytest.raises(Locked):
        run(scene)
    assert len(queue.entries(scene.store)) == 1


def test_a_worker_that_died_is_followed_by_another(scene):
    put(scene, "a", scene.capture("work-1"))
    with queue.working_lock(scene.store, 0.0):
        queue.claim(scene.store, 0.0, set())
    assert len(run(scene).outcomes) == 1


def test_a_torn_entry_is_passed_over(scene):
    files.replace(os.path.join(scene.store.queue, "x.json"), '{"v":1,')
    put(scene, "a", scene.capture("work-1"))
    assert len(run(scene).outcomes) == 1
