"""Commits of what rose wrote, in real repositories."""

from __future__ import annotations

import os
import subprocess

import pytest

from rose import history

MESSAGE = "rose: learn r_0000aa"


def git(folder, *words: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(folder), *words], check=True, capture_output=True, text=True
    )
    return done.stdout


def put(folder, path: str, text: str = "x\n") -> str:
    full = os.path.join(folder, path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, "w", encoding="utf-8") as stream:
        stream.write(text)
    return full


def commit(folder, *paths: str) -> history.Commit:
    return history.commit(str(folder), [os.path.join(folder, path) for path in paths], MESSAGE)


def in_head(folder) -> list[str]:
    """Return the files that the last commit changed."""
    return git(folder, "show", "--name-only", "--format=", "HEAD").split()


@pytest.fixture
def repo(tmp_path):
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    put(folder, "mine.txt", "one\n")
    put(folder, "other.txt", "one\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "first")
    return folder


def test_new_and_changed_files_go_into_one_commit(repo):
    put(repo, ".rose/routing/r_0000aa.md")
    put(repo, "mine.txt", "two\n")
    done = commit(repo, ".rose/routing/r_0000aa.md", "mine.txt")
    assert done == history.Commit(git(repo, "rev-parse", "HEAD").strip(), "committed")
    assert in_head(repo) == [".rose/routing/r_0000aa.md", "mine.txt"]
    assert git(repo, "log", "-1", "--format=%s").strip() == MESSAGE
    assert git(repo, "status", "--porcelain") == ""


def test_a_deleted_file_is_committed_as_deleted(repo):
    os.unlink(repo / "mine.txt")
    assert commit(repo, "mine.txt").reason == "committed"
    assert git(repo, "show", "--name-status", "--format=", "HEAD").split() == ["D", "mine.txt"]


def test_what_is_staged_and_what_is_dirty_stays_so(repo):
    put(repo, "mine.txt", "staged\n")
    git(repo, "add", "mine.txt")
    put(repo, "mine.txt", "staged\nand dirty\n")
    put(repo, "other.txt", "dirty\n")
    put(repo, "new.txt")
    before = git(repo, "status", "--porcelain"), git(repo, "diff"), git(repo, "diff", "--cached")
    put(repo, ".rose/routing/r_0000aa.md")
    assert commit(repo, ".rose/routing/r_0000aa.md").reason == "committed"
    assert in_head(repo) == [".rose/routing/r_0000aa.md"]
    after = git(repo, "status", "--porcelain"), git(repo, "diff"), git(repo, "diff", "--cached")
    assert after == before


def test_a_store_in_a_subfolder_is_committed_to_the_repository_above_it(repo):
    put(repo, "sub/.rose/routing/r_0000aa.md")
    assert commit(repo / "sub", ".rose/routing/r_0000aa.md").reason == "committed"
    assert in_head(repo) == ["sub/.rose/routing/r_0000aa.md"]


def test_the_first_commit_of_a_repository_may_be_roses(tmp_path):
    git(tmp_path, "init", "-q")
    put(tmp_path, ".rose/routing/r_0000aa.md")
    assert commit(tmp_path, ".rose/routing/r_0000aa.md").reason == "committed"


def test_a_file_whose_name_is_a_pattern_is_no_pattern(repo):
    put(repo, "a.md")
    put(repo, "*.md")
    assert commit(repo, "*.md").reason == "committed"
    assert in_head(repo) == ["*.md"]
    assert git(repo, "status", "--porcelain") == "?? a.md\n"


@pytest.mark.parametrize(
    ("paths", "reason"),
    [
        (["mine.txt"], "nothing changed"),
        ([".rose/local/layer.json"], "nothing of it is tracked by git"),
        (["never.md"], "nothing of it is tracked by git"),
        (["../outside.md"], "nothing of it lies in the repository"),
        (["../outside.md", "mine.txt"], "nothing changed"),
    ],
    ids=["unchanged", "ignored", "missing", "outside", "partly outside"],
)
def test_where_there_is_nothing_to_commit_there_is_no_commit(repo, paths, reason):
    put(repo, ".gitignore", ".rose/local/\n")
    put(repo, ".rose/local/layer.json")
    put(repo, "../outside.md")
    head = git(repo, "rev-parse", "HEAD")
    assert commit(repo, *paths) == history.Commit(None, reason)
    assert git(repo, "rev-parse", "HEAD") == head


def _detached(repo):
    git(repo, "checkout", "-q", "--detach")


def _merging(repo):
    git(repo, "checkout", "-q", "-b", "theirs")
    put(repo, "mine.txt", "theirs\n")
    git(repo, "commit", "-q", "-a", "-m", "theirs")
    git(repo, "checkout", "-q", "main")
    put(repo, "mine.txt", "ours\n")
    git(repo, "commit", "-q", "-a", "-m", "ours")
    subprocess.run(["git", "-C", str(repo), "merge", "theirs"], check=False, capture_output=True)


def _refusing(repo):
    put(repo, ".git/hooks/pre-commit", "#!/bin/sh\necho 'no commits today' >&2\nexit 1\n")
    os.chmod(repo / ".git" / "hooks" / "pre-commit", 0o700)


def _locked(repo):
    put(repo, ".git/index.lock", "")


@pytest.mark.parametrize(
    ("hinder", "reason"),
    [
        (_detached, "no branch is checked out"),
        (_merging, "the repository is in the middle of something (MERGE_HEAD)"),
        (_refusing, "git refused: "),
        (_locked, "git refused: "),
    ],
    ids=["detached", "merging", "hook", "locked"],
)
def test_a_repository_that_is_busy_or_refuses_gets_no_commit(repo, hinder, reason):
    hinder(repo)
    put(repo, ".rose/routing/r_0000aa.md")
    head = git(repo, "rev-parse", "HEAD")
    done = commit(repo, ".rose/routing/r_0000aa.md")
    assert done.sha is None
    assert done.reason.startswith(reason)
    assert git(repo, "rev-parse", "HEAD") == head


def test_a_bare_repository_gets_no_commit(tmp_path):
    git(tmp_path, "init", "-q", "--bare")
    assert commit(tmp_path, "a.md") == history.Commit(None, "the repository is bare")


def test_a_folder_outside_git_is_said_to_be_none(tmp_path):
    put(tmp_path, "a.md")
    assert commit(tmp_path, "a.md") == history.Commit(None, "this is no git repository")


def test_without_the_git_program_everything_else_goes_on(repo, monkeypatch):
    put(repo, "mine.txt", "two\n")
    monkeypatch.setenv("PATH", str(repo))
    assert history.version() is None
    assert commit(repo, "mine.txt") == history.Commit(None, "git is not installed")


def test_the_version_is_that_of_the_git_program():
    assert history.version() in git(".", "version")
