"""Recall from a prompt to its record: the stages, what each leaves, and how each fails."""

from __future__ import annotations

import os

import pytest

from rose.errors import RoseError
from rose.selection import pipeline, requests
from rose.selection.admit import Proposal
from rose.selection.chosen import Selection
from rose.selection.pack import Budget
from rose.selection.requests import Request, Shown
from rose.store import lessons
from tests.factories import a_lesson_file, a_library
from tests.selection.plain import ByWords

KEY = "AKIA" + "IOSFODNN7" + "QWERTYU"


@pytest.fixture
def store(tmp_path):
    return a_library(tmp_path)


class Meanwhile:
    """Picks as the plain selector does; then something happens before the answer is given."""

    def __init__(self, happens) -> None:
        self.happens = happens

    def pick(self, prompt, holdings, scope, k):
        picks = ByWords().pick(prompt, holdings, scope, k)
        self.happens()
        return picks


def recall(store, prompt="database tests", selector=None, **fields):
    request = Request(requests.query_of(prompt), Budget(400), **fields)
    holdings = [lessons.hold(store)]
    chosen = {} if selector is None else {"selector": selector}
    return pipeline.recall(request, holdings, at="now", **chosen)


def reasons(record):
    return {one["node"]: one["reason"] for one in record.excluded}


def nodes(items):
    return [one["node"] for one in items]


def test_a_record_tells_every_stage(store):
    record, problem = recall(store, session="s1", scope=["nodes/testing/"], k=1)
    first, second = record.candidates
    assert (first.rank, second.rank, first.window) == (1, 2, None)
    assert first.score >= second.score > 0
    assert first.why == {"text": first.score}
    assert record.selected == [
        {"node": first.node, "version": first.version, "why": first.why, "shown": "new"}
    ]
    [served] = record.admitted
    assert (served["node"], served["form"]) == (first.node, "whole")
    assert served["tokens"] < record.tokens
    assert (record.excluded, record.failure, problem) == ([], None, "")
    assert (record.kind, record.session, record.at) == ("recall", "s1", "now")
    assert (record.condition, record.scope) == ("retrieval", ["nodes/testing/"])
    assert record.budget["k"] == 1
    assert (record.counter, record.store["lessons"]) == ("o200k_base", 3)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (os.unlink, "missing"),
        (lambda path: _write(path, "---\nstatus: archived\n---\n# Database\n"), "revoked"),
        (lambda path: _write(path, "# Database\n\nAnother port now.\n"), "wrong-version"),
    ],
)
def test_what_happens_between_selection_and_admission_is_seen(store, change, reason):
    path = os.path.join(store.base, "nodes/testing/db.md")
    record, _ = recall(store, selector=Meanwhile(lambda: change(path)))
    assert reasons(record) == {"testing/db": reason}
    assert nodes(record.selected) == ["testing/db", "testing/slow"]
    assert nodes(record.admitted) == ["testing/slow"]
    assert "testing/db" not in record.text
    assert "5432" not in record.text


def _write(path, text):
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(text)


class Weakening:
    """Picks as the plain selector does, and would serve the best alone."""

    def pick(self, prompt, holdings, scope, k):
        picks = ByWords().pick(prompt, holdings, scope, k)
        return [one._replace(is_worth=at == 0) for at, one in enumerate(picks)]


def test_what_the_selector_would_not_serve_is_below_the_threshold(store):
    record, _ = recall(store, selector=Weakening())
    assert (nodes(record.admitted), record.failure) == (["testing/db"], None)
    assert reasons(record) == {"testing/slow": "below-threshold"}


def test_where_all_that_was_selected_fell_admission_refused(store):
    def all_go():
        for name in ("db", "slow"):
            os.unlink(os.path.join(store.base, f"nodes/testing/{name}.md"))

    record, _ = recall(store, selector=Meanwhile(all_go))
    assert (record.failure, record.text) == ("admission-refused", "")


