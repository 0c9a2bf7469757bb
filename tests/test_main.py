"""The console entry, as a process: what a request to end leaves behind."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time

import pytest

from rose import files
from tests.factories import a_lesson_file, a_store
from tests.fakes import a_program, held, wait_for_the_end

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RECORDED = os.path.join(ROOT, "rose", "demo", "transcripts", "work-1.jsonl")
STOPPED = """
import sys
class Stopped:
    def find_spec(self, name, *_):
        if name == "rose.cli.app":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Stopped())
from rose.__main__ import main
sys.exit(main())
"""


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_call_ends_with_the_rose_that_made_it_and_is_counted(tmp_path, sign):
    store = a_store(tmp_path)
    a_lesson_file(store, "nodes/x.md")
    lock, ready = (os.path.join(os.path.realpath(tmp_path), name) for name in ("lock", "ready"))
    sleeper = f"{held(lock)}import time\nopen({ready!r}, 'w')\ntime.sleep(300)\n"
    environ = a_program(tmp_path, "model", sleeper)
    command = shlex.quote(os.path.join(os.path.realpath(tmp_path), "bin", "model"))
    running = subprocess.Popen(
        [sys.executable, "-m", "rose", "reflect", "--transcript", RECORDED, "--backend", "command"],
        cwd=store.base,
        env={**os.environ, **environ, "ROSE_REFLECT_COMMAND": command, "PYTHONPATH": ROOT},
        stderr=subprocess.PIPE,
        text=True,
    )
    end = time.monotonic() + 30
    while not os.path.exists(ready) and running.poll() is None and time.monotonic() < end:
        time.sleep(0.02)
    running.send_signal(sign)
    _, said = running.communicate(timeout=30)
    assert (running.returncode, said.strip()) == (130, "rose: interrupted.")
    wait_for_the_end(lock)
    [(_, line)] = files.read_jsonl(store.spend)
    assert (line["calls"], line["outcome"]) == (1, "interrupted")


def test_an_interrupt_while_the_command_line_is_loaded_is_no_traceback():
    done = subprocess.run(
        [sys.executable, "-c", STOPPED, "status"],
        env={**os.environ, "PYTHONPATH": ROOT},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr.strip()) == (130, "rose: interrupted.")
