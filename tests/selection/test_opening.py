"""Opening a lesson: whole, or some of its lines, and nothing that is not the store's."""

from __future__ import annotations

import os

import pytest

from rose.errors import RoseError
from rose.selection import opening
from rose.store import lessons
from tests.factories import a_lesson_file, a_store

TEXT = "# Database\n\nThe tests need port 5432.\n\nAsk nobody."


@pytest.fixture
def store(tmp_path):
    made = a_store(tmp_path)
    a_lesson_file(made, "nodes/testing/db.md", TEXT)
    return made


def read(store, ref, first=1, last=None):
    return opening.read([lessons.hold(store)], ref, first, last)


def test_a_lesson_is_shown_whole_as_its_file_stands(store):
    found = read(store, "db")
    assert found.text == TEXT
    assert (found.node, found.path) == ("testing/db", "nodes/testing/db.md")
    assert (found.first, found.last, found.of) == (1, 5, 5)
    assert (found.window.start, found.window.end) == (0, len(TEXT))
    [lesson] = lessons.hold(store).shelf.lessons
    assert found.version == lesson.version


@pytest.mark.parametrize(
    ("first", "last", "text"),
    [
        (3, 3, "The tests need port 5432.\n"),
        (4, 99, "\nAsk nobody."),
        (1, 2, "# Database\n\n"),
        (5, None, "Ask nobody."),
    ],
)
def test_a_range_of_lines_is_those_lines(store, first, last, text):
    found = read(store, "db", first, last)
    assert found.text == text
    assert TEXT[found.window.start : found.window.end] == text
    assert found.last == min(last or 5, 5)


def test_lines_beyond_the_last_are_refused(store):
    with pytest.raises(RoseError, match=r"testing/db has 5 lines\."):
        read(store, "db", 6)


def test_one_call_shows_whole_lines_up_to_its_limit_and_the_next_one_goes_on(store):
    lines = [f"line {number} " + "x" * 90 + "\n" for number in range(900)]
    a_lesson_file(store, "nodes/long.md", "".join(lines))
    shown, first = "", 1
    while first <= len(lines):
        found = read(store, "long", first)
        assert len(found.text) <= opening.MOST_CHARS
        assert found.last >= first
        shown, first = shown + found.text, found.last + 1
    assert shown == "".join(lines)


def test_a_line_longer_than_the_limit_is_cut(store):
    a_lesson_file(store, "nodes/long.md", "y" * (opening.MOST_CHARS + 9) + "\nend\n")
    found = read(store, "long")
    assert (found.text, found.last, found.of) == ("y" * opening.MOST_CHARS, 1, 2)


def test_an_archived_lesson_is_refused_with_its_status(store):
    a_lesson_file(store, "nodes/old.md", "---\nstatus: archived\n---\nOld.\n")
    with pytest.raises(RoseError, match="old is archived"):
        read(store, "old")


@pytest.mark.parametrize("ref", ["/etc/passwd", "../secret", "nodes/../../secret.md", "", "~"])
def test_what_is_no_lesson_of_the_store_is_not_read(store, ref):
    a_lesson_file(store, "../secret.md", "Not yours.\n")
    with pytest.raises(RoseError, match="No lesson"):
        read(store, ref)


def test_a_lesson_that_became_a_link_out_of_the_store_is_not_followed(store):
    holding = lessons.hold(store)
    outside = a_lesson_file(store, "../secret.md", "Not yours.\n")
    path = os.path.join(store.base, "nodes/testing/db.md")
    os.unlink(path)
    os.symlink(outside, path)
    with pytest.raises(RoseError, match="it is no file of this store"):
        opening.read([holding], "db")


def test_a_pipe_in_a_lessons_place_is_not_waited_for(store):
    holding = lessons.hold(store)
    path = os.path.join(store.base, "nodes/testing/db.md")
    os.unlink(path)
    os.mkfifo(path)
    with pytest.raises(RoseError, match="it is no file of this store"):
        opening.read([holding], "db")
