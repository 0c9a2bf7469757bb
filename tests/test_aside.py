"""Work in a process of its own: what it answers, what it records, and how it is left behind."""

from __future__ import annotations

import os
import re
import signal
import time

import pytest

from rose.aside import Aside
from rose.errors import Deadline


@pytest.fixture
def out():
    return os.open(os.devnull, os.O_WRONLY)


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "worked"
    made.mkdir()
    return made


@pytest.fixture
def alarm():
    """Return what sets an alarm that raises Deadline, and take it back in the end."""

    def ring(_number, _frame):
        raise Deadline

    before = signal.signal(signal.SIGALRM, ring)
    yield lambda seconds: signal.setitimer(signal.ITIMER_REAL, seconds)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def test_what_was_printed_is_recorded_before_the_hook_ends(folder, out, alarm):
    def work(line):
        (folder / str(line.answer({"encoded": "x" * 100_000}))).touch()

    aside = Aside(work, out)
    assert aside.answer(alarm) == {"encoded": "x" * 100_000}
    assert os.listdir(folder) == []
    aside.take()
    aside.wait()
    assert os.listdir(folder) == ["True"]
    assert aside.problem == ""


def test_what_was_printed_is_recorded_without_anybody_waiting(folder, out, alarm):
    def work(line):
        (folder / str(line.answer({}))).touch()

    aside = Aside(work, out)
    aside.answer(alarm)
    aside.take()
    os.waitpid(aside._child, 0)
    assert os.listdir(folder) == ["True"]


def test_a_worker_that_has_ended_is_never_stopped(out, alarm):
    aside = Aside(lambda line: line.answer({}) and None, out)
    aside.answer(alarm)
    aside.take()
    aside.wait()
    # Its number may be another's by now.
    aside.stop()


def test_a_worker_that_ends_before_its_record_is_a_problem(out, alarm):
    def work(line):
        line._tell({"answer": {}})

    aside = Aside(work, out)
    aside.answer(alarm)
    os.waitid(os.P_PID, aside._child, os.WEXITED | os.WNOWAIT)
    aside.take()
    aside.wait()
    assert aside.problem == "it ended before its record"


def test_what_nobody_takes_is_told_to_the_worker(folder, out, alarm):
    def work(line):
        (folder / str(line.answer({}))).touch()

    aside = Aside(work, out)
    aside.answer(alarm)
    os.close(aside._down)
    while not os.listdir(folder):
        time.sleep(0.01)
    assert os.listdir(folder) == ["False"]


def test_a_worker_that_fails_says_how(out, alarm):
    def work(_line):
        raise ValueError("no good")

    aside = Aside(work, out)
    assert aside.answer(alarm) == {}
    assert aside.problem == "ValueError: no good"
    aside.take()


def test_a_worker_that_fails_after_its_answer_says_so_too(out, alarm):
    def work(line):
        line.answer({"said": "a"})
        raise OSError("the disk is full")

    aside = Aside(work, out)
    assert aside.answer(alarm) == {"said": "a"}
    aside.take()
    aside.wait()
    assert aside.problem == "OSError: the disk is full"


def test_a_worker_that_ends_without_a_word_is_a_problem(out, alarm):
    aside = Aside(lambda _line: os._exit(1), out)
    assert aside.answer(alarm) == {}
    assert aside.problem == "it ended without an answer"


def test_an_alarm_rings_whatever_the_worker_is_busy_with(out, alarm):
    def work(_line):
        re.match("(a+)+$", "a" * 64 + "b")

    aside = Aside(work, out)
    alarm(0.2)
    with pytest.raises(Deadline):
        aside.answer(alarm)
    aside.stop()
    os.kill(aside._child, signal.SIGKILL)
    os.waitpid(aside._child, 0)


def test_a_worker_may_have_the_hook_wait_longer(out, alarm):
    before, on_interrupt = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)

    def work(line):
        line.wait_until(time.monotonic() + 60)
        time.sleep(2)
        line.answer({"said": "late"})

    aside = Aside(work, out)
    alarm(1.5)
    try:
        assert aside.answer(alarm) == {"said": "late"}
    finally:
        signal.signal(signal.SIGTERM, before)
        signal.signal(signal.SIGINT, on_interrupt)
    aside.take()
    aside.wait()


def test_a_worker_that_is_stopped_may_still_write_down_what_it_did(tmp_path, out, alarm):
    def work(_line):
        try:
            (tmp_path / "begun").touch()
            time.sleep(60)
        except SystemExit:
            (tmp_path / "ended").touch()

    aside = Aside(work, out)
    alarm(0.5)
    with pytest.raises(Deadline):
        aside.answer(alarm)
    while not (tmp_path / "begun").exists():
        time.sleep(0.01)
    aside.stop()
    os.waitpid(aside._child, 0)
    assert (tmp_path / "ended").exists()


def test_the_worker_holds_no_stream_of_the_hook(alarm):
    reading, out = os.pipe()

    def work(_line):
        time.sleep(60)

    aside = Aside(work, out)
    alarm(0.5)
    with pytest.raises(Deadline):
        aside.answer(alarm)
    os.close(out)
    assert os.read(reading, 1) == b""
    os.kill(aside._child, signal.SIGKILL)
    os.waitpid(aside._child, 0)
