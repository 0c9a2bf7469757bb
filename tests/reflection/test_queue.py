"""The queue of sessions to reflect on."""

from __future__ import annotations

import json
import os

import pytest

from rose import files, layout
from rose.errors import Locked, Unwritable
from rose.reflection import queue
from tests import factories

HOST = "claude-code"


@pytest.fixture
def store(tmp_path):
    return factories.a_store(tmp_path)


def put(store, session: str = "s1", at: str = "2026-11-30T09:00:00Z", transcript: str = "/t"):
    queue.put(store, host=HOST, session=session, transcript=transcript, cwd="/", at=at)


def path_of(store, session: str = "s1") -> str:
    return os.path.join(store.queue, layout.session_name(HOST, session) + ".json")


def sessions(store) -> list[object]:
    return [entry["session"] for entry in queue.entries(store)]


def claimed(store, done=(), now: float = 0.0, **options):
    found = queue.claim(store, now, done, **options)
    return None if found is None else found["session"]


def failing(store, times: int) -> None:
    for _ in range(times):
        queue.give_back(store, queue.claim(store, 0.0, (), early=True) or {}, "no disk", 0.0)


def test_a_session_that_is_put_twice_waits_once(store):
    put(store, at="2026-11-30T09:00:00Z")
    put(store, at="2026-11-30T10:00:00Z", transcript="/u")
    (entry,) = queue.entries(store)
    assert (entry["at"], entry["transcript"]) == ("2026-11-30T10:00:00Z", "/u")
    assert (entry["state"], entry["tries"]) == ("pending", 0)


def test_the_oldest_is_claimed_first_and_each_once_a_run(store):
    put(store, "s2", at="2026-11-30T10:00:00Z")
    put(store, "s1", at="2026-11-30T09:00:00Z")
    assert sessions(store) == ["s1", "s2"]
    assert [claimed(store), claimed(store, {"s1"}), claimed(store, {"s1", "s2"})] == [
        "s1",
        "s2",
        None,
    ]


def test_a_finished_session_is_gone(store):
    put(store)
    queue.finish(store, queue.claim(store, 0.0, ()))
    assert (sessions(store), queue.pending(store)) == ([], False)


def test_a_session_that_went_on_meanwhile_stays_in_the_queue(store):
    put(store)
    first = queue.claim(store, 0.0, ())
    put(store, at="2026-11-30T10:00:00Z")
    queue.finish(store, first)
    queue.give_back(store, first, "late", 0.0)
    (entry,) = queue.entries(store)
    assert (entry["at"], entry["tries"], entry["reason"]) == ("2026-11-30T10:00:00Z", 0, "")


def test_a_session_that_failed_waits_a_little_unless_a_person_asks(store):
    put(store)
    queue.give_back(store, queue.claim(store, 100.0, ()), "no disk", 100.0)
    assert queue.pending(store)
    assert claimed(store, now=100.0 + queue.RETRY_S - 1) is None
    assert claimed(store, now=100.0 + queue.RETRY_S) == "s1"


def test_an_early_claim_takes_what_waits(store):
    put(store)
    queue.give_back(store, queue.claim(store, 100.0, ()), "no disk", 100.0)
    assert claimed(store, now=100.0, early=True) == "s1"


def test_after_its_last_try_a_session_failed_for_good(store):
    put(store)
    failing(store, queue.MAX_TRIES)
    (entry,) = queue.entries(store)
    assert (entry["state"], entry["reason"]) == ("failed", "no disk")
    assert (claimed(store, early=True), queue.pending(store)) == (None, False)


def test_a_session_whose_worker_died_is_taken_again_until_its_tries_are_used_up(store):
    put(store)
    found = [claimed(store) for _ in range(queue.MAX_TRIES + 1)]
    assert found == ["s1"] * queue.MAX_TRIES + [None]
    (entry,) = queue.entries(store)
    assert (entry["state"], entry["reason"]) == ("failed", "the worker died each time")


@pytest.mark.parametrize(
    "change",
    [
        {"v": 2},
        {"session": 5},
        {"session": "s2"},
        {"state": "done"},
        {"tries": "1"},
        {"tries": -1},
        {"tries": True},
        {"tries": 4},
        {"lease_until": None},
        {"transcript": None},
    ],
)
def test_an_entry_that_rose_did_not_write_is_none(store, change):
    put(store)
    entry = json.loads(files.read_text(path_of(store)))
    files.replace(path_of(store), json.dumps({**entry, **change}))
    assert queue.entries(store) == []
    assert claimed(store) is None


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"\xff", b"null"])
def test_a_torn_entry_hides_no_other(store, raw):
    put(store, "s1")
    put(store, "s2")
    files.replace(path_of(store, "s1"), raw)
    assert sessions(store) == ["s2"]


def test_failed_sessions_without_a_transcript_are_taken_out(store, tmp_path):
    kept = tmp_path / "kept.jsonl"
    kept.write_text("")
    put(store, "s1", transcript="/nowhere.jsonl")
    put(store, "s2", transcript=str(kept))
    failing(store, 2 * queue.MAX_TRIES)
    put(store, "s3", transcript="/nowhere.jsonl")
    assert [entry["session"] for entry in queue.take_gone(store)] == ["s1"]
    assert sessions(store) == ["s2", "s3"]


def test_a_queue_in_use_holds_up_no_session_end(store, monkeypatch):
    monkeypatch.setattr(queue, "PUT_WAIT_S", 0.0)
    with files.lock(store.queue_lock, 0):
        put(store)
    assert sessions(store) == ["s1"]


def test_one_worker_works_and_one_waits(store):
    with queue.working_lock(store, 0), queue.next_lock(store):
        with pytest.raises(Locked), queue.working_lock(store, 0):
            pass
        with pytest.raises(Locked), queue.next_lock(store):
            pass


def test_a_disk_that_takes_no_entry_says_so(store):
    files.replace(store.queue, "no folder")
    with pytest.raises(Unwritable):
        put(store)
    assert queue.entries(store) == []


@pytest.mark.parametrize(("lease", "found"), [(queue.LEASE_S, None), (2**40, "s1")])
def test_an_entry_that_would_wait_longer_than_any_worker_says_is_taken(store, lease, found):
    put(store)
    files.replace(
        path_of(store),
        files.dump_json({**queue.entries(store)[0], "lease_until": lease}),
    )
    assert claimed(store) == found
