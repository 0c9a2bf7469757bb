from __future__ import annotations

import os

import pytest

from rose import files
from rose.config import Settings
from rose.store import index, lessons


@pytest.fixture
def written(store):
    """Return a function that writes the index anew."""

    def run(*roots: str):
        settings = Settings(lessons_paths=roots or ("nodes",))
        return index.write(store, lessons.scan(store, settings))

    return run


def test_each_active_lesson_is_one_line_in_order_of_path(store, put, written):
    put("nodes/b.md", "---\ntags: [x, y]\n---\n# Bee\n\nFirst sentence. Second.\n")
    put("docs/a.md", "# Ay\n")
    put("nodes/old.md", "---\nstatus: archived\n---\n# Old\n")
    written("nodes", "docs")
    assert files.read_text(store.index) == (
        "docs/a.md - Ay\nnodes/b.md - Bee: First sentence. [x, y]\n"
    )


@pytest.mark.parametrize(
    "raw",
    [
        b"# a\x0bb\x1b[0m\xe2\x80\xa8c\n",
        b"\xff\xfe#\0 \0a\0\n\0",
        b"---\ntitle: |\n  a\n  b\n---\n",
    ],
)
def test_no_content_breaks_the_line(store, put, written, raw):
    put("nodes/a.md", raw)
    written()
    assert len(files.read_text(store.index).splitlines()) == 1


def test_an_unchanged_index_is_not_written(store, put, written):
    put("nodes/a.md", "# A\n")
    assert written() is None
    before = files.stat_stamp(store.index)
    assert written() is None
    assert files.stat_stamp(store.index) == before
    put("nodes/b.md", "# B\n")
    written()
    assert files.stat_stamp(store.index) != before


def test_an_empty_store_has_an_empty_index(store, written):
    written()
    assert files.read_text(store.index) == ""


def test_an_index_that_cannot_be_written_is_a_value(store, put, written):
    put("nodes/a.md", "# A\n")
    os.mkdir(store.index)
    found = written()
    assert found is not None
    assert found.rule == "index-unwritable"
    assert [name for name in os.listdir(store.dot) if name.endswith(".tmp")] == []
