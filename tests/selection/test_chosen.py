"""Who selects: a chooser in the place of the selector, what it names, and what holds without it."""

from __future__ import annotations

import pytest

from rose.errors import Locked
from rose.selection import outcome, pipeline, replay, trace
from rose.selection.chosen import Named, SelectionFailure
from rose.selection.judged import Judging
from rose.selection.pack import Budget
from rose.selection.requests import Request, Shown
from rose.store import lessons
from tests.factories import a_lesson_file, a_library, a_store
from tests.selection.judging import ScriptedJudge

FIVE = ("ab", "ac", "ad", "ae", "af")
LOOKED = [{"tool": "Read", "given": "nodes/deploy/canary.md", "nodes": ["deploy/canary"]}]


@pytest.fixture
def store(tmp_path):
    return a_library(tmp_path)


class Chooses:
    """A chooser that names what a test says, or gives no answer."""

    name = "fork"

    def __init__(self, *ids: str, unknown=(), fails: str = "") -> None:
        self.ids = ids
        self.unknown = unknown
        self.fails = fails
        self.asked = 0

    def choose(self, _query, holdings, _k):
        self.asked += 1
        if self.fails:
            raise SelectionFailure(self.fails)
        known = {lesson.id: lesson for one in holdings for lesson in one.shelf.lessons}
        return Named([known[name] for name in self.ids], self.unknown, LOOKED)


def recall(store, chooser, prompt="database tests", **fields):
    request = Request(prompt, Budget(400), chooser=chooser, **fields)
    return pipeline.recall(request, [lessons.hold(store)], at="now")


def nodes(items):
    return [one["node"] for one in items]


def fell(record):
    return {one["node"]: one["reason"] for one in record.excluded}


def is_replayed(store, record):
    trace.append(store, record)
    row = trace.find([store], record.id)
    again = replay.replay(row, [lessons.hold(store)])
    return replay.difference(row, again) == "" and {**again} == {**row}


def test_what_a_fork_names_is_the_selection_whatever_the_search_finds(store):
    record, problem = recall(store, Chooses("deploy/canary"))
    assert nodes(record.admitted) == nodes(record.selected) == ["deploy/canary"]
    assert record.selected[0]["why"] == {"fork": 1.0}
    assert {one.node for one in record.candidates} == {"testing/db", "testing/slow"}
    assert (record.failure, problem, record.budget["selector"]) == (None, "", "fork")
    assert record.as_json()["looked"] == LOOKED
    assert is_replayed(store, record)


def test_without_a_fork_a_record_has_no_word_of_one(store):
    record, _ = recall(store, None)
    row = record.as_json()
    assert "looked" not in row
    assert "selector" not in row["budget"]


def test_a_fork_may_find_what_no_word_of_the_prompt_leads_to(store):
    record, _ = recall(store, Chooses("deploy/canary"), "zebra")
    assert (nodes(record.admitted), record.failure) == (["deploy/canary"], None)
    assert is_replayed(store, record)


def test_a_name_that_no_lesson_has_is_missing_and_one_too_many_is_not_selected(store):
    chooser = Chooses("testing/db", "deploy/canary", "testing/slow", unknown=["nodes/none.md"])
    record, _ = recall(store, chooser, k=2)
    assert nodes(record.admitted) == ["testing/db", "deploy/canary"]
    assert fell(record) == {"testing/slow": "not-selected", "nodes/none.md": "missing"}
    assert is_replayed(store, record)


def test_a_fork_is_held_to_scope_and_to_what_the_session_holds_and_rejected(store):
    now = {lesson.id: lesson.version for lesson in lessons.hold(store).shelf.lessons}
    record, _ = recall(
        store,
        Chooses("deploy/canary", "testing/db", "testing/slow"),
        scope=["nodes/testing/"],
        shown={"testing/db": Shown(now["testing/db"], is_fresh=True)},
        rejected={"testing/slow": "for this need"},
    )
    assert fell(record) == {
        "deploy/canary": "out-of-scope",
        "testing/db": "not-selected",
        "testing/slow": "rejected-earlier",
    }
    assert is_replayed(store, record)


def test_a_fork_that_names_nothing_is_an_answer(store):
    record, _ = recall(store, Chooses())
    assert (record.selected, record.failure, record.text) == ([], None, "")
    assert is_replayed(store, record)


def test_a_fork_without_an_answer_leaves_what_the_selector_picked_and_says_so(store):
    record, problem = recall(store, Chooses(fails="its time was up"))
    plain, _ = recall(store, None)
    assert record.text == plain.text != ""
    assert (record.failure, problem) == ("selection-failed", "its time was up")
    assert outcome.said(record.as_json()).startswith("degraded, the selection failed")
    assert is_replayed(store, record)


