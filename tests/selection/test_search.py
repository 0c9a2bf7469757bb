"""Search and evidence as the library gives them, whatever happens to the files meanwhile."""

from __future__ import annotations

import contextlib
import os

import pytest

from rose.errors import RoseError
from rose.selection import index, search
from rose.store import lessons
from tests.factories import a_lesson_file, a_store


@pytest.fixture
def store(tmp_path):
    made = a_store(tmp_path)
    a_lesson_file(made, "nodes/one.md", "# One\n\nalpha beta\n")
    a_lesson_file(made, "nodes/two.md", "# Two\n\nalpha and more words than the other\n")
    return made


def test_a_lesson_that_went_away_is_reported_and_the_others_are_found(store):
    holding = lessons.hold(store)
    index.open_index([holding]).close()
    os.unlink(os.path.join(store.base, "nodes/one.md"))
    found = search.search([holding], "alpha")
    assert [row.node for row in found.rows] == ["two"]
    [finding] = found.findings
    assert (finding.rule, finding.where) == ("lesson-unreadable", "nodes/one.md")
    with pytest.raises(RoseError, match=r"nodes/one\.md cannot be read"):
        search.evidence([holding], "one", "alpha")


def test_a_lesson_that_was_edited_since_shows_the_version_that_its_window_is_from(store):
    holding = lessons.hold(store)
    a_lesson_file(store, "nodes/one.md", "# One\n\nomega then alpha\n")
    [row, _] = search.search([holding], "alpha").rows
    assert row.window.text == "# One omega then alpha"
    now = {lesson.id: lesson.version for lesson in lessons.hold(store).shelf.lessons}
    assert row.version == now["one"] == search.evidence([holding], "one", "alpha").version


def test_a_lesson_that_another_process_indexed_is_left_out(store):
    before = lessons.hold(store)
    with contextlib.closing(index.open_index([before])) as opened:
        a_lesson_file(store, "nodes/new.md", "# New\n\nalpha alpha\n")
        index.open_index([lessons.hold(store)]).close()
        assert "new" in dict(opened.hits(["alpha"], 5))
    assert [row.node for row in search.search([before], "alpha").rows] == ["one", "two"]


def test_a_query_is_read_by_the_tokenizer_and_each_word_counts_once(store):
    found = search.search([lessons.hold(store)], "The ALPHA of alpha, maxTokens")
    assert found.terms == ("alpha", "maxtokens", "max", "tokens")
    once = search.search([lessons.hold(store)], "alpha")
    assert [row.score for row in found.rows] == [row.score for row in once.rows]


HEADER = "---\norigin: manual\ndescription: The okapi.\nnote: alpha alpha\n---\n"


@pytest.mark.parametrize("header", [HEADER, HEADER.replace("note: ", "note: ["), "\ufeff" + HEADER])
def test_a_window_is_one_of_the_body_and_its_offsets_are_those_of_the_file(store, header):
    body = "# Three\n\nbeta first, then alpha\n\nalpha again\n"
    a_lesson_file(store, "nodes/three.md", header + body)
    holdings = [lessons.hold(store)]
    row = next(
        row for row in search.search(holdings, "alpha", chars=12).rows if row.node == "three"
    )
    found = search.evidence(holdings, "three", "alpha", chars=12)
    assert row.window == found.windows[0]
    assert [one.text for one in found.windows] == ["then alpha", "alpha again"]
    spans = [(header + body)[one.start : one.end] for one in found.windows]
    assert spans == ["then alpha", "alpha again"]
    first = header.count("\n") + 1
    assert found.lines == (first + 2, first + 4)


def test_a_lesson_found_by_its_header_alone_shows_the_head_of_its_body(store):
    a_lesson_file(store, "nodes/three.md", HEADER + "# Three\n\nbeta\n")
    holdings = [lessons.hold(store)]
    [row] = search.search(holdings, "okapi").rows
    assert (row.window.start, row.window.text) == (len(HEADER), "# Three beta")
    assert search.evidence(holdings, "three", "okapi").windows == ()


def test_a_lesson_that_is_a_header_alone_shows_nothing(store):
    a_lesson_file(store, "nodes/three.md", HEADER)
    [row] = search.search([lessons.hold(store)], "okapi").rows
    assert row.window.text == ""


