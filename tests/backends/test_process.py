from __future__ import annotations

import json
import os
import time

import pytest

from rose.backends import process
from rose.backends.base import BackendFailure
from tests.fakes import a_program, held, wait_for_the_end

LONG_S = 60
# Starts another program, which starts a third; all of them sleep, and none can be asked to end.
FAMILY = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for _ in range(2):
    if os.fork():
        break
print("ready", flush=True)
time.sleep(300)
"""


def run(environ, tmp_path, text="hello", timeout_s=LONG_S, name="model"):
    program = process.find(name, environ)
    return process.run(
        [program, "one", "two"], text, cwd=str(tmp_path), environ=environ, timeout_s=timeout_s
    )


def failure(environ, tmp_path, timeout_s=LONG_S):
    with pytest.raises(BackendFailure) as caught:
        run(environ, tmp_path, timeout_s=timeout_s)
    return caught.value


def test_a_program_gets_its_words_its_input_and_its_folder(tmp_path):
    script = (
        "import os, sys, json; print(json.dumps([sys.argv[1:], sys.stdin.read(), os.getcwd()]))"
    )
    ended = run(a_program(tmp_path, "model", script), tmp_path, "häl\ud800lo")
    assert json.loads(ended.out) == [["one", "two"], "häl?lo", os.path.realpath(tmp_path)]
    assert (ended.code, ended.err, ended.usage.calls) == (0, "", 1)
    assert ended.usage.seconds > 0


def test_a_program_is_marked_as_a_child_and_keeps_the_rest_of_the_environment(tmp_path):
    script = "import os, json; print(json.dumps(dict(os.environ)))"
    environ = {**a_program(tmp_path, "model", script), "OWN": "1"}
    seen = json.loads(run(environ, tmp_path).out)
    assert (seen["ROSE_CHILD"], seen["OWN"]) == ("1", "1")


def test_nothing_is_started_inside_of_a_reflection(tmp_path):
    environ = {
        **a_program(tmp_path, "model", f"open({str(tmp_path / 'ran')!r}, 'w')"),
        "ROSE_CHILD": "1",
    }
    failed = failure(environ, tmp_path)
    assert (failed.kind, failed.usage.calls) == ("unavailable", 0)
    assert not (tmp_path / "ran").exists()


def test_the_code_and_the_last_complaint_of_a_program_are_told(tmp_path):
    script = "import sys; sys.stderr.write('first\\n' * 50000 + 'no such model\\n\\n'); sys.exit(3)"
    ended = run(a_program(tmp_path, "model", script), tmp_path)
    assert (ended.code, ended.last_words()) == (3, '"no such model".')
    assert len(ended.err) <= process.KEPT_ERR_BYTES


def test_a_program_that_reads_nothing_may_answer_a_long_question(tmp_path):
    ended = run(a_program(tmp_path, "model", "print('done')"), tmp_path, "x" * 4_000_000)
    assert (ended.code, ended.out) == (0, "done\n")


def test_a_long_question_and_a_long_answer_cross_each_other(tmp_path):
    script = "import sys\nwhile part := sys.stdin.read(1000): sys.stdout.write(part)"
    text = "abcdefgh" * 250_000
    assert run(a_program(tmp_path, "model", script), tmp_path, text).out == text


def test_a_program_that_hangs_is_ended_with_all_that_it_started(tmp_path, monkeypatch):
    monkeypatch.setattr(process, "GRACE_S", 0.1)
    lock = os.path.join(os.path.realpath(tmp_path), "lock")
    environ = a_program(tmp_path, "model", held(lock) + FAMILY)
    failed = failure(environ, tmp_path, timeout_s=1)
    assert (failed.kind, failed.usage.calls) == ("timeout", 1)
    assert failed.usage.seconds >= 1
    assert "timeout_s" not in str(failed)
    wait_for_the_end(lock)


def test_a_program_does_not_outlive_an_interruption_of_its_own_start(tmp_path, monkeypatch):
    lock = os.path.join(os.path.realpath(tmp_path), "lock")
    begun = tmp_path / "begun"
    script = held(lock) + f"import time\nopen({str(begun)!r}, 'w').close()\ntime.sleep(60)\n"
    environ = a_program(tmp_path, "model", script)
    read = os.read

    def interrupted(_descriptor, _size):
        # What a start reads last tells that the program was found, and runs.
        while not begun.exists():
            time.sleep(0.01)
        monkeypatch.setattr(os, "read", read)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "read", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(environ, tmp_path)
    wait_for_the_end(lock)


def test_a_program_may_clean_up_before_it_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(process, "GRACE_SHARE", process.GRACE_S)
    script = f"""
