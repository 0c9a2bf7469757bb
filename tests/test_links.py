"""A link that came with a clone leads a write to its own kind of file, and never to git's."""

from __future__ import annotations

import os
import subprocess

import pytest

from rose import files
from rose.errors import Unwritable
from tests.factories import a_store

HOOK = "[core]\n\tfsmonitor = false\n"


@pytest.fixture
def base(tmp_path):
    store = a_store(tmp_path)
    subprocess.run(["git", "init", "-q", store.base], check=True)
    return store.base


def write(base, path):
    files.replace(os.path.join(base, path), "new", follow=base)


def whole(base):
    return {
        path: files.read_bytes(path)
        for folder, _, names in os.walk(base)
        for name in names
        if os.path.isfile(path := os.path.join(folder, name))
    }


@pytest.mark.parametrize(
    ("path", "target"),
    [
        (".rose/routing/r_abcdef.md", "../../.git/config"),
        (".rose/config.yaml", "../.git/info/exclude"),
        ("nodes/x.md", "../.git/notes.md"),
        ("nodes/deep/x.md", "../../.git/hooks/notes.md"),
    ],
)
def test_no_link_leads_a_write_into_gits_folder(base, path, target):
    files.replace(os.path.join(base, ".git/notes.md"), "git's")
    files.replace(os.path.join(base, ".git/hooks/notes.md"), "git's")
    full = os.path.join(base, path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    os.symlink(target, full)
    before = whole(base)
    with pytest.raises(Unwritable, match="git's own"):
        write(base, path)
    assert whole(base) == before


@pytest.mark.parametrize("path", [".git/x.md", ".GIT/x.md", "nodes/.Git/x.md"])
def test_gits_folder_is_not_written_by_name_either(base, path):
    with pytest.raises(Unwritable, match="git's own"):
        write(base, path)
    assert not os.path.lexists(os.path.join(base, path))


def test_a_folder_on_the_way_may_not_be_a_link_into_gits(base):
    os.symlink("../.git/hooks", os.path.join(base, "nodes/hooks"))
    with pytest.raises(Unwritable, match="git's own"):
        write(base, "nodes/hooks/new.md")


def test_gits_folder_is_known_under_another_name(base):
    subprocess.run(
        ["git", "init", "-q", "--separate-git-dir", os.path.join(base, "kept"), base], check=True
    )
    os.symlink("../kept/config", os.path.join(base, "nodes/config"))
    with pytest.raises(Unwritable, match="git's own"):
        write(base, "nodes/config")
    os.mkdir(os.path.join(base, "side"))
    for name in ("HEAD", "commondir"):
        files.replace(os.path.join(base, "side", name), "as a worktree's\n")
    with pytest.raises(Unwritable, match="git's own"):
        write(base, "side/x.md")


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("nodes/x.md", "../run.sh"),
        (".rose/config.yaml", "../run.sh"),
        (".rose/config.yaml", "../README.md"),
        ("nodes/x.md", "gone.md"),
        ("nodes/x.md", "x.md"),
        ("nodes/x.md", "../folder.md"),
    ],
)
def test_a_link_leads_to_a_file_of_its_own_kind_that_is_there(base, path, target):
    for name in ("run.sh", "README.md"):
        files.replace(os.path.join(base, name), "a person's")
    os.mkdir(os.path.join(base, "folder.md"))
    os.symlink(target, os.path.join(base, path))
    before = whole(base)
    with pytest.raises(Unwritable, match="it is a link to"):
        write(base, path)
    assert whole(base) == before


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("nodes/x.md", "../docs/X.MD"),
        ("nodes/x.mdc", "../docs/y.md"),
        (".rose/config.yaml", "../docs/rose.yml"),
    ],
)
def test_a_link_to_a_file_of_its_own_kind_stays_one(base, path, target):
    place = os.path.join(base, "nodes", target)
    files.replace(place if path.startswith("nodes") else os.path.join(base, target[3:]), "old")
    os.symlink(target, os.path.join(base, path))
    write(base, path)
    assert os.path.islink(os.path.join(base, path))
    assert files.read_text(os.path.join(base, path)) == "new"