def test_hidden_characters_and_secrets_are_shown_by_no_look_up(store):
    key = "AKIA" + "IOSFODNN7" + "QWERTYU"
    text = f"# T\u202ehree {key}\n\nomega\u200b of {key}\n"
    a_lesson_file(store, "nodes/three.md", text)
    holdings = [lessons.hold(store)]
    [row] = search.search(holdings, "omega").rows
    [window] = search.evidence(holdings, "three", "omega").windows
    assert row.title == "Three [redacted:aws-key]"
    assert row.window.text == "# Three [redacted:aws-key] omega of [redacted:aws-key]"
    assert window.text == row.window.text
    assert (window.start, window.end) == (0, len(text) - 1)


# Opening a lesson: whole, or some of its lines, and nothing that is not the store's.

TEXT = "# Database\n\nThe tests need port 5432.\n\nAsk nobody."


@pytest.fixture
def shelf(tmp_path):
    made = a_store(tmp_path)
    a_lesson_file(made, "nodes/testing/db.md", TEXT)
    return made


def opened(shelf, ref, first=1, last=None):
    return search.opening([lessons.hold(shelf)], ref, first, last)


def test_a_lesson_is_shown_whole_as_its_file_stands(shelf):
    found = opened(shelf, "db")
    assert found.text == TEXT
    assert (found.node, found.path) == ("testing/db", "nodes/testing/db.md")
    assert (found.first, found.last, found.of) == (1, 5, 5)
    assert (found.window.start, found.window.end) == (0, len(TEXT))
    [lesson] = lessons.hold(shelf).shelf.lessons
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
def test_a_range_of_lines_is_those_lines(shelf, first, last, text):
    found = opened(shelf, "db", first, last)
    assert found.text == text
    assert TEXT[found.window.start : found.window.end] == text
    assert found.last == min(last or 5, 5)


def test_lines_beyond_the_last_are_refused(shelf):
    with pytest.raises(RoseError, match=r"testing/db has 5 lines\."):
        opened(shelf, "db", 6)


def test_one_call_shows_whole_lines_up_to_its_limit_and_the_next_one_goes_on(shelf):
    lines = [f"line {number} " + "x" * 90 + "\n" for number in range(900)]
    a_lesson_file(shelf, "nodes/long.md", "".join(lines))
    shown, first = "", 1
    while first <= len(lines):
        found = opened(shelf, "long", first)
        assert len(found.text) <= search.MOST_CHARS
        assert found.last >= first
        shown, first = shown + found.text, found.last + 1
    assert shown == "".join(lines)


def test_a_line_longer_than_the_limit_is_cut(shelf):
    a_lesson_file(shelf, "nodes/long.md", "y" * (search.MOST_CHARS + 9) + "\nend\n")
    found = opened(shelf, "long")
    assert (found.text, found.last, found.of) == ("y" * search.MOST_CHARS, 1, 2)


def test_an_archived_lesson_is_refused_with_its_status(shelf):
    a_lesson_file(shelf, "nodes/old.md", "---\nstatus: archived\n---\nOld.\n")
    with pytest.raises(RoseError, match="old is archived"):
        opened(shelf, "old")


@pytest.mark.parametrize("ref", ["/etc/passwd", "../secret", "nodes/../../secret.md", "", "~"])
def test_what_is_no_lesson_of_the_store_is_not_read(shelf, ref):
    a_lesson_file(shelf, "../secret.md", "Not yours.\n")
    with pytest.raises(RoseError, match="No lesson"):
        opened(shelf, ref)


def test_a_lesson_that_became_a_link_out_of_the_store_is_not_followed(shelf):
    holding = lessons.hold(shelf)
    outside = a_lesson_file(shelf, "../secret.md", "Not yours.\n")
    path = os.path.join(shelf.base, "nodes/testing/db.md")
    os.unlink(path)
    os.symlink(outside, path)
    with pytest.raises(RoseError, match="it is no file of this store"):
        search.opening([holding], "db")


def test_a_pipe_in_a_lessons_place_is_not_waited_for(shelf):
    holding = lessons.hold(shelf)
    path = os.path.join(shelf.base, "nodes/testing/db.md")
    os.unlink(path)
    os.mkfifo(path)
    with pytest.raises(RoseError, match="it is no file of this store"):
        search.opening([holding], "db")
