"""The edge: streams that nobody reads, arguments of a plain locale, the order of the output."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.clirun import ROOT, run, run_child


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "home" / "project"
    (folder / "nodes").mkdir(parents=True)
    run("init", cwd=folder)
    (folder / "nodes" / "a.md").write_text("# A\n")
    return folder


def shell(project, line: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a shell line in which `$rose` is the command line of this checkout."""
    environ = {**os.environ, "PYTHONPATH": ROOT, "rose": f"{sys.executable} -m rose", **env}
    words = ["bash", "-c", f"set -o pipefail; {line}"]
    return subprocess.run(
        words, cwd=project, env=environ, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("words", [["--help"], ["eval", "--help"]])
def test_no_help_is_cut_at_eighty_columns(project, words):
    result = run(*words, cwd=project, env={"COLUMNS": "80"})
    lines = result.out.splitlines()[1:]
    assert [line for line in lines if "..." in line or len(line) > 80] == []


COMMANDS = ["list", "config", "status", "show a", "list --json", "--help"]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_reader_that_has_enough_is_no_fault(project, command):
    reader, pipe = os.pipe()
    os.close(reader)
    words = [sys.executable, "-m", "rose", *command.split()]
    environ = {**os.environ, "PYTHONPATH": ROOT}
    with os.fdopen(pipe, "wb") as stream:
        done = subprocess.run(
            words, cwd=project, env=environ, stdout=stream, stderr=subprocess.PIPE, check=False
        )
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&- <&-"])
def test_streams_that_are_closed_from_the_start_are_no_fault(project, command, closed):
    done = shell(project, f"$rose {command} {closed}")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
@pytest.mark.parametrize("command", ["status", "show a", "config --json", "--help"])
def test_a_full_disk_is_one_sentence(project, command):
    done = shell(project, f"$rose {command} >/dev/full")
    assert done.returncode == 1
    assert done.stderr == "rose: input or output: No space left on device.\n"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_words_that_cannot_be_said_stop_nothing(project):
    done = shell(project, "$rose init 2>/dev/full")
    assert (done.returncode, "was there" in done.stdout) == (0, True)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_a_refusal_keeps_its_code_when_nothing_can_be_said(project):
    assert shell(project, "$rose show nothing >/dev/full 2>&1").returncode == 1
    assert shell(project, "$rose config --nonsense >/dev/full 2>&1").returncode == 2


def test_results_stand_before_the_words_about_them(project):
    (project / "nodes" / "b.md").write_text("---\nstatus: archived\n---\n# B\n")
    assert shell(project, "$rose list 2>&1 | cat").stdout == (
        "a - A\n1 of 2 lessons; --all shows every one.\n"
    )


PLAIN = {"LC_ALL": "C", "PYTHONUTF8": "0"}


def test_arguments_of_a_plain_locale_are_utf8(project):
    words = ("--when", "the task is a Prüfung", "--then", "read nodes/a.md")
    assert run_child("route", *words, cwd=project, env=PLAIN).code == 0
    assert "the task is a Prüfung" in run("route", cwd=project).out


def test_a_path_of_a_plain_locale_is_still_found(project):
    (project / "Notiz für T.md").write_text("Text\n")
    result = run_child("add", "T", "--file", "Notiz für T.md", cwd=project, env=PLAIN)
    assert (result.code, result.err) == (0, "")


def test_an_argument_that_is_no_utf8_is_left_as_it_is(project):
    result = run("route", "--when", "a \udcff task", "--then", "read nodes/a.md", cwd=project)
    assert result.code == 1
    assert "hostile-characters" in result.err


@pytest.mark.parametrize("words", [["hook", "--help"], ["hook", "-h"]])
def test_the_hook_explains_itself_to_a_person(project, words):
    result = run_child(*words, cwd=project)
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("Usage: rose hook [OPTIONS] [EVENT]")


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="no pseudo-terminals here")
def test_the_hook_without_an_event_on_a_terminal_explains_itself(project):
    keyboard, screen = os.openpty()
    words = [sys.executable, "-m", "rose", "hook"]
    environ = {**os.environ, "PYTHONPATH": ROOT}
    done = subprocess.run(
        words, cwd=project, env=environ, stdin=screen, capture_output=True, text=True, check=True
    )
    os.close(keyboard)
    os.close(screen)
    assert done.stdout.startswith("Usage: rose hook")


def test_the_hook_without_an_event_answers_a_host_that_pipes_one_in(project):
    run("route", "--when", "docs work", "--then", "read nodes/a.md", cwd=project)
    result = run_child("hook", cwd=project, stdin=b'{"session_id":"s"}')
    assert "docs work" in result.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["UserPromptSubmit", "--host", "other"], "unknown host"),
        (["NoSuchEvent"], "unknown event"),
    ],
)
def test_a_host_or_an_event_that_rose_does_not_know_gets_nothing_and_one_line(project, words, said):
    run("route", "--when", "docs work", "--then", "read nodes/a.md", cwd=project)
    result = run_child("hook", *words, cwd=project, stdin=b'{"session_id":"s"}')
    assert (result.code, result.out, result.err) == (0, "", "")
    (line,) = (project / ".rose" / "local" / "log" / "hook.jsonl").read_text().splitlines()
    assert said in line


def test_a_shell_completes_the_commands(tmp_path):
    env = {"_ROSE_COMPLETE": "complete_bash", "COMP_WORDS": "rose st", "COMP_CWORD": "1"}
    assert run_child(cwd=tmp_path, env=env).out.split() == ["status"]
