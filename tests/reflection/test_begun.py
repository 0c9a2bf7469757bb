"""Sessions whose end nobody told are put into the queue once they have fallen silent."""

from __future__ import annotations

import os
import time

import pytest

from rose import files, layout, session
from rose.reflection import begun, queue
from tests.factories import a_store


@pytest.fixture
def store(tmp_path):
    return a_store(tmp_path)


def a_session(store, name="s1", *, age_s=0.0, has_transcript=True):
    """Note a session that was heard of for the last time some seconds ago."""
    path = os.path.join(store.base, f"{name}.jsonl")
    if has_transcript:
        files.replace(path, "{}\n")
    entry = {"host": "claude-code", "session": name, "transcript": path, "cwd": store.base}
    begun.note(store, **entry, at="2026-11-30T00:00:00Z")
    for each in (path, *(os.path.join(store.begun, one) for one in os.listdir(store.begun))):
        if os.path.exists(each):
            os.utime(each, (time.time() - age_s,) * 2)
    return path


def queued(store):
    begun.queue_silent(store, time.time())
    return [entry["session"] for entry in queue.entries(store)]


def test_a_session_that_has_been_silent_for_long_is_queued_once(store):
    path = a_session(store, age_s=begun.SILENT_S + 60)
    assert queued(store) == ["s1"]
    assert queue.entries(store)[0]["transcript"] == path
    assert os.listdir(store.begun) == []


def test_a_session_that_was_heard_of_lately_is_left_alone(store):
    a_session(store, age_s=begun.SILENT_S - 60)
    assert queued(store) == []
    assert len(os.listdir(store.begun)) == 1


def test_a_transcript_that_still_grows_keeps_its_session_from_the_queue(store):
    path = a_session(store, age_s=begun.SILENT_S + 60)
    os.utime(path)
    assert queued(store) == []


def test_a_session_that_never_had_a_transcript_is_forgotten(store):
    a_session(store, age_s=begun.SILENT_S + 60, has_transcript=False)
    assert queued(store) == []
    assert os.listdir(store.begun) == []


def test_a_session_that_was_switched_off_is_forgotten_unread(store):
    a_session(store, age_s=begun.SILENT_S + 60)
    name = layout.session_name("claude-code", "s1")
    files.append_line(session.note_path(store.sessions, name), session.off_line())
    assert queued(store) == []
    assert os.listdir(store.begun) == []


def test_a_session_whose_end_was_told_is_forgotten(store):
    a_session(store, age_s=begun.SILENT_S + 60)
    begun.forget(store, "claude-code", "s1")
    begun.forget(store, "claude-code", "s1")
    assert queued(store) == []


@pytest.mark.parametrize("text", ["", "[]", '{"v":1}', "\x00", '{"v":1,"host":"x","session":"y"}'])
def test_a_file_that_is_no_note_is_passed_over(store, text):
    a_session(store, age_s=begun.SILENT_S + 60)
    files.replace(os.path.join(store.begun, "other.json"), text)
    assert queued(store) == ["s1"]


def test_a_note_under_another_name_is_passed_over(store):
    a_session(store, age_s=begun.SILENT_S + 60)
    (name,) = os.listdir(store.begun)
    os.rename(os.path.join(store.begun, name), os.path.join(store.begun, "0" + name))
    assert queued(store) == []
