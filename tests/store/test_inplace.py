from __future__ import annotations

import os

import pytest

from rose import config, files
from rose.config import Settings
from rose.findings import Refused
from rose.store import inplace


@pytest.fixture
def adopt(store):
    """Return a function that adopts folders below the store's base."""

    def run(*folders: str, dry_run: bool = False):
        settings = config.read(store)[0]
        paths = [os.path.join(store.base, folder) for folder in folders]
        return inplace.adopt(store, settings, paths, dry_run=dry_run)

    return run


def test_a_folder_is_read_where_it_lies(adopt, store, put):
    path = put(".cursor/rules/a.mdc", "---\nglobs: **/*.ts\n---\n# A\n")
    before = files.read_bytes(path)
    done = adopt(".cursor/rules")
    assert done.folders == (".cursor/rules",)
    assert [(e.source, e.path, e.is_new) for e in done.entries] == [
        (path, ".cursor/rules/a.mdc", True)
    ]
    assert config.read(store)[0].lessons_paths == ("nodes", ".cursor/rules")
    assert (files.read_bytes(path), os.path.exists(store.base + "/nodes")) == (before, False)


@pytest.mark.parametrize("folder", ["docs", "docs/inner", "docs/./inner"])
def test_what_is_read_already_changes_nothing(adopt, store, put, folder):
    put("docs/inner/a.md")
    adopt("docs")
    stamp = files.stat_stamp(store.config)
    done = adopt(folder)
    assert (done.folders, [e.is_new for e in done.entries]) == ((), [False])
    assert files.stat_stamp(store.config) == stamp


def test_a_folder_that_is_passed_over_below_another_is_added(adopt, put):
    put("docs/.cursor/rules/a.mdc")
    adopt("docs")
    done = adopt("docs/.cursor/rules")
    assert done.folders == ("docs/.cursor/rules",)
    assert [e.path for e in done.entries] == ["docs/.cursor/rules/a.mdc"]


def test_a_dry_run_changes_no_setting(adopt, store, put):
    put("docs/a.md")
    assert adopt("docs", dry_run=True).folders == ("docs",)
    assert config.read(store)[0] == Settings()
    assert not os.path.exists(store.config)


@pytest.mark.parametrize("folder", ["..", "../out", ".", ".rose", ".rose/routing", "a,b", "f.md"])
def test_what_cannot_be_read_in_place_refuses_all(adopt, store, put, tmp_path, folder):
    (tmp_path / "out").mkdir()
    put("f.md")
    put("a,b/x.md")
    put("docs/x.md")
    os.makedirs(store.routing)
    with pytest.raises(Refused) as refused:
        adopt("docs", folder)
    assert [f.rule for f in refused.value.findings] == ["import-path"]
    assert not os.path.exists(store.config)


def test_a_link_that_leads_out_cannot_be_read_in_place(adopt, store, tmp_path):
    (tmp_path / "out").mkdir()
    os.symlink(tmp_path / "out", os.path.join(store.base, "docs"))
    with pytest.raises(Refused):
        adopt("docs")


def test_what_is_wrong_in_the_folder_is_said(adopt, store, put):
    put("docs/a.md", "token ghp_" + "a1B2c3D4" * 5 + "\n")
    os.symlink("gone.md", os.path.join(store.base, "docs", "b.md"))
    put("nodes/x\ny.md")
    done = adopt("docs")
    assert [(f.rule, f.where, f.severity) for f in done.findings] == [
        ("lesson-link", "docs/b.md", "warning"),
        ("secret", "docs/a.md:1", "warning"),
    ]
