"""What a person decides about a rule that is there."""

from __future__ import annotations

import os

import pytest

from rose import files
from rose.check import context, decide
from rose.errors import Locked, RoseError, Unwritable
from rose.findings import Refused
from rose.routing import forgotten, questions, table
from rose.store import lessons
from tests import factories

ROOTS = ("nodes",)
AT = "2026-11-30T09:12:44Z"


@pytest.fixture
def store(tmp_path):
    made = factories.a_store(tmp_path)
    factories.a_lesson_file(made, "nodes/testing/db.md")
    return made


def now(store):
    holding = lessons.hold(store)
    return context.of_store(holding, holding.settings.routing_max_tokens)


def test_the_context_knows_which_lessons_are_active_and_what_took_the_place_of_others(store):
    factories.a_lesson_file(store, "nodes/old.md", "---\nstatus: archived\n---\n# Old\n")
    header = "---\nstatus: superseded\nsuperseded_by: testing/db\n---\n"
    factories.a_lesson_file(store, "nodes/older.md", f"{header}# Older\n")
    found = now(store)
    assert found.lessons == {"testing/db", "old", "older"}
    assert found.archived == {"nodes/old.md": "", "nodes/older.md": "nodes/testing/db.md"}
    assert [found.has_lesson(path) for path in ("nodes/testing/", "nodes/*/db.md")] == [True] * 2
    assert not found.has_lesson("nodes/old.md")
    assert found.base is None


def test_a_forgotten_rule_leaves_its_rejection(store):
    rule_id = factories.a_rule_file(store, match=["command:pytest"], targets=["nodes/testing/"])
    left = decide.forget(store, rule_id, ROOTS, AT)
    assert left == forgotten.path_of(store, rule_id)
    assert forgotten.test_of([store])(["command:pytest"], ["nodes/testing/"])
    assert not os.path.exists(table.path_of(store, rule_id))


def test_a_rule_that_is_not_there_cannot_be_forgotten(store):
    with pytest.raises(RoseError, match="no rule r_00dead"):
        decide.forget(store, "r_00dead", ROOTS, AT)


def test_a_rule_that_cannot_be_deleted_leaves_no_rejection(store):
    rule_id = factories.a_rule_file(store)
    path = table.path_of(store, rule_id)
    os.unlink(path)
    os.makedirs(path)
    with pytest.raises(Unwritable):
        decide.forget(store, rule_id, ROOTS, AT)
    assert forgotten.read(store) == ((), [])


@pytest.mark.parametrize(
    "decision",
    [
        lambda store, rule_id: decide.forget(store, rule_id, ROOTS, AT),
        lambda store, rule_id: decide.restore(store, rule_id, now(store)),
        lambda store, rule_id: decide.approve(store, rule_id, now(store)),
        lambda store, rule_id: decide.decline(store, rule_id, ROOTS),
    ],
    ids=["forget", "restore", "approve", "decline"],
)
def test_every_decision_waits_for_the_lock(store, monkeypatch, decision):
    monkeypatch.setattr(files, "LOCK_WAIT_S", 0.01)
    rule_id = factories.a_rule_file(store, status="proposed")
    before = files.read_text(table.path_of(store, rule_id))
    with files.lock(store.lock, 0), pytest.raises(Locked):
        decision(store, rule_id)
    assert files.read_text(table.path_of(store, rule_id)) == before


@pytest.mark.parametrize(
    ("status", "decision"),
    [
        ("proposed", lambda store, rule_id: decide.approve(store, rule_id, now(store))),
        ("retired", lambda store, rule_id: decide.restore(store, rule_id, now(store))),
        ("active", lambda store, rule_id: decide.decline(store, rule_id, ("docs",))),
    ],
    ids=["approve", "restore", "decline"],
)
def test_the_targets_of_a_decided_rule_lie_in_the_stores_own_folders(store, status, decision):
    files.replace(store.config, "lessons:\n  paths: [docs]\n")
    factories.a_lesson_file(store, "docs/guide.md")
    rule_id = factories.a_rule_file(store, status=status, then="read docs/guide.md")
    assert decision(store, rule_id).rule.targets == ("docs/guide.md",)


