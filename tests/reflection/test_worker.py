"""The worker: every session in the queue, each at most three times, none in silence."""

from __future__ import annotations

import os

import pytest

from rose import files
from rose.errors import Locked
from rose.reflection import queue, worker
from rose.routing import ledger
from rose.selection import trace
from tests.reflection.scene import NOON


def put(scene, session, transcript, at=NOON, host="claude-code"):
    queue.put(scene.store, host=host, session=session, transcript=transcript, cwd=scene.base, at=at)


def run(scene, now=0.0, *, early=True):
    return worker.run_pending(
        scene.stores, now=lambda: now, at=lambda: NOON, wait_s=0.0, early=early
    )


def test_a_worker_lets_a_failed_session_wait_before_it_tries_again(scene):
    """The host may still be writing the transcript when the session ends."""
    put(scene, "late", os.path.join(scene.base, "later.jsonl"))
    assert len(run(scene, 1000.0, early=False).failures) == 1
    assert run(scene, 1059.0, early=False) == worker.Summary()
    files.replace(
        os.path.join(scene.base, "later.jsonl"), files.read_bytes(scene.capture("work-1"))
    )
    assert len(run(scene, 1061.0, early=False).outcomes) == 1
    assert queue.entries(scene.store) == []


def test_a_project_with_routing_off_learns_nothing(scene):
    files.replace(scene.store.config, "routing: {enabled: false}\n")
    put(scene, "a", scene.capture("work-1"))
    assert run(scene).untold == ("a",)
    assert ledger.read(scene.store).cases == ()


def test_a_third_worker_has_no_work(scene):
    """One works, one may wait for what came meanwhile; more would only pile up."""
    with queue.next_lock(scene.store), pytest.raises(Locked):
        run(scene)


@pytest.mark.parametrize(
    "change",
    [{"tries": True}, {"tries": -5}, {"tries": 99}, {"state": "odd"}, {"session": "other"}],
    ids=str,
)
def test_an_entry_that_nobody_of_ours_wrote_is_passed_over(scene, change):
    put(scene, "a", scene.capture("work-1"))
    [name] = os.listdir(scene.store.queue)
    path = os.path.join(scene.store.queue, name)
    entry = files.parse_json(files.read_text(path))
    assert isinstance(entry, dict)
    files.replace(path, files.dump_json({**entry, **change}))
    put(scene, "b", scene.capture("work-2"))
    assert len(run(scene).outcomes) == 1


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
    put(scene, "bad", scene.base)
    for _ in range(4):
        run(scene)
    [left] = queue.entries(scene.store)
    assert (left["state"], left["tries"]) == ("failed", 3)
    assert scene.base in str(left["reason"])


def test_a_session_whose_transcript_is_gone_is_dropped_after_its_tries_and_said_once(scene):
    path = os.path.join(scene.base, "gone.jsonl")
    put(scene, "bad", path)
    summaries = [run(scene) for _ in range(4)]
    assert [len(summary.failures) for summary in summaries] == [1, 1, 0, 0]
    gone = worker.Failure("bad", f"the transcript is gone: {path}")
    assert [summary.gone for summary in summaries] == [(), (), (gone,), ()]
    assert queue.entries(scene.store) == []


@pytest.mark.parametrize("died", [True, False])
def test_what_became_of_a_recall_stays_unknown_where_its_session_was_given_up(scene, died):
    known = {"session": "bad", "kind": "recall", "query": "q", "store": {}}
    trace.append(scene.store, trace.Record("t_1", NOON, **known))
    trace.append(scene.store, trace.Record("t_2", NOON, **{**known, "session": "other"}))
    put(scene, "bad", scene.base)
    for _ in range(3):
        assert "later_failure" not in trace.find([scene.store], "t_1")
        if died:
            queue.claim(scene.store, 0.0, set())
        else:
            run(scene)
    for _ in range(3):
        run(scene)
    row = trace.find([scene.store], "t_1")
    assert (row["later_failure"], row["failure"], row["output"]) == ("consumer-failed", None, None)
    assert "later_failure" not in trace.find([scene.store], "t_2")
    assert files.read_text(scene.store.selections).count("consumer-failed") == 1


def test_a_failed_session_whose_transcript_goes_later_is_dropped_too(scene):
    path = os.path.join(scene.base, "torn.jsonl")
    files.replace(path, "")
    put(scene, "bad", path)
    for _ in range(3):
        run(scene)
    assert [entry["state"] for entry in queue.entries(scene.store)] == ["failed"]
    os.unlink(path)
    assert [failure.session for failure in run(scene).gone] == ["bad"]


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
