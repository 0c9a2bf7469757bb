"""A session from its start to its end, in real hook processes: what is noted, queued, forgotten."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import pytest

from rose import files, trust
from rose import hook as hooks
from rose.reflection import begun, queue
from rose.routing import ledger
from tests.factories import a_store

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LAUNCH = os.path.join(ROOT, "rose", "launch.py")
RECORDED = os.path.join(ROOT, "rose", "demo", "transcripts", "work-1.jsonl")


@pytest.fixture
def store(tmp_path):
    made = a_store(tmp_path)
    trust.add(made, os.environ)
    return made


def hook(store, event, name, **changes):
    told = {"session_id": name, "transcript_path": transcript(store, name), "cwd": store.base}
    subprocess.run(
        [sys.executable, "-IS", LAUNCH, event, "--host", "claude-code"],
        input=json.dumps({**told, **changes}).encode(),
        check=True,
        timeout=30,
    )


def transcript(store, name):
    return os.path.join(store.base, f"{name}.jsonl")


def record(store, name):
    """Write down a session as the host does, under its own id."""
    with open(RECORDED) as source, open(transcript(store, name), "w") as target:
        rows = ({**json.loads(line), "sessionId": name} for line in source)
        target.writelines(json.dumps(row) + "\n" for row in rows)


def wait_for_worker(store):
    end = time.monotonic() + 30
    while queue.pending(store) and time.monotonic() < end:
        time.sleep(0.02)


def test_a_session_is_noted_at_its_start_and_forgotten_at_its_end(store):
    hook(store, "SessionStart", "s1", source="startup")
    noted = len(os.listdir(store.begun))
    record(store, "s1")
    hook(store, "SessionEnd", "s1")
    wait_for_worker(store)
    assert (noted, os.listdir(store.begun)) == (1, [])
    assert [case.session for case in ledger.read(store).cases] == ["s1"]


@pytest.mark.parametrize("field", ["transcript_path", "session_id"])
def test_a_session_with_a_path_that_no_system_opens_is_not_queued(store, field):
    for event in ("SessionStart", "SessionEnd"):
        hook(store, event, "s1", **{field: "/" + "x" * 5000})
    for folder in (store.queue, store.begun):
        assert not os.path.exists(folder) or os.listdir(folder) == []


@pytest.mark.parametrize("part", [4, 10, 19])
def test_the_log_holds_no_secret_and_no_part_of_one(store, part):
    key = "AKIA" + "IOSFODNN7" + "QWERTYU"
    said = "x" * (hooks.MOST_PROBLEM_CHARS - part - 1) + " " + key
    hooks.log(store, "UserPromptSubmit", "claude-code", said)
    [(_, line)] = files.read_jsonl(store.log)
    assert "AKIA" not in line["problem"]
    assert len(line["problem"]) <= hooks.MOST_PROBLEM_CHARS


def test_the_next_session_picks_up_one_whose_end_was_never_told(store):
    hook(store, "SessionStart", "s1", source="startup")
    record(store, "s1")
    noted = [os.path.join(store.begun, name) for name in os.listdir(store.begun)]
    for path in (transcript(store, "s1"), *noted):
        os.utime(path, (time.time() - begun.SILENT_S - 60,) * 2)
    hook(store, "SessionStart", "s2", source="startup")
    wait_for_worker(store)
    assert [case.session for case in ledger.read(store).cases] == ["s1"]


def test_a_session_goes_on_where_its_start_cannot_be_noted(store):
    os.makedirs(store.local)
    with open(store.begun, "w") as stream:
        stream.write("a file where the folder would be")
    hook(store, "SessionStart", "s1", source="startup")
    record(store, "s1")
    hook(store, "SessionEnd", "s1")
    wait_for_worker(store)
    assert [case.session for case in ledger.read(store).cases] == ["s1"]
