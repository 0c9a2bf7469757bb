from __future__ import annotations

import hashlib
import os
import subprocess

import pytest

from rose import layout
from rose.errors import NoStore


def git(folder, *words: str):
    subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True)


@pytest.fixture
def environ(tmp_path):
    return {"HOME": str(tmp_path / "home")}


@pytest.fixture
def work(tmp_path):
    folder = tmp_path / "home" / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def checkout(work):
    """Return a git checkout with one commit and a store of its own."""
    folder = work / "main"
    (folder / "pkg").mkdir(parents=True)
    (folder / "pkg" / "a.txt").write_text("a\n")
    git(work, "init", "-q", "main")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "start")
    (folder / ".rose").mkdir()
    return folder


def base_at(folder, environ):
    project = layout.find(str(folder), environ).project
    return None if project is None else project.base


def test_the_nearest_store_upward_is_used(work, environ):
    inner = work / "mono" / "pkg" / "src"
    inner.mkdir(parents=True)
    (work / "mono" / ".rose").mkdir()
    assert base_at(inner, environ) == str(work / "mono")
    (work / "mono" / "pkg" / ".rose").mkdir()
    assert base_at(inner, environ) == str(work / "mono" / "pkg")


def test_a_directory_reached_by_a_link_has_the_store_of_its_real_place(work, environ, tmp_path):
    (work / "a" / "b").mkdir(parents=True)
    (work / "a" / ".rose").mkdir()
    (tmp_path / "link").symlink_to(work / "a" / "b")
    assert base_at(tmp_path / "link", environ) == str(work / "a")


def test_no_store_is_a_reason_and_not_an_error(work, environ):
    found = layout.find(str(work), environ)
    assert (found.project, found.home, found.present()) == (None, None, [])
    assert str(work) in found.reason
    with pytest.raises(NoStore, match="rose init"):
        found.first()


def test_a_store_in_home_itself_is_never_a_projects(work, environ):
    (work.parent / ".rose").mkdir()
    found = layout.find(str(work), environ)
    assert found.project is None
    assert found.home is not None
    assert found.home.base == str(work.parent / ".rose")
    assert layout.find(str(work.parent), environ).project is None


def test_a_store_above_home_is_out_of_reach(work, environ, tmp_path):
    (tmp_path / ".rose").mkdir()
    assert base_at(work, environ) is None


def test_home_by_another_name_still_ends_the_search(work, tmp_path):
    (work.parent / ".rose").mkdir()
    (tmp_path / "alias").symlink_to(work.parent)
    assert base_at(work, {"HOME": str(tmp_path / "alias"), "ROSE_HOME": "/nowhere"}) is None


@pytest.mark.parametrize("environ", [{}, {"HOME": ""}, {"HOME": "/dev/null"}])
def test_without_a_usable_home_the_projects_store_is_found(work, environ):
    (work / ".rose").mkdir()
    found = layout.find(str(work), environ)
    assert found.project is not None
    assert found.project.base == str(work)
    assert found.home is None


def test_rose_home_names_the_home_store(work, environ, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    found = layout.find(str(work), {**environ, "ROSE_HOME": str(tmp_path / "elsewhere")})
    assert found.home is not None
    assert (found.home.base, found.home.dot) == (str(tmp_path / "elsewhere"),) * 2
    assert found.first() is found.home


def test_rose_home_inside_a_project_is_not_the_projects_store(work, environ):
    (work / "a" / ".rose").mkdir(parents=True)
    found = layout.find(str(work / "a"), {**environ, "ROSE_HOME": str(work / "a" / ".rose")})
    assert found.project is None
    assert found.home is not None


def test_a_file_in_place_of_the_store_is_named_in_the_reason(work, environ):
    (work / ".rose").write_text("")
    found = layout.find(str(work), environ)
    assert found.project is None
    assert str(work / ".rose") in found.reason


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a folder away"
)
def test_a_folder_of_someone_else_is_not_used_nor_climbed_into(work, environ):
    inner = work / "theirs" / "mine"
    inner.mkdir(parents=True)
    (work / "theirs" / ".rose").mkdir()
    os.chown(work / "theirs" / ".rose", 12345, 12345)
    assert base_at(work / "theirs", environ) is None
    os.chown(work / "theirs", 12345, 12345)
    (work / ".rose").mkdir()
    assert base_at(inner, environ) is None


def test_a_worktree_uses_the_main_checkouts_store_and_loses_nothing(checkout, work, environ):
    tree = work / "tree"
    git(checkout, "worktree", "add", "-q", str(tree))
    store = layout.find(str(tree / "pkg"), environ).first()
    assert store.base == str(checkout)
    os.makedirs(store.routing)
    with open(os.path.join(store.routing, "kept"), "w", encoding="utf-8"):
        pass
    git(checkout, "worktree", "remove", "--force", str(tree))
    assert (checkout / ".rose" / "routing" / "kept").exists()


