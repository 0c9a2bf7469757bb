"""One claim stays one rule: what restates joins, what is a person's stays, what merges unites."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rose.check.checks import Draft, check_rule
from rose.reflection import reconcile
from rose.reflection.reconcile import Settled
from rose.routing.rules import Evidence, Rule
from tests.check.test_checks import a_context
from tests.routing.samples import a_rule

ROOTS = ("nodes",)
OLD, NEW = Evidence("old", "an old quote"), Evidence("s", "could not connect")
WHEN = "the task runs the tests"


def a_draft(**fields) -> Draft:
    given = {"when": WHEN, "then": "read nodes/testing/ first", "evidence": (NEW,)}
    return Draft(**{"origin": "reflection", **given, **fields})


def an_old(rule_id="r_0000aa", **fields):
    given = {"when": WHEN, "then": "read nodes/testing/", "origin": "reflection"}
    return a_rule(rule_id, **{**given, "evidence": (OLD,), **fields})


def settle(draft, *rules: Rule, restates=""):
    return reconcile.settle(draft, restates, rules, ROOTS)


def test_a_draft_that_restates_nothing_is_new():
    draft = a_draft(when="the task is a release")
    settled = settle(draft, an_old())
    assert (settled.draft, settled.proposed, settled.findings) == (draft, draft, ())


@pytest.mark.parametrize("when", [WHEN, "When the task, runs the TESTS!"])
def test_the_same_condition_in_other_letters_is_more_evidence(when):
    settled = settle(a_draft(when=when), an_old())
    assert settled.draft.replaces == "r_0000aa"
    assert (settled.draft.when, settled.draft.then) == (WHEN, "read nodes/testing/")
    assert settled.draft.evidence == (OLD, NEW)
    assert settled.proposed == replace(a_draft(when=when), replaces="r_0000aa")


def test_a_condition_that_the_model_says_restates_keeps_the_old_one_and_its_record():
    settled = settle(a_draft(when="pytest is run"), an_old(), restates="r_0000aa")
    assert (settled.draft.replaces, settled.draft.when) == ("r_0000aa", WHEN)


def test_what_is_joined_passes_the_check_that_a_second_rule_would_not():
    old = an_old()
    rules = [finding.rule for finding in check_rule(a_draft(), a_context(rules=(old,)))]
    assert rules == ["restates"]
    assert list(check_rule(settle(a_draft(), old).draft, a_context(rules=(old,)))) == []


@pytest.mark.parametrize(
    ("old", "new", "then"),
    [
        ("nodes/a/", "read nodes/a/b.md now", "read nodes/a/"),
        ("nodes/a/b.md", "read nodes/a/ first", "read nodes/a/ first"),
        ("nodes/a/", "read nodes/b.md", "read nodes/a/ and nodes/b.md"),
    ],
)
def test_a_restatement_with_other_targets_widens_the_rule(old, new, then):
    rule = an_old(then=f"read {old}", targets=(old,), match=("command:pytest",))
    settled = settle(a_draft(then=new), rule)
    assert settled.draft.then == then
    assert (settled.draft.replaces, settled.draft.match) == (rule.id, ("command:pytest",))


def test_skip_rules_are_widened_in_words_of_their_own():
    rule = an_old(effect="skip", then="nothing in nodes/a/ applies", targets=("nodes/a/",))
    settled = settle(a_draft(effect="skip", then="nothing in nodes/b/ applies"), rule)
    assert settled.draft.then == "nothing in nodes/a/ and nodes/b/ applies"


@pytest.mark.parametrize("fields", [{"origin": "manual"}, {"approval": "approved"}])
@pytest.mark.parametrize("restates", ["", "r_0000aa"])
def test_a_persons_rule_is_left_alone(fields, restates):
    settled = settle(a_draft(), an_old(**fields), restates=restates)
    (finding,) = settled.findings
    assert settled.draft == a_draft()
    assert (finding.rule, finding.expected) == ("restates", "r_0000aa")


@pytest.mark.parametrize("restates", ["r_dead00", "../../etc", "r_0000aa\n"])
def test_an_id_that_no_rule_has_is_refused(restates):
    settled = settle(a_draft(when="another"), an_old(), restates=restates)
    assert [finding.rule for finding in settled.findings] == ["restates-unknown"]


@pytest.mark.parametrize("status", ["retired", "declined"])
def test_a_rule_out_of_use_is_not_restated(status):
    assert settle(a_draft(), an_old(status=status)) == Settled(a_draft(), a_draft())
    refused = settle(a_draft(), an_old(status=status), restates="r_0000aa")
    assert [finding.rule for finding in refused.findings] == ["restates-unknown"]


def test_the_opposite_is_no_restatement_and_is_kept_beside():
    old = an_old(effect="skip")
    assert settle(a_draft(), old) == Settled(a_draft(), a_draft())
    refused = settle(a_draft(when="another"), old, restates="r_0000aa")
    assert [finding.rule for finding in refused.findings] == ["restates-opposite"]


def test_a_draft_with_a_slot_or_without_a_target_is_left_for_the_check():
    for draft in (a_draft(replaces="r_0000bb"), a_draft(then="ask the user")):
        assert settle(draft, an_old()) == Settled(draft, draft)


def merge(draft, ids, *rules: Rule):
    return reconcile.merge(draft, ids, rules, ROOTS)


def test_a_merge_unites_targets_features_and_evidence():
    rules = (
        an_old("r_0000aa", targets=("nodes/a/",), match=("command:pytest",)),
        an_old("r_0000bb", when="b", targets=("nodes/b.md", "nodes/a/x.md"), match=("word:b",)),
    )
    settled = merge(a_draft(then="read nodes/a/"), ["r_0000aa", "r_0000bb"], *rules)
    draft = settled.draft
    assert settled.findings == ()
    assert (draft.replaces, draft.merges) == ("r_0000aa", ("r_0000bb",))
    assert draft.then == "read nodes/a/ and nodes/b.md"
    assert draft.match == ("command:pytest", "word:b")
    assert draft.evidence == (OLD, NEW)


def test_a_merge_keeps_the_models_wording_where_it_leads_everywhere():
    rules = (an_old("r_0000aa"), an_old("r_0000bb", when="b", targets=("nodes/testing/x.md",)))
    draft = merge(a_draft(when=""), ["r_0000aa", "r_0000bb"], *rules).draft
    assert (draft.when, draft.then) == (WHEN, "read nodes/testing/ first")


@pytest.mark.parametrize(
    ("ids", "fields", "rule"),
    [
        (["r_0000aa"], {}, "merge-unknown"),
        (["r_0000aa", "r_0000aa"], {}, "merge-unknown"),
        (["r_0000aa", "r_dead00"], {}, "merge-unknown"),
        (["r_0000aa", "r_0000bb"], {"status": "retired"}, "merge-unknown"),
        (["r_0000aa", "r_0000bb"], {"status": "proposed"}, "merge-unlike"),
        (["r_0000aa", "r_0000bb"], {"effect": "skip"}, "merge-unlike"),
        (["r_0000aa", "r_0000bb"], {"origin": "manual"}, "persons-rule"),
        (["r_0000aa", "r_0000bb"], {"approval": "approved"}, "persons-rule"),
    ],
)
def test_a_merge_that_cannot_be_is_refused(ids, fields, rule):
    settled = merge(a_draft(), ids, an_old("r_0000aa"), an_old("r_0000bb", **fields))
    assert [finding.rule for finding in settled.findings] == [rule]
    assert settled.draft == a_draft()
