"""The undo note: each file as it was before a reflection and is after, whatever came between."""

from __future__ import annotations

import os

import pytest

from rose import files
from rose.reflection import notes
from tests import factories
from tests.reflection import several

ID = "r_0000aa"
TEXTS = {"one": notes.digest("one"), "two": notes.digest("two")}


@pytest.fixture
def store(tmp_path):
    return factories.a_store(tmp_path)


def put(store, text: str | None, name: str = ID) -> None:
    path = os.path.join(store.routing, f"{name}.md")
    if text is None:
        files.delete(path)
    else:
        files.replace(path, text)


def a_pass(store, *texts: str | None, lessons=()) -> notes.Note:
    """Let a reflection write the texts one after the other, and return its note."""
    note = notes.Note(several.NAME, several.SESSION, "claude-code", 1, several.AT, {})
    begun = notes.begin(store, note, [ID], lessons)
    for text in texts:
        put(store, text)
    return notes.finish(store, begun)


def test_a_note_holds_the_text_before_and_the_digest_after(store):
    put(store, "one")
    note = a_pass(store, "two")
    assert note.rules == {ID: notes.Change("one", TEXTS["two"])}
    assert notes.read(store, several.NAME) == note


def test_what_did_not_change_drops_out(store):
    put(store, "one")
    assert a_pass(store).rules == {}


def test_a_second_reflection_keeps_the_text_before_the_first(store):
    put(store, "zero")
    a_pass(store, "one")
    note = a_pass(store, "two")
    assert note.rules == {ID: notes.Change("zero", TEXTS["two"], TEXTS["one"])}
    assert note.rules[ID].digest_before() == TEXTS["one"]
    assert notes.read(store, several.NAME) == note


def test_what_a_person_wrote_between_two_reflections_is_what_undo_leads_to(store):
    put(store, "zero")
    a_pass(store, "one")
    put(store, "a person's")
    note = a_pass(store, "two")
    assert note.rules == {ID: notes.Change("a person's", TEXTS["two"])}


def test_a_reflection_that_was_killed_leaves_the_text_before_it(store):
    put(store, "zero")
    note = notes.Note(several.NAME, several.SESSION, "claude-code", 1, several.AT, {})
    notes.begin(store, note, [ID])
    put(store, "half-way")
    assert notes.read(store, several.NAME).rules == {ID: notes.Change("zero", None)}
    assert a_pass(store, "two").rules == {ID: notes.Change("zero", TEXTS["two"])}


def test_lessons_are_kept_beside_the_rules_and_only_where_there_are_some(store):
    a_pass(store, "one")
    path = notes.path_of(store, several.NAME)
    assert "lessons" not in files.parse_json(files.read_text(path))
    factories.a_lesson_file(store, "nodes/old.md", "old")
    note = notes.Note(several.NAME, several.SESSION, "claude-code", 1, several.AT, {})
    begun = notes.begin(store, note, [], ["nodes/old.md", "nodes/new.md"])
    factories.a_lesson_file(store, "nodes/new.md", "new")
    finished = notes.finish(store, begun)
    assert finished.lessons == {"nodes/new.md": notes.Change(None, notes.digest("new"))}
    assert finished.rules == {ID: notes.Change(None, TEXTS["one"])}
    assert notes.read(store, several.NAME) == finished


def test_a_change_that_is_no_persons_is_followed_by_the_note_whose_text_stood_there(store):
    a_pass(store, "one")
    path = os.path.join(store.routing, f"{ID}.md")
    with files.lock(store.lock):
        notes.follow(store, {path: (TEXTS["two"], "x")})
        assert notes.read(store, several.NAME).rules[ID].after == TEXTS["one"]
        notes.follow(store, {path: (TEXTS["one"], TEXTS["two"])})
    assert notes.read(store, several.NAME).rules[ID].after == TEXTS["two"]


def test_a_note_that_was_written_anew_meanwhile_is_kept(store):
    old = a_pass(store, "one")
    new = a_pass(store, "two")
    with files.lock(store.lock):
        notes.forget(store, old)
        assert notes.read(store, several.NAME) == new
        notes.forget(store, new)
    assert notes.notes(store) == []


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("rules", "../../secret"),
        ("rules", "r_0000aa/../x"),
        ("lessons", "/etc/hosts.md"),
        ("lessons", "nodes/../../x.md"),
        ("lessons", ".git/hooks/pre-commit"),
    ],
)
def test_a_note_names_no_file_that_no_reflection_writes(store, kind, name):
    head = {"v": 1, "session": "s", "host": "h", "n": 1, "at": "x", "rules": {}}
    rows = {name: {"before": "forged", "after": ""}}
    files.replace(notes.path_of(store, "x"), files.dump_json({**head, kind: rows}))
    assert notes.read(store, "x").places(store) == []
