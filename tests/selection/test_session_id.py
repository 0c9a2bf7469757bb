"""The one name by which traces and rejections know a session."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rose import redact
from rose import text as texts
from rose.selection import rejection_page, rejections, session_id, sticky, trace
from rose.selection.rejections import Rejection
from tests.factories import a_lesson_file, a_store
from tests.selection import seen

TOKEN = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
OTHER = "ghp_" + "27D8f53A303d7023F8821d949458Bf289C5b"


@pytest.mark.parametrize("odd", ["a\nb", "a  b", " a b", "a\u200b b", "a\tb\x1b[0m"])
def test_an_id_is_one_line_of_what_can_be_seen(odd):
    assert session_id.kept(odd) == "a b"


def test_two_ids_that_look_like_secrets_stay_two_and_show_nothing_of_them():
    one, other = session_id.kept(TOKEN), session_id.kept(OTHER)
    assert one.startswith("[redacted:")
    assert one != other
    assert not any(part in one for part in (TOKEN, TOKEN[4:12]))


def test_two_long_ids_stay_two_however_alike_they_begin():
    one, other = (session_id.kept("x" * 5_000 + end) for end in "ab")
    assert one != other
    assert max(len(one), len(other)) <= session_id.MOST_CHARS


@settings(max_examples=500)
@given(
    st.lists(
        st.one_of(st.text(max_size=40), st.sampled_from([TOKEN, OTHER, "password=", "x" * 290])),
        max_size=6,
    )
)
def test_what_is_kept_is_kept_as_it_is_and_holds_no_secret(parts):
    kept = session_id.kept("".join(parts))
    assert session_id.kept(kept) == kept == texts.clean_line(kept)
    assert len(kept) <= session_id.MOST_CHARS
    assert not redact.holds_secret(kept)


@pytest.mark.parametrize("session", ["a\nb", "a  b", "s\u200bx", TOKEN, f"my {TOKEN}", "y" * 900])
def test_what_a_session_saw_and_turned_down_are_known_by_one_name(tmp_path, session):
    store = a_store(tmp_path)
    a_lesson_file(store, "nodes/db.md", "# Database\n\nThe tests need port 5432.\n")
    name = seen.searched(store, "database port", session=session)
    [row] = trace.in_session(store, session)
    rejection_page.add(store, Rejection(session, "db", "database port", trace=name))
    [kept] = rejection_page.of_session(store, session).rows
    assert row["session"] == kept.session == session_id.kept(session)
    said = sticky.standing(seen.holdings(store), session, "database port", ())
    assert said == {"db": f"by this session, search {name}"}
    assert trace.in_session(store, kept.session) == [row]


def test_of_two_sessions_with_secrets_for_names_each_has_its_own(tmp_path):
    store = a_store(tmp_path)
    a_lesson_file(store, "nodes/db.md", "# Database\n\nThe tests need port 5432.\n")
    name = seen.searched(store, "database port", session=TOKEN)
    rejection_page.add(store, Rejection(TOKEN, "db", "database port", trace=name))
    assert trace.in_session(store, OTHER) == []
    assert rejection_page.of_session(store, OTHER).rows == ()
    assert sticky.standing(seen.holdings(store), OTHER, "database port", ()) == {}


def test_a_page_may_name_its_session_as_a_person_typed_it():
    [row] = rejections.parse("---\nsession: 'a  b '\n---\n## n\n- query: q\n", "p").rows
    assert row.session == "a b"
