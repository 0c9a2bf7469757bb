"""Four kinds of nothing are records and sentences of their own, and so is what was served."""

from __future__ import annotations

import pytest

from rose.errors import RoseError
from rose.selection import outcome, pipeline, trace
from rose.selection.pack import Budget
from rose.selection.requests import Request
from tests.factories import a_lesson_file, a_store
from tests.selection import seen


@pytest.fixture
def store(tmp_path):
    made = a_store(tmp_path)
    a_lesson_file(made, "nodes/db.md", "# Database\n\nThe tests need port 5432.\n")
    return made


class Failing:
    def pick(self, *_: object):
        raise RoseError("there is no index")


def recalled(store, prompt="database", selector=None, tokens=400, **fields):
    request = Request(prompt, Budget(tokens), **fields)
    chosen = {} if selector is None else {"selector": selector}
    return pipeline.recall(request, seen.holdings(store), at="now", **chosen).record.as_json()


FELL = "found 1, selected 1, admitted 0, excluded 1 (1 rejected-earlier), opened 0"
CASES = {
    "served": ({}, "found 1, selected 1, admitted 1, excluded 0, opened 1"),
    "left-out": ({"condition": "no-retrieval"}, "retrieval was left out"),
    "unasked": ({"prompt": "the of"}, "the prompt holds no word that could be looked for"),
    "not-found": ({"prompt": "zebra"}, "of 1 lesson none is about that"),
    "failed": (
        {"selector": Failing()},
        "degraded, the search failed: found 0, selected 0, admitted 0, excluded 0, opened 0",
    ),
    "excluded": (
        {"rejected": {"db": "by this session"}},
        f"all that was selected fell: {FELL}",
    ),
}


@pytest.mark.parametrize(("came_to", "how"), CASES.items(), ids=CASES)
def test_each_is_a_record_and_a_sentence_of_its_own(store, came_to, how):
    fields, said = how
    row = recalled(store, **fields)
    assert (outcome.of(row), outcome.said(row)) == (came_to, said)


def test_their_records_differ_by_condition_failure_and_what_was_excluded(store):
    rows = [recalled(store, **fields) for fields, _ in CASES.values()]
    told = [
        (row["condition"], row["failure"], bool(row["selected"]), bool(row["admitted"]))
        for row in rows
    ]
    assert len(set(told)) == len(CASES)


def test_over_budget_fell_too_and_a_scope_is_said(store):
    row = recalled(store, tokens=9)
    assert (outcome.of(row), row["failure"]) == ("excluded", "admission-refused")
    assert "1 over-budget" in outcome.said(row)
    scoped = recalled(store, scope=["nodes/deploy/"])
    assert outcome.said(scoped) == "of 1 lesson none in that scope is about that"


def test_what_was_served_unjudged_is_degraded_all_the_same(store):
    row = {**recalled(store), "failure": "judge-failed"}
    assert outcome.of(row) == "failed"
    assert outcome.said(row).startswith("degraded, the judge failed: found 1, selected 1, admitted")


def test_where_none_of_what_was_found_was_selected_that_is_said(store):
    row = {**recalled(store), "selected": [], "admitted": [], "text": ""}
    assert outcome.said(row) == "none of 1 that were found was selected"


def test_an_account_counts_each_stage():
    excluded = [
        {"node": "a", "reason": "missing"},
        {"node": "b", "reason": "over-budget"},
        {"node": "c", "reason": "missing"},
    ]
    names = [{"node": name} for name in "abcde"]
    row = {"candidates": names, "selected": names[:4], "admitted": names[3:4]}
    assert outcome.account({**row, "excluded": excluded}) == (
        "found 5, selected 4, admitted 1, excluded 3 (2 missing, 1 over-budget), opened 2"
    )
    assert outcome.account({"id": "t", "candidates": 7}) == (
        "found 0, selected 0, admitted 0, excluded 0, opened 0"
    )


def test_every_failure_of_a_stage_is_known_by_its_words():
    kinds = set(trace.Failure.__args__)
    answered = {"bad-request", "nothing-eligible", "admission-refused"}
    assert kinds == {*outcome.FAILED, *answered, *outcome.LATER}


def test_what_fails_after_the_call_leaves_what_it_came_to(store):
    row = {**recalled(store), "later_failure": "consumer-failed"}
    assert outcome.of(row) == "served"


def test_each_lesson_was_served_or_says_what_kept_it_out(store):
    fates = outcome.of_lessons(recalled(store))
    assert {node: fate.said() for node, fate in fates.items()} == {"db": "served, whole"}
    turned = outcome.of_lessons(recalled(store, rejected={"db": "by this session"}))
    assert turned["db"].said() == "rejected-earlier: by this session"
    bare = outcome.of_lessons({"excluded": [{"node": "a", "reason": "revoked"}, 7]})
    assert [fate.said() for fate in bare.values()] == ["revoked"]
