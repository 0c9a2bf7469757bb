"""`rose reflect` with a model over several sessions: limits, an interrupt, progress."""

from __future__ import annotations

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import time

import pytest

from rose import files, layout
from rose.reflection import queue
from rose.routing import ledger
from tests.clirun import ROOT, run
from tests.fakes import held, wait_for_the_end

DEMO = os.path.join(ROOT, "rose", "demo")
SESSIONS = {
    "work-1": "10000000-0000-4000-8000-0000000000a1",
    "work-2": "20000000-0000-4000-8000-0000000000a2",
}
NOTHING = {"used": [], "rules": [], "operations": [], "lessons": []}
NOW = "2026-11-30T09:12:44Z"


@pytest.fixture
def shop(tmp_path):
    """Return the store of the demo's repository, in which two sessions ran that a host keeps."""
    base = os.path.join(os.path.realpath(tmp_path), "shop")
    shutil.copytree(os.path.join(DEMO, "repo"), base)
    run("init", cwd=base)
    for name in SESSIONS:
        text = files.read_text(os.path.join(DEMO, "transcripts", f"{name}.jsonl"))
        files.replace(transcript(base, name), text.replace("/repo", base))
    return layout.project_store(base)


def transcript(base, name):
    slug = base.replace("/", "-").replace("_", "-").replace(".", "-")
    top = os.path.join(os.path.dirname(base), "home", ".claude", "projects", slug)
    return os.path.join(top, f"{SESSIONS[name]}.jsonl")


def a_model(shop, script=""):
    """Put a program in the place of a model; it notes each session that it is asked about."""
    top = os.path.dirname(shop.base)
    path = os.path.join(top, "model.py")
    lines = (
        "import json, sys",
        "session = json.load(sys.stdin)['session']['session']",
        f"print(session, file=open({os.path.join(top, 'asked')!r}, 'a'))",
        script,
        f"print({json.dumps(NOTHING)!r})",
    )
    files.replace(path, "\n".join(lines))
    return {"ROSE_BACKEND": "command", "ROSE_REFLECT_COMMAND": f"{sys.executable} -IS {path}"}


def asked(shop) -> list[str]:
    try:
        return files.read_text(os.path.join(os.path.dirname(shop.base), "asked")).split()
    except FileNotFoundError:
        return []


def recorded(shop) -> list[str]:
    return [case.session for case in ledger.read(shop).cases]


def environ(model) -> dict[str, str]:
    return {**os.environ, **model, "PYTHONPATH": ROOT, "TERM": "xterm-256color"}


def test_a_model_that_proposes_nothing_is_given_as_the_reason_by_reflect_and_status(shop):
    words = ("--transcript", transcript(shop.base, "work-1"), "--backend", "command")
    said = run("reflect", *words, cwd=shop.base, env=a_model(shop)).out
    assert "learned    nothing: command proposed no change to the rules\n" in said
    status = " ".join(run("status", cwd=shop.base).out.split())
    assert "nothing yet from 1 session: command proposed no change to the rules" in status


def test_an_answer_of_which_a_part_is_set_aside_is_not_called_empty(shop):
    model = a_model(shop, "print('{\"operations\": [7]}'); sys.exit()")
    words = ("--transcript", transcript(shop.base, "work-1"), "--backend", "command")
    said = " ".join(run("reflect", *words, cwd=shop.base, env=model).out.split())
    assert "nothing: command proposed no change to the rules that could be read" in said


ALL = [sys.executable, "-m", "rose", "reflect", "--all", "--backend", "command"]


def test_beyond_the_calls_of_a_day_sessions_are_recorded_as_observed_and_status_says_so(shop):
    model = a_model(shop)
    for name, session in SESSIONS.items():
        path = transcript(shop.base, name)
        queue.put(shop, host="claude-code", session=session, transcript=path, cwd=shop.base, at=NOW)
    assert run("config", "spend.calls_per_day", "1", cwd=shop.base).code == 0
    assert run("reflect", "--pending", cwd=shop.base, env=model).code == 0
    assert len(asked(shop)) == 1
    assert sorted(recorded(shop)) == sorted(SESSIONS.values())
    assert queue.entries(shop) == []
    lines = [line for _, line in files.read_jsonl(shop.trace)]
    assert [line.get("failed", {}).get("kind") for line in lines] == [None, "spent"]
    said = " ".join(run("status", cwd=shop.base).out.split())
    assert "1 call of models in 24 hours" in said
    assert "no answer from command (spent): `spend.calls_per_day` is 1, and 1 are spent." in said
    assert "`rose config spend.calls_per_day N` allows more." in said


def test_over_all_sessions_a_spent_limit_stops_the_run_and_more_lets_it_go_on(shop):
    model = a_model(shop)
    run("config", "spend.calls_per_day", "1", cwd=shop.base)
    stopped = run("reflect", "--all", "--backend", "command", cwd=shop.base, env=model)
    assert stopped.code == 1
    assert "The same command goes on from here." in stopped.out
    assert len(recorded(shop)) == 1
    run("config", "spend.calls_per_day", "2", cwd=shop.base)
    on = run("reflect", "--all", "--backend", "command", cwd=shop.base, env=model)
    assert on.code == 0
    assert sorted(asked(shop)) == sorted(recorded(shop)) == sorted(SESSIONS.values())


def test_a_run_that_is_interrupted_goes_on_where_it_stopped(shop):
    lock = os.path.join(os.path.dirname(shop.base), "held")
    first, second = SESSIONS.values()
    waits = f"{held(lock)}import time; time.sleep(300 * (session == {second!r}))"
    running = subprocess.Popen(
        ALL,
        cwd=shop.base,
        env=environ(a_model(shop, waits)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while second not in asked(shop):
        assert running.poll() is None
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, err) == (130, "rose: interrupted.\n")
    assert out.startswith(f"1/2  {first} reflected")
    assert recorded(shop) == [first]
    wait_for_the_end(lock)
    again = run("reflect", "--all", "--backend", "command", cwd=shop.base, env=a_model(shop))
    assert again.code == 0
    assert f"{first} already" in again.out
    assert recorded(shop) == [first, second]
    assert asked(shop) == [first, second, second]


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_progress_bar_is_drawn_on_a_terminal_alone(shop, is_terminal):
    keeper, terminal = pty.openpty()
    running = subprocess.Popen(
        ALL,
        cwd=shop.base,
        env=environ(a_model(shop)),
        stdout=subprocess.PIPE,
        stderr=terminal if is_terminal else subprocess.PIPE,
    )
    os.close(terminal)
    drawn = _drawn(keeper)
    out, err = running.communicate(timeout=60)
    os.close(keeper)
    lines = out.decode().splitlines()
    assert running.returncode == 0
    assert [line.split("  ")[0] for line in lines] == ["1/2", "2/2"]
    assert "\x1b" not in out.decode()
    assert ("━" in drawn, err) == ((True, None) if is_terminal else (False, b""))


def _drawn(keeper) -> str:
    """Return all that was written to a terminal, until nobody holds it any more."""
    found = b""
    while True:
        try:
            part = os.read(keeper, 1 << 16)
        except OSError:
            # How Linux says that the other side is closed.
            part = b""
        if not part:
            return found.decode("utf-8", "replace")
        found += part