def test_a_rule_larger_than_a_quarter_of_the_cap_is_not_approved(store):
    rule_id = factories.a_rule_file(store, status="proposed", then="nodes/testing/ " + "x " * 400)
    with pytest.raises(Refused) as refused:
        decide.approve(store, rule_id, now(store))
    assert [finding.rule for finding in refused.value.findings] == ["too-large"]


def test_a_restored_rule_whose_lessons_are_gone_is_a_warning(store):
    rule_id = factories.a_rule_file(store, status="retired", then="read nodes/gone/")
    decided = decide.restore(store, rule_id, now(store))
    assert decided.rule.status == "active"
    assert [finding.rule for finding in decided.warnings] == ["no-target"]


def test_an_active_rule_of_reflections_may_be_confirmed_once(store):
    rule_id = factories.a_rule_file(store, origin="reflection")
    assert decide.approve(store, rule_id, now(store)).rule.approval == "approved"
    with pytest.raises(RoseError, match="approved already"):
        decide.approve(store, rule_id, now(store))


def test_a_skip_rule_may_be_approved_once_more_for_its_lessons_as_they_are(store):
    """What it turns down may have changed since somebody looked."""
    rule_id = factories.a_rule_file(store, effect="skip", then="nothing in nodes/testing/ applies")
    for n in (1, 2):
        assert decide.approve(store, rule_id, now(store)).rule.approval == "approved"
        lines = [line for _, line in files.read_jsonl(store.skips)]
        assert [line["rule"] for line in lines] == [rule_id] * n


def _question(store, **fields):
    """Write two rules that say the opposite, and return their ids."""
    said = {"when": "docs work", "then": "read nodes/testing/"}
    prefer = factories.a_rule_file(store, id="r_0000aa", **said)
    said |= {"then": "nothing in nodes/testing/ applies"}
    skip = {**said, "effect": "skip", "origin": "reflection", "status": "proposed", **fields}
    return prefer, factories.a_rule_file(store, id="r_0000bb", **skip)


def _states(store):
    return {rule.id: (rule.status, rule.approval) for rule in table.read(store, ROOTS).rules}


@pytest.mark.parametrize(("chosen", "other"), [("r_0000aa", "r_0000bb"), ("r_0000bb", "r_0000aa")])
def test_approving_one_side_of_a_question_declines_the_other(store, chosen, other):
    _question(store)
    decided = decide.approve(store, chosen, now(store))
    assert [rule.id for rule in decided.declined] == [other]
    assert decided.warnings == ()
    assert _states(store) == {chosen: ("active", "approved"), other: ("declined", "declined")}
    assert questions.find(table.read(store, ROOTS).rules) == []


def test_both_sides_hold_once_each_was_approved(store):
    prefer, skip = _question(store)
    decide.approve(store, prefer, now(store))
    decided = decide.approve(store, skip, now(store))
    assert decided.declined == ()
    assert [warning.rule for warning in decided.warnings] == ["opposes"]
    assert set(_states(store).values()) == {("active", "approved")}
    assert questions.find(table.read(store, ROOTS).rules) == []


def test_declining_one_side_leaves_the_other_as_it_is(store):
    prefer, skip = _question(store)
    decide.decline(store, skip, ROOTS)
    assert _states(store) == {prefer: ("active", None), skip: ("declined", "declined")}


def test_a_rule_that_was_approved_before_the_question_came_up_can_settle_it(store):
    prefer, skip = _question(store)
    files.replace(
        table.path_of(store, prefer),
        files.read_text(table.path_of(store, prefer)).replace(
            "when:", "approval: approved\nwhen:", 1
        ),
    )
    assert [rule.id for rule in decide.approve(store, prefer, now(store)).declined] == [skip]


def test_a_refused_approval_declines_nothing(store):
    _, skip = _question(store, then="read nodes/testing/ " + "x " * 400)
    before = _states(store)
    with pytest.raises(Refused):
        decide.approve(store, skip, now(store))
    assert _states(store) == before
