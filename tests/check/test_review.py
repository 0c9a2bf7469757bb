"""Which rules wait for a person."""

from __future__ import annotations

import pytest

from rose.check import accept, review
from rose.check.checks import Draft
from rose.hosts.base import Region
from rose.routing import table
from rose.routing.rules import Evidence
from tests.check.test_accept import NOW
from tests.check.test_checks import a_context
from tests.routing.samples import a_rule, a_store, put

QUOTE = Evidence("s", "could not connect")
FETCHED = {"s": (Region(1, "foreign", "could not connect"),)}


def a_learned(**fields) -> Draft:
    given = {"when": "the task runs the tests", "then": "read nodes/testing/ first"}
    return Draft(**{**given, "origin": "reflection", "evidence": (QUOTE,), **fields})


def _status(draft: Draft, **context) -> tuple[str, str]:
    return review.status_of(draft, a_context(**context))


def test_without_a_reason_to_wait_a_rule_is_used():
    assert _status(a_learned()) == ("active", "")


def test_a_review_that_is_required_makes_each_rule_of_reflections_wait():
    assert _status(a_learned(), review="required") == ("proposed", "routing.review is required")
    old = a_rule("r_0000aa", origin="reflection")
    status, _ = _status(a_learned(replaces="r_0000aa"), rules=(old,), review="required")
    assert status == "proposed"


@pytest.mark.parametrize("setting", ["auto", "required"])
def test_a_persons_rule_never_waits(setting):
    draft = Draft("the task runs the tests", "read nodes/testing/")
    assert _status(draft, review=setting) == ("active", "")


@pytest.mark.parametrize("setting", ["auto", "required"])
def test_evidence_from_outside_alone_makes_a_rule_wait_whatever_the_setting(setting):
    status, why = _status(a_learned(), regions=FETCHED, review=setting)
    assert (status, why) == ("proposed", "all its evidence came from outside the repository")


def test_a_rule_that_says_the_opposite_of_one_in_use_waits_for_the_answer():
    old = a_rule("r_0000aa", when="the task runs the tests", effect="skip")
    assert _status(a_learned(), rules=(old,)) == ("proposed", "r_0000aa says the opposite")


def test_a_change_to_a_proposed_rule_leaves_it_proposed():
    old = a_rule("r_0000aa", origin="reflection", status="proposed")
    status, why = _status(a_learned(replaces="r_0000aa"), rules=(old,))
    assert (status, why) == ("proposed", "the rule that it changes waits already")


def test_acceptance_keeps_what_waits_as_proposed_and_says_why_in_the_note(tmp_path):
    store = a_store(tmp_path)
    context = a_context(rules=(), regions=FETCHED)
    kept = accept.accept_rule(store, a_learned(note="The port.\n"), context, **NOW).rule
    assert (kept.status, kept.approval) == ("proposed", None)
    assert kept.note == (
        "The port.\n\nProposed: all its evidence came from outside the repository.\n"
    )
    assert table.read(store, ("nodes",)).rules == (kept,)


def test_acceptance_never_makes_a_proposed_rule_active(tmp_path):
    store = a_store(tmp_path)
    put(store, a_rule("r_0000aa", origin="reflection", status="proposed"))
    draft = a_learned(replaces="r_0000aa")
    kept = accept.accept_rule(store, draft, a_context(), **NOW).rule
    assert (kept.id, kept.status, kept.approval) == ("r_0000aa", "proposed", None)
