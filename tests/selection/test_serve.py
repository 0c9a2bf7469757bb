"""Recall for a session: presence from its note, and one document of two blocks."""

from __future__ import annotations

import json
import os

import pytest

from rose import files, session
from rose.errors import RoseError
from rose.routing import layer
from rose.selection import pack, pipeline, reject, rejection_page, requests, serve, trace
from rose.selection.requests import Shown
from rose.store import lessons
from tests.factories import a_lesson_file, a_store
from tests.selection import seen

KEY = "AKIA" + "IOSFODNN7" + "QWERTYU"


@pytest.fixture
def store(tmp_path):
    made = a_store(tmp_path)
    a_lesson_file(made, "nodes/db.md", "# Database\n\nThe tests need port 5432.\n")
    files.replace(made.config, "recall:\n  serve: bodies\n")
    return made


def given(store, held=None, beside="", prompt="the database", told=()):
    named = {"session_id": "s1", "held": held or {}, "beside": beside, "at": "now"}
    return serve.serve([lessons.hold(store)], prompt, told=told, **named)


def notes(path):
    return session.read(path)


def test_what_was_served_is_fresh_until_a_reset_and_each_agent_has_its_own(store, tmp_path):
    path = str(tmp_path / "note.jsonl")
    served = given(store)
    served.write(store, path, "UserPromptSubmit", None)
    version = served.record.admitted[0]["version"]
    assert serve.shown(notes(path), None) == {"db": Shown(version, is_fresh=True)}
    assert serve.shown(notes(path), "a1") == {}
    files.append_line(path, session.reset_line("compact", "a1"))
    assert serve.shown(notes(path), None)["db"].is_fresh
    files.append_line(path, session.reset_line("compact"))
    assert not serve.shown(notes(path), None)["db"].is_fresh
    given(store, serve.shown(notes(path), None)).write(store, path, "UserPromptSubmit", None)
    assert serve.shown(notes(path), None)["db"].is_fresh


def test_a_note_of_the_layer_says_nothing_of_lessons(tmp_path):
    path = str(tmp_path / "note.jsonl")
    sent = {"digest": "d" * 16, "revision": "r", "rules": ["r_0000aa"]}
    files.append_line(path, session.sent_line("UserPromptSubmit", None, sent))
    assert serve.shown(notes(path), None) == {}
    assert not session.is_due(notes(path), None, sent)


def test_a_note_of_lessons_leaves_the_layer_as_due_as_it_was(store, tmp_path):
    path = str(tmp_path / "note.jsonl")
    sent = {"digest": "d" * 16, "revision": "r", "rules": []}
    given(store).write(store, path, "UserPromptSubmit", None)
    assert session.is_due(notes(path), None, sent)
    files.append_line(path, session.sent_line("UserPromptSubmit", None, sent))
    given(store).write(store, path, "UserPromptSubmit", None)
    assert not session.is_due(notes(path), None, sent)


def test_nothing_served_leaves_a_record_and_nothing_that_the_session_holds(store, tmp_path):
    path = str(tmp_path / "note.jsonl")
    served = given(store, prompt="zebra")
    served.write(store, path, "UserPromptSubmit", None)
    assert (served.encoded, serve.shown(notes(path), None)) == ("", {})
    assert [row["failure"] for row in trace.latest(store, 5)] == ["nothing-eligible"]


def test_the_person_is_told_of_each_kind_of_nothing_once_a_session(store, tmp_path):
    path = str(tmp_path / "note.jsonl")
    first = given(store, prompt="zebra")
    assert first.notice == (
        f"rose: nothing is served: of 1 lesson none is about that; `rose trace {first.record.id}`"
    )
    first.write(store, path, "UserPromptSubmit", None)
    assert serve.kinds_told(notes(path)) == {"not-found"}
    again = given(store, prompt="a giraffe", told=serve.kinds_told(notes(path)))
    assert again.notice == ""
    files.replace(store.config, "recall:\n  serve: bodies\n  max_tokens: 9\n")
    fell = given(store, told=serve.kinds_told(notes(path)))
    assert "all that was selected fell: found 1, selected 1, admitted 0" in fell.notice
    fell.write(store, path, "UserPromptSubmit", None)
    assert serve.kinds_told(notes(path)) == {"not-found", "excluded"}