@pytest.mark.parametrize(
    ("prompt", "fields", "failure", "condition"),
    [
        ("zebra", {}, "nothing-eligible", "retrieval"),
        ("database", {"scope": ["nodes/deploy/"]}, "nothing-eligible", "retrieval"),
        ("the of", {}, "bad-request", "retrieval"),
        ("database", {"condition": "no-retrieval"}, None, "no-retrieval"),
    ],
)
def test_each_kind_of_nothing_is_a_record_of_its_own(store, prompt, fields, failure, condition):
    record, problem = recall(store, prompt, **fields)
    assert (record.failure, record.condition, problem) == (failure, condition, "")
    assert (record.text, record.tokens, record.counter) == ("", 0, None)
    assert not record.candidates


def test_a_search_that_fails_leaves_a_record_that_says_so(store):
    def fail():
        raise RoseError("there is no index")

    record, problem = recall(store, selector=Meanwhile(fail))
    assert (record.failure, problem) == ("search-failed", "there is no index")
    assert (record.condition, record.text) == ("retrieval", "")


def test_what_the_session_holds_is_left_out_and_what_it_lost_is_one_line(store):
    now = {lesson.id: lesson.version for lesson in lessons.hold(store).shelf.lessons}
    shown = {
        "testing/db": Shown(now["testing/db"], is_fresh=True),
        "testing/slow": Shown(now["testing/slow"], is_fresh=False),
    }
    record, _ = recall(store, shown=shown)
    assert reasons(record) == {"testing/db": "not-selected"}
    assert [one["form"] for one in record.admitted] == ["again"]
    assert "5432" not in record.text
    assert "Run the" not in record.text
    assert {one["node"]: one["shown"] for one in record.selected} == {
        "testing/db": "held",
        "testing/slow": "again",
    }


def test_a_lesson_that_changed_since_it_was_shown_is_one_line(store):
    record, _ = recall(store, shown={"testing/db": Shown("another", is_fresh=True)})
    assert {one["node"]: one["form"] for one in record.admitted}["testing/db"] == "again"


def test_a_session_that_holds_all_of_it_is_no_failure(store):
    now = {lesson.id: lesson.version for lesson in lessons.hold(store).shelf.lessons}
    record, _ = recall(store, shown={x: Shown(v, is_fresh=True) for x, v in now.items()})
    assert (record.text, record.failure) == ("", None)


def test_an_answer_is_the_selection_whatever_the_search_finds(store):
    canary = next(x for x in lessons.hold(store).shelf.lessons if x.id == "deploy/canary")
    answer = Selection([Proposal(canary.id, canary.version)])
    request = Request("database", Budget(400))
    record, _ = pipeline.recall(request, [lessons.hold(store)], at="now", answer=answer)
    assert nodes(record.selected) == nodes(record.admitted) == ["deploy/canary"]
    assert [one.node for one in record.candidates] == ["testing/db", "testing/slow"]


def test_a_query_is_the_beginning_of_a_prompt_without_its_secrets():
    query = requests.query_of(f"use {KEY} " + "x" * requests.QUERY_CHARS)
    assert KEY not in query
    assert query.startswith("use [redacted:")
    assert len(query) < requests.QUERY_CHARS + 20


@pytest.mark.parametrize("part", [4, 10, 19])
def test_a_query_ends_in_no_half_of_a_secret(part):
    query = requests.query_of("x" * (requests.QUERY_CHARS - part - 1) + f" {KEY} and more")
    assert KEY[:4] not in query
    assert len(query) <= requests.QUERY_CHARS


def test_no_more_candidates_are_recorded_than_are_looked_at(store):
    for number in range(pipeline.LOOKS + 5):
        a_lesson_file(store, f"nodes/many/{number}.md", f"# Database {number}\n")
    record, _ = recall(store, "database")
    assert len(record.candidates) == pipeline.LOOKS
    assert len(record.selected) == requests.K
