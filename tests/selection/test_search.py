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
