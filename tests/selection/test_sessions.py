"""Which session an id or the beginning of one means."""

from __future__ import annotations

import pytest

from rose.errors import RoseError
from rose.selection import rejection_page, sessions
from rose.selection.rejections import Rejection
from tests.factories import a_lesson_file, a_store
from tests.selection import seen


@pytest.fixture
def store(tmp_path):
    made = a_store(tmp_path)
    a_lesson_file(made, "nodes/testing/db.md", "# Database\n\nThe tests need port 5432.\n")
    for name in ("abc12345", "abc", "abd"):
        seen.searched(made, session=name)
    rejection_page.add(made, Rejection("turned-1", "testing/db", "q"))
    return made


@pytest.mark.parametrize(
    ("ref", "meant"),
    [("abc1", "abc12345"), ("abc", "abc"), ("turned", "turned-1"), ("turned-1\u200b", "turned-1")],
)
def test_a_beginning_means_the_one_session_that_left_anything(store, ref, meant):
    assert sessions.resolve([store], ref) == meant
    assert sessions.of_new([store], ref) == meant


def test_an_ambiguous_beginning_is_refused_and_an_unknown_one_is_no_session(store):
    for resolve in (sessions.resolve, sessions.of_new):
        with pytest.raises(RoseError, match="several sessions: abc, abc12345, abd"):
            resolve([store], "ab")
    for unknown in ("a", "12345", "zebra"):
        with pytest.raises(RoseError, match="No session"):
            sessions.resolve([store], unknown)
        assert sessions.of_new([store], unknown) == unknown