def test_a_worktree_passes_over_its_own_copy_of_a_committed_store(checkout, work, environ):
    (checkout / ".rose" / "config.yaml").write_text("")
    git(checkout, "add", ".")
    git(checkout, "commit", "-q", "-m", "store")
    git(checkout, "worktree", "add", "-q", str(work / "tree"))
    assert (work / "tree" / ".rose").is_dir()
    found = layout.find(str(work / "tree"), environ)
    assert found.first().base == str(checkout)
    assert "worktree" in found.reason


def test_a_subfolders_store_is_found_from_a_worktree(checkout, work, environ):
    (checkout / "pkg" / ".rose").mkdir()
    git(checkout, "worktree", "add", "-q", str(work / "tree"))
    assert base_at(work / "tree" / "pkg", environ) == str(checkout / "pkg")


def test_a_worktree_finds_the_store_above_its_main_checkout(checkout, environ, tmp_path):
    os.rmdir(checkout / ".rose")
    (checkout.parent / ".rose").mkdir()
    tree = tmp_path / "home" / "far" / "tree"
    git(checkout, "worktree", "add", "-q", str(tree))
    assert base_at(tree, environ) == str(checkout.parent)


def test_a_worktree_with_relative_links_is_followed(checkout, work, environ):
    tree = work / "tree"
    git(checkout, "worktree", "add", "-q", str(tree))
    (tree / ".git").write_text("gitdir: ../main/.git/worktrees/tree\n")
    (checkout / ".git" / "worktrees" / "tree" / "gitdir").write_text("../../../../tree/.git\n")
    assert base_at(tree, environ) == str(checkout)


def test_a_git_file_that_git_does_not_point_back_at_is_ignored(checkout, work, environ):
    """Anyone can write a `.git` file that names another project's worktree."""
    git(checkout, "worktree", "add", "-q", str(work / "tree"))
    (work / "fake").mkdir()
    (work / "fake" / ".git").write_bytes((work / "tree" / ".git").read_bytes())
    assert base_at(work / "fake", environ) is None


@pytest.mark.parametrize("content", [b"", b"gitdir:", b"gitdir: \0", b"\xff\xfe", b"gitdir: ../x"])
def test_a_broken_git_file_does_no_harm(work, environ, content):
    (work / "a").mkdir()
    (work / "a" / ".git").write_bytes(content)
    (work / ".rose").mkdir()
    assert base_at(work / "a", environ) == str(work)


@pytest.fixture
def submodule(checkout, work):
    git(work, "init", "-q", "lib")
    git(work / "lib", "commit", "-q", "--allow-empty", "-m", "start")
    add = ["submodule", "add", "-q", str(work / "lib"), "sub"]
    git(checkout, "-c", "protocol.file.allow=always", *add)
    return checkout / "sub"


def test_a_submodule_uses_its_own_store_if_it_has_one(submodule, checkout, environ):
    assert base_at(submodule, environ) == str(checkout)
    (submodule / ".rose").mkdir()
    assert base_at(submodule, environ) == str(submodule)


def test_a_nested_repository_uses_its_own_store_if_it_has_one(checkout, environ):
    git(checkout, "init", "-q", "nested")
    assert base_at(checkout / "nested", environ) == str(checkout)
    (checkout / "nested" / ".rose").mkdir()
    assert base_at(checkout / "nested", environ) == str(checkout / "nested")


def test_a_new_store_of_a_worktree_belongs_into_the_main_checkout(checkout, work):
    git(checkout, "worktree", "add", "-q", str(work / "tree"))
    (work / "tree" / "only-here").mkdir()
    assert layout.new_base(str(work / "tree")) == str(checkout)
    assert layout.new_base(str(work / "tree" / "pkg")) == str(checkout / "pkg")
    assert layout.new_base(str(work / "tree" / "only-here")) == str(checkout)
    assert layout.new_base(str(checkout / "pkg")) == str(checkout / "pkg")


def test_a_directory_that_is_gone_has_the_store_above_it(work, environ):
    (work / ".rose").mkdir()
    assert base_at(work / "gone" / "too", environ) in (str(work), None)


@pytest.mark.parametrize("session", ["abc", "../../etc/passwd", "", "\ud800", "a\nb"])
def test_a_session_id_never_becomes_a_path(session):
    name = layout.session_name("claude-code", session)
    raw = f"claude-code\n{session}".encode("utf-8", "surrogatepass")
    assert name == hashlib.sha256(raw).hexdigest()


def test_the_ledger_lies_where_its_setting_says(tmp_path):
    store = layout.project_store(str(tmp_path))
    assert store.ledger("commit") == str(tmp_path / ".rose" / "ledger")
    assert store.ledger("local") == str(tmp_path / ".rose" / "local" / "ledger")
