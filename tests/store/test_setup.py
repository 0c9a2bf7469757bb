from __future__ import annotations

import os

import pytest

from rose import config, files, layout
from rose.config import Settings
from rose.errors import Unwritable
from rose.store import setup


@pytest.fixture
def bare(tmp_path):
    (tmp_path / "bare").mkdir()
    return layout.project_store(str(tmp_path / "bare"))


def tree(base):
    return {
        os.path.relpath(os.path.join(folder, name), base): files.read_bytes(
            os.path.join(folder, name)
        )
        for folder, _, names in os.walk(base)
        for name in names
    }


def test_a_new_store_is_made_whole(bare):
    made = setup.init(bare, Settings())
    assert made.made == (".rose/", ".rose/routing/", ".rose/.gitignore", "nodes/")
    assert made.present == ()
    assert tree(bare.base) == {".rose/.gitignore": b"index.md\nlocal/\n*.tmp\n"}
    assert os.path.isdir(bare.routing)
    assert os.path.isdir(os.path.join(bare.base, "nodes"))


def test_a_second_time_nothing_is_made_and_nothing_changes(bare):
    setup.init(bare, Settings())
    before = tree(bare.base)
    made = setup.init(bare, Settings())
    assert made.made == ()
    assert made.present == (".rose/", ".rose/routing/", ".rose/.gitignore")
    assert tree(bare.base) == before


def test_a_shared_ledger_is_merged_by_union(bare):
    made = setup.init(bare, Settings(ledger_share="commit"))
    assert ".rose/.gitattributes" in made.made
    assert tree(bare.base)[".rose/.gitattributes"] == b"ledger/*.jsonl merge=union\n"


def test_what_exists_is_left_alone_and_what_it_lacks_is_said(bare):
    os.makedirs(bare.dot)
    files.replace(os.path.join(bare.dot, ".gitignore"), "local/\n# mine\n")
    made = setup.init(bare, Settings())
    assert tree(bare.base)[".rose/.gitignore"] == b"local/\n# mine\n"
    assert [(f.where, f.message) for f in made.findings] == [
        (".rose/.gitignore", "It lacks: index.md, *.tmp.")
    ]


def test_no_lesson_folder_is_made_where_one_of_the_setting_exists(bare):
    os.makedirs(os.path.join(bare.base, "docs"))
    setup.init(bare, Settings(lessons_paths=("nodes", "docs")))
    assert not os.path.exists(os.path.join(bare.base, "nodes"))


def test_a_home_store_is_its_own_folder(tmp_path):
    store = layout.Store(str(tmp_path / ".rose"), str(tmp_path / ".rose"), "home")
    made = setup.init(store, Settings())
    assert made.made == (".rose/", "routing/", ".gitignore", "nodes/")
    assert os.path.isdir(tmp_path / ".rose" / "nodes")


def test_a_file_in_place_of_the_store_is_refused_and_left(bare):
    files.replace(bare.dot, "mine")
    with pytest.raises(Unwritable, match="in the way"):
        setup.init(bare, Settings())
    assert files.read_text(bare.dot) == "mine"


def test_a_place_that_takes_no_folder_is_refused():
    store = layout.Store("/dev/null/.rose", "/dev/null/.rose", "home")
    with pytest.raises(Unwritable, match="not made"):
        setup.init(store, Settings())


@pytest.fixture
def full(store, put):
    for path in (".claude/skills/tdd/SKILL.md", "docs/a.md", "docs/b/c.md", "docs/x.txt"):
        put(path)
    put(".cursor/rules/python.mdc")
    put("nodes/one.md")
    return store


def test_lessons_are_counted_where_they_lie(full):
    found = setup.folders(full, Settings())
    assert [(f.path, f.lessons, f.is_read) for f in found] == [
        ("nodes", 1, True),
        (".claude/skills", 1, False),
        (".cursor/rules", 1, False),
        ("docs", 2, False),
    ]


def test_adopted_folders_are_read_in_place(full):
    before = tree(full.base)
    adopted = ("docs", ".claude/skills", ".cursor/rules")
    setup.adopt(full, Settings(), adopted)
    settings, findings = config.read(full)
    assert (settings.lessons_paths, findings) == (("nodes", *adopted), [])
    assert {path: raw for path, raw in tree(full.base).items() if path in before} == before
    assert all(folder.is_read for folder in setup.folders(full, settings) if folder.lessons)
