"""Undo: the rules as they were, unless a person changed them since; the credit is taken back."""

from __future__ import annotations

import os
import shutil

import pytest

from rose import files
from rose.errors import RoseError
from rose.reflection import undo
from rose.routing import ledger, table
from tests.hosts import making
from tests.reflection.scene import DB, DB_LINE, bash, read, session_id


def learn(scene):
    scene.reflect(scene.capture("work-1"))
    return scene.reflect(scene.capture("work-2"))


def widen(scene):
    """Reflect on a third session, which widens the rule, and return its id."""
    rows = [making.user("Check the billing suite", 0), *read(f"nodes/{DB}.md", DB_LINE, 1, 1)]
    rows += bash("APP_DB_URL=sqlite:///tmp/app.db pytest", "ok", 1, 2)
    scene.reflect(scene.session(1, *rows))
    return session_id(1)


def rule_files(scene):
    return {
        name: files.read_bytes(os.path.join(scene.store.routing, name))
        for name in sorted(os.listdir(scene.store.routing))
    }


def sessions(scene):
    return [case.session for case in ledger.read(scene.store).cases]


def test_the_last_reflection_is_taken_back(scene):
    first = scene.reflect(scene.capture("work-1"))
    second = scene.reflect(scene.capture("work-2"))
    undone = undo.take_back(scene.stores)
    assert (undone.session, undone.n) == (second.facts.session, 2)
    assert undone.deleted == second.learned
    assert (undone.restored, undone.left) == ((), ())
    assert rule_files(scene) == {}
    assert sessions(scene) == [first.facts.session]
    assert ledger.read(scene.store).undone == {second.facts.session}


def test_a_widened_rule_gets_its_bytes_back(scene):
    rule = learn(scene).learned[0]
    before = rule_files(scene)
    widen(scene)
    assert rule_files(scene) != before
    assert undo.take_back(scene.stores).restored == (rule,)
    assert rule_files(scene) == before


def test_a_named_reflection_is_taken_back(scene):
    first = scene.reflect(scene.capture("work-1"))
    scene.reflect(scene.capture("work-docs"))
    assert undo.take_back(scene.stores, first.facts.session).n == 1
    assert len(sessions(scene)) == 1


def test_what_a_person_edited_since_is_left_and_named(scene):
    rule = learn(scene).learned[0]
    table.update(scene.store, rule, {"then": f"skim nodes/{DB}.md"}, ("nodes",))
    before = rule_files(scene)
    undone = undo.take_back(scene.stores)
    assert undone.left == ((rule, "it was edited since"),)
    assert rule_files(scene) == before
    assert len(sessions(scene)) == 1


def test_what_a_person_deleted_since_stays_deleted(scene):
    learn(scene)
    session = widen(scene)
    table.delete(scene.store, scene.rules()[0].id)
    undone = undo.take_back(scene.stores, session)
    assert (len(undone.gone), undone.deleted, undone.left) == (1, (), ())
    assert rule_files(scene) == {}


def test_an_earlier_reflection_under_a_later_one_is_left(scene):
    outcome = learn(scene)
    widen(scene)
    undone = undo.take_back(scene.stores, outcome.facts.session)
    assert undone.left == ((outcome.learned[0], "it was edited since"),)


def test_one_after_the_other_all_can_be_taken_back(scene):
    learn(scene)
    widen(scene)
    taken = [undo.take_back(scene.stores).n for _ in range(3)]
    assert taken == [3, 2, 1]
    assert (rule_files(scene), sessions(scene)) == ({}, [])


def test_where_nothing_was_learned_there_is_a_sentence(scene):
    with pytest.raises(RoseError, match="no reflection to take back"):
        undo.take_back(scene.stores)
    scene.reflect(scene.capture("work-1"))
    with pytest.raises(RoseError, match="No reflected session 'xyz'"):
        undo.take_back(scene.stores, "xyz")


def test_without_a_name_the_last_session_that_changed_a_rule_is_taken_back(scene):
    changed = learn(scene)
    later = scene.reflect(scene.capture("work-docs"))
    assert later.n == 3
    assert undo.take_back(scene.stores).session == changed.facts.session
    assert undo.take_back(scene.stores).session == later.facts.session


def test_the_log_of_reflections_says_what_was_taken_back_and_what_was_left(scene):
    rule = learn(scene).learned[0]
    table.update(scene.store, rule, {"then": f"skim nodes/{DB}.md"}, ("nodes",))
    undone = undo.take_back(scene.stores, at="2026-11-30T13:00:00Z")
    lines = [line for _, line in files.read_jsonl(scene.store.trace)]
    said = {"at": "2026-11-30T13:00:00Z", "session": undone.session, "n": 2, "left": [rule]}
    assert lines[-1] == {"v": 1, "undone": True, **said}


def test_a_log_that_cannot_be_written_stops_no_undo(scene):
    rule = learn(scene).learned[0]
    folder = os.path.dirname(scene.store.trace)
    shutil.rmtree(folder)
    files.replace(folder, "no folder")
    assert undo.take_back(scene.stores).deleted == (rule,)


def test_what_was_taken_back_can_be_learned_again(scene):
    learn(scene)
    undo.take_back(scene.stores)
    outcome = scene.reflect(scene.capture("work-2"))
    assert outcome.state == "reflected"
    assert len(rule_files(scene)) == 1
    assert len(sessions(scene)) == 2


def test_a_run_that_was_killed_before_its_ledger_line_can_be_taken_back(scene):
    rule = learn(scene).learned[0]
    folder = scene.store.ledger("local")
    for name in os.listdir(folder):
        files.replace(os.path.join(folder, name), "")
    assert undo.take_back(scene.stores).deleted == (rule,)
    assert rule_files(scene) == {}


def test_an_undo_that_was_killed_half_way_goes_on(scene):
    rule = learn(scene).learned[0]
    table.delete(scene.store, rule)
    undone = undo.take_back(scene.stores)
    assert (undone.deleted, undone.gone, undone.left) == ((), (rule,), ())


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"v":1}', '{"v":1,"session":"s","host":"h","n":1,"at":"x","rules":3}']
)
def test_a_note_that_cannot_be_read_is_passed_over(scene, text):
    files.replace(os.path.join(scene.store.undo, "x.json"), text)
    assert undo.notes(scene.store) == []