def test_without_retrieval_no_fork_is_made(store):
    chooser = Chooses("testing/db")
    record, _ = recall(store, chooser, condition="no-retrieval")
    assert (chooser.asked, record.text, record.failure) == (0, "", None)


def test_a_judge_judges_what_the_fork_named_and_nothing_else(store):
    judge = ScriptedJudge(lambda item: 1 if "Canary" in item.text else 0)
    asked = Judging(frozenset(["rerank", "filter"]), judge)
    record, _ = recall(store, Chooses("testing/db", "deploy/canary"), judging=asked)
    assert nodes(record.selected) == ["deploy/canary", "testing/db"]
    assert nodes(record.admitted) == ["deploy/canary"]
    assert is_replayed(store, record)


def test_where_both_fail_both_are_said(store):
    asked = Judging(frozenset(["filter"]), None, lack="there is no judge", is_optional=True)
    record, problem = recall(store, Chooses(fails="its time was up"), judging=asked)
    assert (record.failure, problem) == ("judge-failed", "its time was up; there is no judge")
    assert record.text != ""


@pytest.mark.parametrize("error", [Locked("held by another"), OSError(28, "No space left")])
def test_whatever_a_fork_or_a_judge_stumbles_over_is_a_failure_of_its_stage(store, error):
    class Stumbles(Chooses):
        def choose(self, _query, _holdings, _k):
            raise error

    def stumble(_item):
        raise error

    record, problem = recall(store, Stumbles())
    assert (record.failure, problem) == ("selection-failed", str(error))
    asked = Judging(frozenset(["filter"]), ScriptedJudge(stumble), is_optional=True)
    record, problem = recall(store, None, judging=asked)
    assert (record.failure, problem) == ("judge-failed", str(error))
    assert record.text != ""


def five_alike(tmp_path):
    made = a_store(tmp_path / "five")
    for name in FIVE:
        a_lesson_file(made, f"nodes/testing/{name}.md", "# Case\n\nThe database tests.\n")
    return made


def turned_down(*names: str):
    return {f"testing/{name}": "for this need" for name in names}


@pytest.mark.parametrize("modes", [(), ("rerank",), ("filter",), ("compress",)])
def test_what_the_session_turned_down_takes_no_place(tmp_path, modes):
    store = five_alike(tmp_path)
    judging = Judging(frozenset(modes), ScriptedJudge(lambda _: 1)) if modes else None
    record, _ = recall(store, None, rejected=turned_down(*FIVE[:3]), judging=judging)
    assert nodes(record.admitted) == ["testing/ae", "testing/af"]
    assert fell(record) == dict.fromkeys(turned_down(*FIVE[:3]), "rejected-earlier")
    assert is_replayed(store, record)


def test_what_the_session_turned_down_gives_its_place_to_the_next_alone(tmp_path):
    store = five_alike(tmp_path)
    record, _ = recall(store, None, k=2, rejected=turned_down("ab"))
    assert nodes(record.admitted) == ["testing/ac", "testing/ad"]
    assert nodes(record.selected) == ["testing/ab", "testing/ac", "testing/ad"]


def test_what_the_session_holds_keeps_its_place(tmp_path):
    store = five_alike(tmp_path)
    now = {lesson.id: lesson.version for lesson in lessons.hold(store).shelf.lessons}
    held = {"testing/ab": Shown(now["testing/ab"], is_fresh=True)}
    record, _ = recall(store, None, shown=held, rejected=turned_down("ac"))
    assert nodes(record.admitted) == ["testing/ad", "testing/ae"]
    assert fell(record) == {"testing/ab": "not-selected", "testing/ac": "rejected-earlier"}


def test_what_the_session_turned_down_takes_no_place_of_what_a_fork_names(tmp_path):
    store = five_alike(tmp_path)
    named = Chooses("testing/ab", "testing/ac", "testing/ad")
    record, _ = recall(store, named, k=2, rejected=turned_down("ab"))
    assert nodes(record.admitted) == ["testing/ac", "testing/ad"]


def test_of_many_turned_down_none_keeps_the_next_from_being_looked_at(tmp_path):
    store = a_store(tmp_path / "many")
    names = [f"testing/{number:02}" for number in range(pipeline.LOOKS + 2)]
    for name in names:
        a_lesson_file(store, f"nodes/{name}.md", "# Case\n\nThe database tests.\n")
    record, _ = recall(store, None, rejected=dict.fromkeys(names[:-2], "for this need"))
    assert nodes(record.admitted) == names[-2:]
