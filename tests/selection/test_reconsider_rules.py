"""Skip rules whose lessons changed, or were used after all."""

from __future__ import annotations

import os

import pytest

from rose import files
from rose.check import accept, context, decide
from rose.check.checks import Draft
from rose.routing import cases
from rose.selection import reconsider_rules
from rose.store import lessons
from tests.factories import a_ledger_line, a_lesson_file, a_rule_file, a_store

THEN = "nothing in nodes/deploy/ applies"


@pytest.fixture
def store(tmp_path):
    made = a_store(tmp_path)
    a_lesson_file(made, "nodes/deploy/canary.md", "# Canary\n\nShip to one host, then wait.\n")
    a_lesson_file(made, "nodes/testing/db.md", "# Database\n\nThe tests need port 5432.\n")
    return made


def against(store):
    return context.of_store(lessons.hold(store), 800)


def taught(store, when="the task is a docs change", **fields):
    draft = Draft(when, THEN, **{"effect": "skip", **fields})
    return accept.accept_rule(store, draft, against(store), created="now").rule


def looked(store):
    return reconsider_rules.look([lessons.hold(store)])


def used(store, *names: str, session="s1", verdicts=None):
    case = cases.Case(session=session, n=0, used=names, verdicts=verdicts or {})
    a_ledger_line(store, lambda n: {**cases.line_of(case), "n": n})


def test_a_rule_whose_lessons_are_as_they_were_is_not_listed(store):
    taught(store)
    used(store, "testing/db")
    assert looked(store) == ((), (), 1)


def test_changed_new_and_vanished_lessons_are_named(store):
    rule = taught(store)
    a_lesson_file(store, "nodes/deploy/canary.md", "# Canary\n\nShip to two hosts.\n")
    a_lesson_file(store, "nodes/deploy/new.md", "# New\n\nNew.\n")
    a_lesson_file(store, "nodes/other.md", "# Other\n\nNew too.\n")
    [skip] = looked(store).found
    assert (skip.rule.id, skip.changes) == (
        rule.id,
        (("nodes/deploy/canary.md", "changed"), ("nodes/deploy/new.md", "new")),
    )
    assert skip.line == f"- When the task is a docs change: {THEN}"
    os.unlink(os.path.join(store.base, "nodes/deploy/canary.md"))
    assert looked(store).found[0].changes[-1] == ("nodes/deploy/canary.md", "gone")


def test_an_archived_lesson_is_gone(store):
    taught(store)
    a_lesson_file(store, "nodes/deploy/canary.md", "---\nstatus: archived\n---\n# Canary\n")
    assert looked(store).found[0].changes == (("nodes/deploy/canary.md", "gone"),)


def test_use_since_it_was_written_counts_and_use_before_does_not(store):
    used(store, "deploy/canary", session="before")
    rule = taught(store)
    assert looked(store).found == ()
    used(store, "deploy/canary", "testing/db", session="s2")
    used(store, "deploy/canary", session="s3", verdicts={rule.id: "misled"})
    [skip] = looked(store).found
    assert (skip.changes, dict(skip.used), skip.misled) == ((), {"deploy/canary": 2}, 1)


def test_a_person_who_looks_again_settles_it(store):
    rule = taught(store)
    a_lesson_file(store, "nodes/deploy/canary.md", "# Canary\n\nShip to two hosts.\n")
    used(store, "deploy/canary")
    assert [one.rule.id for one in looked(store).found] == [rule.id]
    decide.approve(store, rule.id, against(store))
    assert looked(store).found == ()
    a_lesson_file(store, "nodes/deploy/canary.md", "# Canary\n\nShip to three hosts.\n")
    assert looked(store).found[0].rule.approval == "approved"
    decide.approve(store, rule.id, against(store))
    assert looked(store) == ((), (), 1)


def test_a_rule_that_nobody_noted_is_said_to_be_unchecked_and_its_use_still_counts(store):
    rule = a_rule_file(store, effect="skip", when="a docs change", then=THEN)
    assert looked(store) == ((), ((rule, reconsider_rules.UNNOTED),), 1)
    used(store, "deploy/canary")
    found = looked(store)
    assert [one.rule.id for one in found.found] == [rule]
    assert len(found.unchecked) == 1


def test_notes_that_cannot_be_read_and_broken_rules_are_said(store):
    rule = taught(store)
    files.delete(store.skips)
    os.makedirs(store.skips)
    files.replace(os.path.join(store.routing, "r_0000bb.md"), "---\nwhen: [\n---\n")
    found = looked(store)
    assert [what.partition(":")[0] for what, _ in found.unchecked] == [
        ".rose/routing/r_0000bb.md",
        rule.id,
    ]
    assert "cannot be read" in found.unchecked[1][1]


@pytest.mark.parametrize(
    "fields", [{"effect": "prefer"}, {"status": "retired"}, {"status": "proposed"}]
)
def test_only_skip_rules_in_use_are_looked_at(store, fields):
    a_rule_file(store, when="a docs change", then=THEN, **{"effect": "skip", **fields})
    assert looked(store) == ((), (), 0)


def test_a_reworded_rule_is_of_the_lessons_of_that_moment(store):
    rule = taught(store)
    a_lesson_file(store, "nodes/deploy/canary.md", "# Canary\n\nShip to two hosts.\n")
    draft = Draft("the task is a change of pages", THEN, effect="skip", replaces=rule.id)
    accept.accept_rule(store, draft, against(store), created="now")
    assert looked(store) == ((), (), 1)
