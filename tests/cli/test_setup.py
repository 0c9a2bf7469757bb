from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.clirun import ROOT, run, run_child


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "home" / "project"
    folder.mkdir()
    return folder


def git(folder, *words: str):
    subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True)


def test_a_fresh_folder_gets_a_store_and_a_next_step(project):
    result = run("init", cwd=project)
    assert result.code == 0
    assert ".rose/routing/" in result.out
    assert "rose add" in result.err
    assert sorted(os.listdir(project / ".rose")) == [".gitignore", "index.md", "local", "routing"]


def test_a_second_run_says_what_was_there_and_changes_nothing(project):
    run("init", cwd=project)
    (project / ".rose" / ".gitignore").write_text("index.md\nlocal/\nmine\n")
    result = run("init", cwd=project)
    assert result.code == 0
    assert "was there  .rose/, .rose/routing/, .rose/.gitignore" in result.out
    assert "made" not in result.out
    assert (project / ".rose" / ".gitignore").read_text() == "index.md\nlocal/\nmine\n"


@pytest.fixture
def skilled(project):
    for path in ("docs/a.md", "docs/b.md", ".claude/skills/tdd/SKILL.md"):
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_text(f"# {path}\n")
    return project


@pytest.mark.parametrize("words", [[], ["--no-adopt"]])
def test_lessons_found_elsewhere_are_counted_and_not_taken_unasked(skilled, words):
    result = run("init", *words, cwd=skilled)
    assert "found      1 lesson in .claude/skills/" in result.out
    assert "found      2 lessons in docs/" in result.out
    assert "--adopt" in result.err
    assert not (skilled / ".rose" / "config.yaml").exists()


def test_adopted_lessons_are_read_where_they_lie(skilled):
    result = run("init", "--adopt", cwd=skilled)
    assert result.code == 0
    assert "adopted    .claude/skills/, docs/" in result.out
    assert len((skilled / ".rose" / "index.md").read_text().splitlines()) == 3
    assert "tdd/SKILL" in run("list", cwd=skilled).out


def test_the_result_is_json_on_request(skilled):
    result = run("init", "--adopt", "--json", cwd=skilled).json
    assert result["adopted"] == [".claude/skills", "docs"]
    assert {folder["path"]: folder["lessons"] for folder in result["folders"]} == {
        "nodes": 0,
        ".claude/skills": 1,
        "docs": 2,
    }


def test_the_home_store_is_made_on_request_only(project, tmp_path):
    assert run("init", "--home", cwd=project).code == 0
    assert (tmp_path / "home" / ".rose" / "routing").is_dir()
    assert not (project / ".rose").exists()


def test_the_first_step_of_a_home_store_leads_to_it(project):
    assert '`rose add "TITLE" --body TEXT --home`' in run("init", "--home", cwd=project).err


def test_the_home_store_may_lie_elsewhere(project, tmp_path):
    env = {"ROSE_HOME": str(tmp_path / "other")}
    assert run("init", "--home", cwd=project, env=env).code == 0
    assert (tmp_path / "other" / "nodes").is_dir()


def test_the_home_folder_is_no_project(project):
    result = run("init", cwd=project.parent)
    assert result.code == 1
    assert "rose init --home" in result.err
    assert not (project.parent / ".rose").exists()


@pytest.mark.parametrize(("home", "code"), [(None, 0), ("/dev/null", 0)])
def test_a_project_needs_no_home(project, home, code):
    result = run("init", cwd=project, env={"HOME": home})
    assert (result.code, os.listdir(project / ".rose") != []) == (code, True)


@pytest.mark.parametrize(("home", "words"), [(None, "ROSE_HOME"), ("/dev/null", "not made")])
def test_a_home_store_without_a_usable_home_is_refused(project, home, words):
    result = run("init", "--home", cwd=project, env={"HOME": home})
    assert result.code == 1
    assert words in result.err
    assert os.listdir(project) == []


def test_a_file_in_place_of_the_store_is_named_and_left(project):
    (project / ".rose").write_text("mine")
    result = run("init", cwd=project)
    assert result.code == 1
    assert "in the way" in result.err
    assert (project / ".rose").read_text() == "mine"


def test_in_a_subfolder_the_store_above_is_named_and_none_is_made(project):
    run("init", cwd=project)
    (project / "pkg").mkdir()
    result = run("init", cwd=project / "pkg")
    assert result.code == 0
    assert str(project) in result.err
    assert os.listdir(project / "pkg") == []


def test_a_nested_repository_gets_its_own_store(project):
    run("init", cwd=project)
    git(project, "init", "-q", "nested")
    assert run("init", cwd=project / "nested").code == 0
    assert (project / "nested" / ".rose" / "routing").is_dir()


def test_a_worktree_shares_the_main_checkouts_store_and_loses_nothing(project):
    git(project, "init", "-q", ".")
    git(project, "commit", "-q", "--allow-empty", "-m", "start")
    tree = project.parent / "tree"
    git(project, "worktree", "add", "-q", str(tree))
    assert run("init", cwd=tree).code == 0
    assert run("add", "Kept", "--body", "x", cwd=tree).code == 0
    git(project, "worktree", "remove", "--force", str(tree))
    assert "kept - Kept" in run("list", cwd=project).out


def test_the_installed_program_says_the_same(project):
    result = run_child("init", cwd=project, env={"LANG": "C", "LC_ALL": "C"})
    assert (result.code, "made" in result.out) == (0, True)


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="no pseudo-terminals here")
@pytest.mark.parametrize(("answer", "adopted"), [(b"y\n", True), (b"\n", False), (b"\x04", False)])
def test_on_a_terminal_a_person_is_asked(skilled, answer, adopted):
    keyboard, screen = os.openpty()
    os.write(keyboard, answer)
    environ = {**os.environ, "PYTHONPATH": ROOT}
    words = [sys.executable, "-m", "rose", "init"]
    subprocess.run(
        words,
        cwd=skilled,
        env=environ,
        stdin=screen,
        stderr=screen,
        stdout=subprocess.DEVNULL,
        check=True,
        timeout=60,
    )
    asked = os.read(keyboard, 4096).decode()
    os.close(screen)
    os.close(keyboard)
    assert "Read the 3 found as lessons too" in asked
    assert (skilled / ".rose" / "config.yaml").exists() is adopted
