"""Places: the store path that a named path stands for."""

from __future__ import annotations

import pytest

from rose import layout
from rose.reflection.places import Places

STORE = layout.project_store("/home/dev/repo")
HOME = layout.Store("/home/dev/.rose", "/home/dev/.rose", "home")
KNOWN = {"nodes/a.md": 1}


@pytest.mark.parametrize(
    ("cwd", "named"),
    [
        ("/home/dev/repo", "/home/dev/repo/nodes/a.md"),
        ("/home/dev/repo", "nodes/a.md"),
        ("/home/dev/repo", "./nodes/../nodes/a.md"),
        ("/home/dev/repo/src", "../nodes/a.md"),
        ("/home/dev/repo/src", "nodes/a.md"),
        ("/home/dev/repo-worktrees/fix", "/home/dev/repo-worktrees/fix/nodes/a.md"),
        ("/home/dev/repo-worktrees/fix/src", "/home/dev/repo-worktrees/fix/nodes/a.md"),
        ("/home/dev/repo-worktrees/fix", "nodes/a.md"),
        ("/home/dev/repo/.claude/worktrees/fix", "nodes/a.md"),
        (
            "/home/dev/repo/.claude/worktrees/fix",
            "/home/dev/repo/.claude/worktrees/fix/nodes/a.md",
        ),
        ("", "nodes/a.md"),
    ],
)
def test_a_path_is_found_however_it_is_written(cwd, named):
    assert Places(STORE, cwd).find(named, "", KNOWN) == 1


@pytest.mark.parametrize(
    ("cwd", "named"),
    [
        ("/home/dev/repo", "/home/dev/other/nodes/a.md"),
        ("/home/dev/repo", "/home/dev/repo/sub/nodes/a.md"),
        ("/home/dev/repo/sub", "/home/dev/repo/sub/nodes/a.md"),
        ("/home/dev/repo", "nodes/A.md"),
        ("/home/dev/repo", "../nodes/a.md"),
        ("/home/dev/repo", "a.md"),
        ("/home/dev/repo", ""),
        ("/home/dev/repo", "nodes/a.md\0"),
        ("/home/dev/repo", "x" * 5000),
    ],
)
def test_another_path_is_not_taken_for_it(cwd, named):
    assert Places(STORE, cwd).find(named, "", KNOWN) is None


def test_the_home_store_is_named_by_absolute_paths_alone():
    places = Places(HOME, "/home/dev/repo")
    assert places.find("/home/dev/.rose/nodes/a.md", "", KNOWN) == 1
    assert places.find("~/.rose/nodes/a.md", "", KNOWN) == 1
    assert places.find("nodes/a.md", "", KNOWN) is None


def test_a_call_may_have_run_in_another_folder():
    assert Places(STORE, "/home/dev/repo").find("a.md", "/home/dev/repo/nodes", KNOWN) == 1


@pytest.mark.parametrize(
    ("cwd", "named", "inside"),
    [
        ("/home/dev/repo", "src/app.py", "src/app.py"),
        ("/home/dev/repo", "/etc/passwd", None),
        ("/home/dev/repo", "..", None),
        ("/home/dev/wt", "/home/dev/wt/src/app.py", "src/app.py"),
        ("/home/dev/wt", "/home/dev/elsewhere/app.py", None),
    ],
)
def test_what_lies_outside_the_project_has_no_store_path(cwd, named, inside):
    assert Places(STORE, cwd).inside(named, "") == inside