@pytest.mark.parametrize("prompt", ["the database", "the of"])
def test_what_is_served_or_asks_for_nothing_is_no_matter_for_a_notice(store, tmp_path, prompt):
    path = str(tmp_path / "note.jsonl")
    served = given(store, prompt=prompt)
    served.write(store, path, "UserPromptSubmit", None)
    assert served.notice == ""
    assert serve.kinds_told(notes(path)) == set()
    held = given(store, serve.shown(notes(path), None), prompt=prompt)
    assert (held.encoded, held.notice) == ("", "")


def test_what_the_session_turned_down_is_left_out_and_said(store):
    seen.searched(store, "the database")
    done = {"query": "the database", "why": "no", "session": "s1", "at": seen.AT}
    reject.reject([lessons.hold(store)], "db", **done)
    served = given(store)
    assert served.encoded == ""
    assert served.record.excluded[0]["reason"] == "rejected-earlier"
    assert "1 rejected-earlier" in served.notice


def test_what_may_have_been_turned_down_unread_is_told_once_a_session(store, tmp_path):
    page = rejection_page.path_of(store, "s1")
    os.makedirs(os.path.dirname(page))
    with open(page, "wb") as file:
        file.write("- why: caf\xe9\n".encode("latin-1"))
    served, note = given(store), f"{tmp_path}/note.jsonl"
    assert served.encoded
    assert served.notice.startswith("rose: degraded, not all that this session turned down")
    served.write(store, note, "UserPromptSubmit", None)
    assert given(store, told=serve.kinds_told(notes(note))).notice == ""


class Failing:
    def pick(self, *_: object):
        raise RoseError("there is no index")


def test_a_failure_is_told_each_time_with_its_reason_and_without_secrets(store):
    request = requests.Request("database", pack.Budget(400))
    held = [lessons.hold(store)]
    record = pipeline.recall(request, held, at="now", selector=Failing()).record
    said = serve.notice_of(record, f"no index for {KEY}", ["failed", "not-found"])
    assert said.startswith("rose: degraded, the search failed: found 0, selected 0, admitted 0")
    assert said.endswith("no index for [redacted:aws-key]")


@pytest.mark.parametrize(
    ("first", "prompt", "both"),
    [('"layer"', "database", True), ("", "database", False), ('"layer"', "zebra", False)],
)
def test_two_blocks_are_one_literal_the_first_one_first(store, first, prompt, both):
    served = given(store, prompt=prompt)
    text = json.loads(served.beside(first) or '""')
    parts = [json.loads(first or '""'), served.record.text]
    assert text == pack.JOIN.join(filter(None, parts))
    assert (pack.JOIN in text) is both


@pytest.mark.parametrize("letter", ["x", "\u4e16"])
@pytest.mark.parametrize("taken", [0, 4_000, 9_000, 9_400])
def test_both_blocks_together_stay_below_what_hosts_cut(store, letter, taken):
    body = "# Database\n\n" + f"database {letter * 60}\n" * 200
    a_lesson_file(store, "nodes/db.md", body)
    files.replace(store.config, "recall:\n  serve: bodies\n  max_tokens: 100000\n")
    beside = letter * (taken // len(letter.encode()))
    served = given(store, beside=beside)
    whole = json.loads(served.beside(json.dumps(beside) if beside else ""))
    assert len(whole.encode()) <= layer.MAX_BYTES
    if len(json.dumps(beside)) <= layer.MAX_ENCODED:
        assert len(json.dumps(whole)) <= layer.MAX_ENCODED
    assert whole.startswith(beside)


def test_the_settings_say_how_much_and_in_which_form(store):
    files.replace(store.config, "recall:\n  serve: pointers\n  max_tokens: 90\n")
    record = given(store).record
    assert (record.budget["tokens"], record.budget["serving"]) == (90, "pointers")
    assert [one["form"] for one in record.admitted] == ["pointer"]
    files.replace(store.config, "recall:\n  serve: pointers\n  max_tokens: 9\n")
    assert given(store).record.excluded[0]["reason"] == "over-budget"
