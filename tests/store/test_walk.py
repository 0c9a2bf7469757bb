from __future__ import annotations

import os

import pytest

from rose import layout
from rose.store import walk


@pytest.fixture
def walked(store):
    """Return a function that gives the lesson paths and the (rule, place) of each finding."""

    def run(*roots: str):
        found, findings = walk.walk(store, roots or ("nodes",))
        return [file.path for file in found], [(f.rule, f.where) for f in findings]

    return run


def link(store, path, target):
    os.symlink(target, os.path.join(store.base, path))


def test_markdown_files_are_found_root_by_root_in_order_of_path(put, walked):
    for path in ("nodes/b.md", "nodes/a/z.MD", "docs/a.md", "nodes/a.txt", "nodes/a/y.mdc"):
        put(path)
    found = ["nodes/a/y.mdc", "nodes/a/z.MD", "nodes/b.md", "docs/a.md"]
    assert walked("nodes", "docs") == (found, [])


def test_hidden_folders_and_foreign_packages_are_passed_over(put, walked):
    for name in (".git", ".hidden", "node_modules", "__pycache__"):
        put(f"nodes/{name}/a.md")
    put("nodes/.a.md")
    assert walked() == ([], [])


def test_a_named_folder_may_be_hidden_itself(put, walked):
    put(".claude/skills/tdd/SKILL.md")
    assert walked(".claude/skills") == ([".claude/skills/tdd/SKILL.md"], [])


def test_the_default_folder_may_be_missing_and_a_named_one_is_reported(walked):
    assert walked("nodes", "docs") == ([], [("lessons-path", "docs")])


def test_a_file_in_place_of_a_folder_is_reported(put, walked):
    put("nodes", "text")
    assert walked() == ([], [("lessons-path", "nodes")])


def test_a_folder_below_another_is_read_once_and_belongs_to_the_first(put, store):
    put("nodes/testing/a.md")
    put("nodes/b.md")
    found, _ = walk.walk(store, ("nodes/testing", "nodes"))
    assert [(file.path, file.root) for file in found] == [
        ("nodes/testing/a.md", "nodes/testing"),
        ("nodes/b.md", "nodes"),
    ]


def test_a_folder_named_like_a_lesson_is_entered_and_reported(put, walked):
    put("nodes/x.md/inner.md")
    assert walked() == (["nodes/x.md/inner.md"], [("folder-named-md", "nodes/x.md")])


def test_a_link_inside_the_project_is_followed(put, store, walked):
    put("shared/a.md")
    put("nodes/b.md")
    link(store, "nodes/c.md", "b.md")
    link(store, "nodes/linked", "../shared")
    assert walked() == (["nodes/b.md", "nodes/c.md", "nodes/linked/a.md"], [])


def test_a_link_that_leads_out_is_not_read(put, store, walked, tmp_path):
    (tmp_path / "secret.md").write_text("secret")
    put("nodes/a.md")
    link(store, "nodes/b.md", tmp_path / "secret.md")
    link(store, "nodes/c.md", "../../secret.md")
    link(store, "nodes/out", tmp_path)
    assert walked() == (
        ["nodes/a.md"],
        [("lesson-link", f"nodes/{name}") for name in ("b.md", "c.md", "out")],
    )


def test_a_link_cannot_pass_another_kind_of_file_off_as_a_lesson(put, store, walked):
    put(".env", "KEY=1")
    put("nodes/a.md")
    link(store, "nodes/b.md", "../.env")
    assert walked() == (["nodes/a.md"], [("lesson-link", "nodes/b.md")])


def test_a_root_that_leads_out_is_not_read(store, walked, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a.md").write_text("secret")
    link(store, "nodes", tmp_path / "out")
    assert walked() == ([], [("lessons-path", "nodes")])


def test_a_folder_whose_name_only_begins_like_the_project_is_outside(store, walked, tmp_path):
    (tmp_path / "project-two").mkdir()
    link(store, "nodes", tmp_path / "project-two")
    assert walked() == ([], [("lessons-path", "nodes")])


def test_loops_of_links_end(put, store, walked):
    put("nodes/a/b/x.md")
    link(store, "nodes/a/b/up", "..")
    link(store, "nodes/self", ".")
    link(store, "nodes/loop.md", "loop.md")
    assert walked() == (["nodes/a/b/x.md"], [("lesson-link", "nodes/loop.md")])


def test_a_link_that_leads_nowhere_is_reported(put, store, walked):
    put("nodes/a.md")
    link(store, "nodes/b.md", "gone.md")
    assert walked() == (["nodes/a.md"], [("lesson-link", "nodes/b.md")])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_named_like_a_lesson_is_reported_and_not_opened(put, store, walked):
    put("nodes/a.md")
    os.mkfifo(os.path.join(store.base, "nodes", "b.md"))
    assert walked() == (["nodes/a.md"], [("lesson-unreadable", "nodes/b.md")])


@pytest.mark.parametrize("name", ["a\nb.md", "a\x1b[31m.md", "a\u202eb.md", "a\udcff.md"])
def test_a_name_that_cannot_stand_on_a_line_is_reported(put, walked, name):
    put(f"nodes/{name}")
    paths, findings = walked()
    assert paths == []
    assert [rule for rule, _ in findings] == ["lesson-name"]
    assert findings[0][1].isascii()


@pytest.mark.parametrize(
    "name", ["with blanks.md", "日本語.md", "ñ.md", "👩‍🔬.md", "-rf.md", "a'b\".md"]
)
def test_other_names_are_fine(put, walked, name):
    put(f"nodes/{name}")
    assert walked() == ([f"nodes/{name}"], [])


def test_a_link_to_what_rose_keeps_is_not_read(put, store, walked):
    put(".rose/routing/r_000001.md")
    put("nodes/a.md")
    link(store, "nodes/rules", "../.rose/routing")
    assert walked() == (["nodes/a.md"], [("lesson-link", "nodes/rules")])


@pytest.mark.parametrize("root", ["routing", "local", "local/blocks"])
def test_a_home_stores_own_folders_hold_no_lessons(tmp_path, root):
    (tmp_path / root).mkdir(parents=True)
    (tmp_path / root / "a.md").write_text("# A\n")
    store = layout.Store(str(tmp_path), str(tmp_path), "home")
    found, findings = walk.walk(store, (root,))
    assert (found, [finding.rule for finding in findings]) == ([], ["lessons-path"])


def test_a_home_store_is_named_by_whole_paths(tmp_path):
    store = layout.Store(str(tmp_path), str(tmp_path), "home")
    assert walk.walk(store, ("docs",))[1][0].where == str(tmp_path / "docs")
