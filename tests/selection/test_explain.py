"""Why a lesson was or was not offered, told by the recall that decides it."""

from __future__ import annotations

import os

import pytest

from rose import files
from rose.selection import explain, outcome, pipeline, requests
from rose.selection.outcome import Fate
from rose.selection.pack import Budget
from rose.selection.requests import Request
from rose.store import lessons
from tests.factories import a_lesson_file, a_store

AT = "2026-12-01T00:00:00Z"
PROMPT = "the database of the slow tests"


@pytest.fixture
def store(tmp_path):
    made = a_store(tmp_path)
    a_lesson_file(made, "nodes/testing/db.md", "# Database\n\nThe tests need a database.\n")
    a_lesson_file(made, "nodes/testing/slow.md", "# Slow tests\n\nThe slow tests run last.\n")
    a_lesson_file(made, "nodes/deploy/canary.md", "# Canary\n\nShip to one host first.\n")
    for number in range(6):
        a_lesson_file(made, f"nodes/more/n{number}.md", f"# N{number}\n\nOf tests.\n")
    a_lesson_file(made, "nodes/old.md", "---\nstatus: archived\n---\n# Slow tests database\n")
    return made


def told(store, name, prompt=PROMPT, **options):
    holdings = [lessons.hold(store)]
    [lesson] = [one for one in holdings[0].shelf.lessons if one.id == name]
    return explain.explain(holdings, lesson, prompt, at=AT, **options)


def recalled(store, prompt=PROMPT):
    request = Request(requests.query_of(prompt), Budget(400))
    return pipeline.recall(request, [lessons.hold(store)], at=AT).record


def test_what_recall_serves_is_said_to_be_served(store):
    outcomes = outcome.of_lessons(recalled(store).as_json())
    assert outcomes["testing/slow"] == Fate("served", "whole")
    assert told(store, "testing/slow").outcome == outcomes["testing/slow"]


def test_rank_score_and_features_are_those_of_the_record(store):
    first = recalled(store).candidates[0]
    found = told(store, first.node)
    assert (found.rank, found.score, found.why) == (1, first.score, first.why)
    assert found.of == len(recalled(store).candidates)
    assert sum(found.why.values()) == pytest.approx(found.score, abs=1e-4)


def test_a_lesson_behind_those_that_are_selected_has_its_place(store):
    last = recalled(store).candidates[-1]
    found = told(store, last.node)
    assert found.rank == found.of > requests.K
    assert found.outcome == Fate("not-selected", "the best 3 are selected")


@pytest.mark.parametrize(
    ("name", "options", "reason", "detail"),
    [
        ("deploy/canary", {}, "not-selected", "nothing ties it to the prompt"),
        ("old", {}, "revoked", "archived"),
        ("testing/db", {"scope": ["nodes/deploy/"]}, "out-of-scope", "nodes/testing/db.md is not"),
        ("testing/db", {"prompt": "the"}, "not-selected", "the prompt holds no word"),
    ],
)
def test_a_lesson_that_is_no_candidate_has_the_reason(store, name, options, reason, detail):
    found = told(store, name, **options)
    assert (found.rank, found.score, found.outcome.reason) == (None, None, reason)
    assert found.outcome.detail.startswith(detail)
    assert found.as_json()["offered"] is False


def test_what_admission_refuses_has_its_reason(store):
    files.replace(store.config, "recall.max_tokens: 0\n")
    found = told(store, "testing/slow")
    assert (found.rank, found.outcome.reason) == (1, "over-budget")
    assert "are left" in found.outcome.detail


def test_nothing_is_recorded(store):
    told(store, "testing/slow", session="s-1")
    assert not os.path.exists(store.selections)