import signal, sys, time
def end(*_):
    open({str(tmp_path / "clean")!r}, "w")
    sys.exit()
signal.signal(signal.SIGTERM, end)
time.sleep(300)
"""
    assert failure(a_program(tmp_path, "model", script), tmp_path, timeout_s=1).kind == "timeout"
    assert (tmp_path / "clean").exists()


def test_a_program_that_closes_its_output_and_goes_on_is_overdue_too(tmp_path):
    script = "import os, time; os.close(1); os.close(2); time.sleep(300)"
    assert failure(a_program(tmp_path, "model", script), tmp_path, timeout_s=1).kind == "timeout"


def test_a_program_that_is_done_is_not_waited_for_where_another_holds_its_output(tmp_path):
    lock = os.path.join(os.path.realpath(tmp_path), "lock")
    script = "import os, time\nif os.fork(): print('answer')\nelse: time.sleep(300)"
    environ = a_program(tmp_path, "model", held(lock) + script)
    assert run(environ, tmp_path).out == "answer\n"
    wait_for_the_end(lock)


def test_output_without_end_is_not_read_to_its_end(tmp_path):
    script = "import sys\nfor _ in range(100): sys.stdout.write('x' * 1_000_000)\nopen('end', 'w')"
    environ = a_program(tmp_path, "model", script)
    failed = failure(environ, tmp_path)
    assert (failed.kind, failed.usage.calls) == ("no-answer", 1)
    assert "16 MB" in str(failed)
    assert not (tmp_path / "end").exists()


def test_bytes_that_are_no_text_are_no_error(tmp_path):
    script = "import sys; sys.stdout.buffer.write(b'\\xff\\xfe')"
    assert run(a_program(tmp_path, "model", script), tmp_path).out == "��"


@pytest.mark.parametrize("cwd", ["gone", "relative", "bin/model"])
def test_a_folder_that_is_gone_is_said(tmp_path, cwd):
    environ = a_program(tmp_path, "model", "")
    where = cwd if cwd == "relative" else str(tmp_path / cwd)
    with pytest.raises(BackendFailure, match="folder of the session") as caught:
        process.run(
            [process.find("model", environ)], "", cwd=where, environ=environ, timeout_s=LONG_S
        )
    assert caught.value.kind == "unavailable"


def test_a_program_that_cannot_be_started_is_said(tmp_path):
    environ = a_program(tmp_path, "model", "")
    (tmp_path / "bin" / "model").write_text("#!/nowhere/python\n")
    failed = failure(environ, tmp_path)
    assert failed.kind == "unavailable"
    assert "was not started" in str(failed)


def test_a_program_is_found_on_path_or_by_its_absolute_path(tmp_path):
    environ = a_program(tmp_path, "model", "")
    path = os.path.join(os.path.realpath(tmp_path), "bin", "model")
    assert process.find("model", environ) == path
    assert process.find(path, {}) == path


@pytest.mark.parametrize(
    ("program", "places"),
    [
        ("model", "bin"),
        ("model", ""),
        ("model", "."),
        ("bin/model", "{0}"),
        ("none", "{0}/bin"),
        ("plain", "{0}/bin"),
        ("bin", "{0}"),
    ],
)
def test_a_program_below_the_working_folder_and_what_is_no_program_is_not_found(
    tmp_path, monkeypatch, program, places
):
    a_program(tmp_path, "model", "")
    (tmp_path / "bin" / "plain").write_text("")
    monkeypatch.chdir(tmp_path)
    assert process.find(program, {"PATH": places.format(tmp_path)}) == ""
