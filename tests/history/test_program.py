"""Git as a program: bounded, unprompted, and led nowhere by what surrounds us."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from rose.history.program import Folder, GitError, version
from tests.clirun import ROOT
from tests.history.repos import a_repo, git, head, hook, put


def a_program(folder, *lines: str) -> str:
    """Put a program named git into a folder, and return the folder."""
    path = put(folder, "bin/git", "\n".join(["#!/bin/sh", *lines, ""]))
    os.chmod(path, 0o700)
    return os.path.dirname(path)


def test_the_version_is_that_of_the_git_program(tmp_path, monkeypatch):
    assert version() in git(".", "version")
    monkeypatch.setenv("PATH", a_program(tmp_path, "echo git version 2.39.5 '(Vendor 154)'"))
    assert version() == "2.39.5"
    monkeypatch.setenv("PATH", a_program(tmp_path, "exit 1"))
    assert version() is None
    monkeypatch.setenv("PATH", str(tmp_path))
    assert version() is None


def test_what_git_says_is_one_line_that_says_why(tmp_path, monkeypatch):
    lines = ("echo hint: no >&2", "echo 'error: this is why' >&2", "echo fatal: so >&2", "exit 3")
    monkeypatch.setenv("PATH", a_program(tmp_path, *lines))
    with pytest.raises(GitError, match=r"^this is why$"):
        Folder(str(tmp_path)).run("status")
    monkeypatch.setenv("PATH", a_program(tmp_path, "exit 3"))
    with pytest.raises(GitError, match=r"^it exits with 3$"):
        Folder(str(tmp_path)).run("status")


def test_a_folder_that_is_gone_is_no_reason_to_run_elsewhere(tmp_path):
    with pytest.raises(GitError, match="there is no folder"):
        Folder(str(tmp_path / "gone")).run("status")


def test_git_runs_in_its_folder_whatever_the_variables_say(tmp_path, monkeypatch):
    one, other = a_repo(tmp_path / "one"), a_repo(tmp_path / "other")
    git(other, "commit", "-q", "--allow-empty", "-m", "other")
    for name in ("GIT_DIR", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_WORK_TREE"):
        monkeypatch.setenv(name, str(other / ".git"))
    found = Folder(str(one)).text("rev-parse", "HEAD")
    assert {name for name in os.environ if name.endswith("_DIR")} >= {"GIT_DIR", "GIT_COMMON_DIR"}
    for name in ("GIT_DIR", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_WORK_TREE"):
        monkeypatch.delenv(name)
    assert found == head(one)


def test_what_takes_too_long_is_ended_or_taken_as_far_as_it_came(tmp_path, monkeypatch):
    monkeypatch.setenv(
        "PATH", f"{a_program(tmp_path, 'echo so far', 'sleep 60')}:{os.environ['PATH']}"
    )
    folder = Folder(str(tmp_path))
    assert folder.run("log", wait_s=0.5, partly=True) == b"so far\n"
    with pytest.raises(GitError, match="took longer"):
        folder.run("log", wait_s=0.5)


SCRIPT = """
import sys
from rose.history.commit import commit
print(commit(sys.argv[1], [sys.argv[2]], "x"))
"""


def test_an_interrupt_ends_the_hooks_too_and_nothing_is_committed(tmp_path):
    repo = a_repo(tmp_path / "repo")
    hook(repo, "pre-commit", f"echo $$ > {repo}/started", "sleep 600")
    path = put(repo, "new.txt")
    before = head(repo)
    words = [sys.executable, "-c", SCRIPT, str(repo), path]
    environ = {**os.environ, "PYTHONPATH": ROOT}
    with subprocess.Popen(words, env=environ, stderr=subprocess.PIPE) as child:
        started = repo / "started"
        while child.poll() is None and not (started.exists() and started.read_text()):
            time.sleep(0.02)
        child.send_signal(signal.SIGINT)
        said = child.communicate(timeout=30)[1]
    assert b"KeyboardInterrupt" in said
    running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    assert f"{repo}/.git/hooks" not in running.stdout
    assert head(repo) == before
    assert git(repo, "status", "--porcelain") == "?? new.txt\n?? started\n"
