"""The learned selector over a store on disk: its record, its lessons as they are, its rules."""

from __future__ import annotations

import os

import pytest

from rose.routing import ledger
from rose.routing.rules import Rule
from rose.selection import learned
from rose.selection.terms import terms
from rose.store import lessons
from tests.factories import a_ledger_line, a_lesson_file, a_rule_file, a_store
from tests.selection.plain import ByWords

PROMPT = "another production outage"


@pytest.fixture
def store(tmp_path):
    made = a_store(tmp_path)
    a_lesson_file(made, "nodes/deploy/rollback.md", "# Roll back\n\nRestore the image.\n")
    a_lesson_file(made, "nodes/docs/links.md", "# Links\n\nCheck anchors.\n")
    a_lesson_file(made, "nodes/testing/db.md", "# Database\n\nStart postgres.\n")
    return made


def a_session(store, n, task="production outage", used=("deploy/rollback",), **fields):
    line = {"session": f"s{n}", "rows": 1, "task": task, "used": list(used), **fields}
    a_ledger_line(store, lambda _n: line)


def pick(store, prompt=PROMPT, scope=(), k=5):
    return learned.Learned().pick(prompt, [lessons.hold(store)], scope, k)


def ids(store, prompt=PROMPT, **given):
    return [one.lesson.id for one in pick(store, prompt, **given)]


def test_without_a_record_it_agrees_with_the_plain_selector(store):
    holdings = [lessons.hold(store)]
    for prompt in ("the image of the database", "links", "nothing such", ""):
        plain = [one.lesson.id for one in ByWords().pick(prompt, holdings, (), 5)]
        assert ids(store, prompt) == plain


def test_the_record_leads_where_no_word_does(store):
    assert ids(store) == []
    a_session(store, 1)
    a_session(store, 2)
    found = pick(store)
    assert found[0].lesson.id == "deploy/rollback"
    assert found[0].is_worth
    assert {"tasks", "ties", "votes"} <= set(found[0].why)


def test_deleting_what_was_derived_changes_no_result(store):
    for n in range(1, 5):
        a_session(store, n)
        pick(store)
    kept = pick(store)
    assert os.path.exists(store.selection_cache)
    os.unlink(store.selection_cache)
    assert pick(store) == kept
    a_lesson_file(store, "nodes/docs/more.md", "# More\n\nAn outage of the docs.\n")
    changed = pick(store)
    os.unlink(store.selection_cache)
    assert pick(store) == changed


def test_a_session_that_was_taken_back_teaches_nothing(store):
    a_session(store, 1)
    assert ids(store) == ["deploy/rollback"]
    a_ledger_line(store, lambda _n: {"session": "s1", "undone": True})
    assert ids(store) == []


def test_a_lesson_that_moved_keeps_its_past(store):
    version = next(x.version for x in lessons.hold(store).shelf.lessons if "rollback" in x.id)
    opened = [{"lesson": "deploy/rollback", "version": version}]
    a_session(store, 1, opened=opened)
    os.makedirs(f"{store.base}/nodes/ops")
    os.rename(f"{store.base}/nodes/deploy/rollback.md", f"{store.base}/nodes/ops/undo.md")
    assert ids(store) == ["ops/undo"]


@pytest.mark.parametrize("change", ["archive", "delete"])
def test_what_is_archived_or_missing_gets_nothing(store, change):
    a_session(store, 1)
    path = f"{store.base}/nodes/deploy/rollback.md"
    if change == "delete":
        os.unlink(path)
    else:
        a_lesson_file(store, "nodes/deploy/rollback.md", "---\nstatus: archived\n---\n# Old\n")
    assert ids(store) == []


def test_a_scope_narrows_and_changes_no_past(store):
    a_session(store, 1, used=("deploy/rollback", "docs/links"))
    assert set(ids(store)) == {"deploy/rollback", "docs/links"}
    assert ids(store, scope=["nodes/docs/"]) == ["docs/links"]


def test_a_rule_whose_match_is_met_brings_its_targets(store):
    match = {"match": ["word:outage"], "then": "read nodes/docs/links.md"}
    a_rule_file(store, when="", **match)
    (found,) = pick(store)
    assert (found.lesson.id, set(found.why)) == ("docs/links", {"rules"})
    assert found.why["rules"] == 1


def test_a_skip_rule_lowers_its_targets(store):
    a_rule_file(store, when="the task is an outage", then="skip nodes/docs/links.md", effect="skip")
    found = {one.lesson.id: one.why for one in pick(store, "outage of links")}
    assert found["docs/links"]["rules"] == -1


@pytest.mark.parametrize(
    ("prompt", "force"),
    [
        ("run the integration tests", 1.0),
        ("integration", 0.0),
        ("integration test", pytest.approx(2 / 3)),
        ("write a docs page", 0.0),
    ],
)
def test_a_condition_in_words_is_met_by_likeness(prompt, force):
    rule = Rule("r_000001", "the task runs the integration tests", "read nodes/testing/")
    assert learned.likeness(rule, [], frozenset(terms(prompt))) == force


@pytest.mark.parametrize("effect", ["prefer", "skip"])
def test_a_condition_that_says_what_a_task_is_not_says_nothing_of_the_opposite(effect):
    when = "the task does not touch paging"
    rule = Rule("r_000001", when, "read nodes/db/", effect=effect)
    assert learned.likeness(rule, [], frozenset(terms("touch the paging code"))) == 0.0


def test_what_a_broken_cache_holds_is_learned_again(store):
    a_session(store, 1)
    kept = pick(store)
    with open(store.selection_cache, "w", encoding="utf-8") as file:
        file.write("rose 2 00\n{}")
    assert pick(store) == kept


def test_the_record_is_only_read(store):
    a_session(store, 1)
    before = ledger.stamps(store)
    pick(store)
    assert ledger.stamps(store) == before
