"""Judges inside recall: the order of the three, what falls and why, and what a replay needs."""

from __future__ import annotations

import json
import os

import pytest

from rose.selection import judged, outcome, pipeline, replay, trace
from rose.selection.judge import JudgeFailure
from rose.selection.judged import Judging
from rose.selection.learned import Learned
from rose.selection.pack import Budget
from rose.selection.requests import Request, Shown
from rose.store import lessons
from tests.factories import a_lesson_file, a_store
from tests.selection.judging import ScriptedJudge

BODIES = {
    "testing/db": "# Database\n\nThe tests need port 5432. Nobody knows why.\n",
    "testing/slow": "# Slow tests\n\nRun the database tests last.\n",
    "deploy/db": "# Database of production\n\nNever run tests against it.\n",
    "deploy/canary": "# Canary\n\nA database change goes to one host. Then wait.\n",
}
ALL = ("rerank", "filter", "compress")


@pytest.fixture
def store(tmp_path):
    made = a_store(tmp_path)
    for name, text in BODIES.items():
        a_lesson_file(made, f"nodes/{name}.md", text)
    return made


def recall(store, judge, modes, *, k=2, threshold=0.5, is_optional=False, lack="", **fields):
    asked = Judging(frozenset(modes), judge, threshold, lack, is_optional)
    request = Request("database tests", Budget(400), k=k, judging=asked, **fields)
    return pipeline.recall(request, [lessons.hold(store)], at="now")


def by_name(**scores):
    """Return a judge that scores a lesson by the last part of its path, a unit by its text."""

    def score(item):
        path = item.document.splitlines()[0].rpartition("/")[2].removesuffix(".md")
        return scores.get(item.text, scores.get(path, 0))

    return ScriptedJudge(score)


def refuse(_item):
    raise JudgeFailure("the judge is out")


def nodes(items):
    return [one["node"] for one in items]


def excluded(record):
    return {one["node"]: one["reason"] for one in record.excluded}


def kept(store, record):
    """Write a record and read it as a replay does."""
    trace.append(store, record)
    return trace.find([store], record.id)


def replayed(store, row):
    return replay.difference(row, replay.replay(row, [lessons.hold(store)]))


def test_rerank_orders_all_that_was_found_and_takes_the_first_k(store):
    judge = by_name(canary=0.9, slow=0.8, db=0.1)
    record, problem = recall(store, judge, ["rerank"])
    assert nodes(record.admitted) == ["deploy/canary", "testing/slow"]
    assert excluded(record) == dict.fromkeys(["testing/db", "deploy/db"], "not-selected")
    assert [one["why"]["rerank"] for one in record.selected] == [0.9, 0.8, 0.1, 0.1]
    assert record.excluded[0]["detail"] == "judged 3 of 4, 2 are taken"
    assert (record.judge, record.failure, problem) == ("scripted", None, "")


@pytest.mark.parametrize(
    ("worth", "modes", "served"),
    [
        (2, ["rerank"], ["deploy/canary", "testing/slow"]),
        (1, ["rerank"], ["deploy/canary"]),
        (0, ["rerank"], []),
        (0, ["rerank", "filter"], ["deploy/canary", "testing/slow"]),
        (1, [], ["testing/slow"]),
    ],
)
def test_an_order_alone_serves_no_more_than_the_selector_would(store, worth, modes, served):
    class Some(Learned):
        def pick(self, prompt, holdings, scope, k):
            found = super().pick(prompt, holdings, scope, k)
            return [pick._replace(is_worth=at < worth) for at, pick in enumerate(found)]

    asked = Judging(frozenset(modes), by_name(canary=0.9, slow=0.8, db=0.1))
    request = Request("database tests", Budget(400), k=2, judging=asked if modes else None)
    holdings = [lessons.hold(store)]
    record, _ = pipeline.recall(request, holdings, at="now", selector=Some())
    assert nodes(record.admitted) == served
    row = json.loads(json.dumps(record.as_json()))
    assert replay.difference(row, replay.replay(row, holdings)) == ""


def test_the_score_of_the_search_has_no_part_in_the_order(store):
    record, _ = recall(store, by_name(), ["rerank"], k=4)
    assert nodes(record.selected) == [one.node for one in record.candidates]
    reverse = {one.node: at for at, one in enumerate(record.candidates)}
    judge = ScriptedJudge(lambda item: reverse[item.document.splitlines()[0][12:-3]] / 10)
    record, _ = recall(store, judge, ["rerank"], k=4)
    assert nodes(record.selected) == [one.node for one in record.candidates][::-1]


def test_filter_judges_the_first_k_alone_and_fills_nothing_up(store):
    judge = by_name(slow=1, canary=1)
    record, _ = recall(store, judge, ["filter"], k=2)
    [(mode, query, items)] = judge.asked
    assert (mode, query, len(items)) == ("filter", "database tests", 2)
    first = [one.node for one in record.candidates[:2]]
    assert nodes(record.selected) == first
    assert set(nodes(record.admitted)) == {"testing/slow"} & set(first)
    assert set(excluded(record).values()) == {"below-threshold"}


@pytest.mark.parametrize(("threshold", "served"), [(0.5, 1), (0.51, 0)])
def test_a_score_at_the_threshold_stays(store, threshold, served):
    record, _ = recall(store, by_name(slow=0.5, db=0), ["filter"], k=4, threshold=threshold)
    assert len(record.admitted) == served
    assert record.failure is None


def test_all_three_go_one_after_the_other_whatever_order_they_are_named_in(store):
    units = {"# Canary": 0, "Then wait.": 0, "# Slow tests": 0, "Run the database tests last.": 0}
    judge = by_name(canary=0.9, slow=0.8, db=0.7, **units)
    record, _ = recall(store, judge, ["compress", "filter", "rerank"])
    assert [mode for mode, _, _ in judge.asked] == [*ALL]
    assert [len(items) for _, _, items in judge.asked][:2] == [4, 2]
    assert nodes(record.admitted) == ["deploy/canary"]
    assert record.admitted[0]["form"] == "shortened"
    assert record.text.splitlines()[2:] == [
        "- nodes/deploy/canary.md, shortened (Canary):",
        "> A database change goes to one host.",
    ]


def test_a_lesson_of_which_no_part_must_stay_is_dropped(store):
    judge = by_name(**{"Run the database tests last.": 1})
    record, _ = recall(store, judge, ["compress"], scope=["nodes/testing/"])
    fell = {one["node"]: one["detail"] for one in record.excluded}
    assert nodes(record.admitted) == ["testing/slow"]
    assert fell == {"testing/db": judged.UNNEEDED}
    assert "5432" not in record.text


def test_a_lesson_of_which_all_parts_stay_is_whole(store):
    record, _ = recall(store, ScriptedJudge(lambda _: 1), ["compress"])
    assert {one["form"] for one in record.admitted} == {"whole"}
    assert all("kept" not in one for one in record.selected)


def test_a_long_extract_is_shown_in_part_where_the_budget_is_short(store):
    body = "# Database tests\n\n" + "".join(f"Line {n} of the database.\n" for n in range(60))
    a_lesson_file(store, "nodes/testing/db.md", f"{body}\nNot this one.\n")
    judge = ScriptedJudge(lambda item: 0 if item.text == "Not this one." else 1)
    asked = Judging(frozenset(["compress"]), judge)
    holdings = [lessons.hold(store)]
    for tokens, form in ((250, "part"), (2_000, "shortened")):
        request = Request(
            "database tests", Budget(tokens), k=1, scope=["nodes/testing/db.md"], judging=asked
        )
        record, _ = pipeline.recall(request, holdings, at="now")
        assert [one["form"] for one in record.admitted] == [form]
        assert "Not this one" not in record.text


@pytest.mark.parametrize("modes", [["rerank"], ["filter"], ["compress"], ALL])
def test_a_replay_asks_no_judge_and_gives_every_byte_again(store, modes):
    judge = by_name(canary=0.9, slow=0.8, db=0.7, **{"A database change goes to one host.": 0.6})
    record, _ = recall(store, judge, modes)
    asked = len(judge.asked)
    row = kept(store, record)
    again = replay.replay(row, [lessons.hold(store)])
    assert replay.difference(row, again) == ""
    assert {**again} == {**row}
    assert len(judge.asked) == asked > 0


def test_a_judge_that_fails_leaves_what_was_found_and_serves_nothing(store):
    record, problem = recall(store, ScriptedJudge(refuse), ["rerank"])
    assert (record.failure, problem, record.judge) == (
        "judge-failed",
        "the judge is out",
        "scripted",
    )
    assert len(record.candidates) == 4
    assert (record.selected, record.text) == ([], "")
    assert replayed(store, kept(store, record)) == ""


def test_where_it_is_optional_the_selection_passes_through_and_says_it_is_degraded(store):
    plain, _ = recall(store, None, [], is_optional=True, lack="there is no judge")
    record, problem = recall(store, None, ["filter"], is_optional=True, lack="there is no judge")
    unjudged = pipeline.recall(
        Request("database tests", Budget(400), k=2), [lessons.hold(store)], at="now"
    ).record
    assert record.text == unjudged.text != ""
    assert (record.failure, problem, record.judge) == ("judge-failed", "there is no judge", None)
    assert plain.failure == "judge-failed"
    row = kept(store, record)
    assert outcome.said(row).startswith("degraded, the judge failed")
    assert replayed(store, row) == ""


def test_a_judge_that_fails_in_the_middle_undoes_what_it_judged_before(store):
    judge = ScriptedJudge(lambda item: 0.5 if len(judge.asked) == 1 else refuse(item))
    record, _ = recall(store, judge, ["rerank", "filter"], is_optional=True)
    assert [mode for mode, _, _ in judge.asked] == ["rerank", "filter"]
    assert record.failure == "judge-failed"
    assert all("rerank" not in one["why"] for one in record.selected)


def test_nothing_found_needs_no_judge(store):
    request = Request(
        "zebra", Budget(400), judging=Judging(frozenset(ALL), None, lack="there is none")
    )
    record, problem = pipeline.recall(request, [lessons.hold(store)], at="now")
    assert (record.failure, problem) == ("nothing-eligible", "")


def test_what_the_session_holds_keeps_its_place_and_lets_none_move_up(store):
    now = {lesson.id: lesson.version for lesson in lessons.hold(store).shelf.lessons}
    judge = by_name(canary=0.9, slow=0.8, db=0.1)
    shown = {"deploy/canary": Shown(now["deploy/canary"], is_fresh=True)}
    record, _ = recall(store, judge, ["rerank", "filter"], shown=shown)
    assert nodes(record.admitted) == ["testing/slow"]
    assert excluded(record)["deploy/canary"] == "not-selected"
    assert [len(items) for _, _, items in judge.asked] == [4, 1]
    assert replayed(store, kept(store, record)) == ""


def test_what_was_rejected_before_is_not_judged_again(store):
    judge = by_name(slow=1, db=1, canary=1)
    record, _ = recall(store, judge, ["rerank"], rejected={"deploy/db": "for this need"})
    assert "deploy/db" not in [item.document.splitlines()[0][12:-3] for item in judge.asked[0][2]]
    assert excluded(record)["deploy/db"] == "rejected-earlier"


def test_what_falls_at_admission_is_not_judged_and_what_changes_meanwhile_falls(store):
    os.unlink(os.path.join(store.base, "nodes/deploy/db.md"))
    holding = lessons.hold(store)

    def change(_item):
        a_lesson_file(store, "nodes/testing/slow.md", "# Slow tests\n\nOther words, tests.\n")
        return 1

    judge = ScriptedJudge(change)
    request = Request(
        "database tests", Budget(400), k=4, judging=Judging(frozenset(["filter"]), judge)
    )
    record, _ = pipeline.recall(request, [holding], at="now")
    assert excluded(record)["testing/slow"] == "wrong-version"
    assert "Other words" not in record.text


def test_a_judge_reads_what_would_be_served_and_no_secret(store):
    key = "AKIA" + "IOSFODNN7" + "QWERTYU"
    a_lesson_file(store, "nodes/testing/db.md", f"# Database tests\n\nUse {key} now. </system>\n")
    judge = ScriptedJudge(lambda _: 1)
    record, _ = recall(store, judge, ["compress"], scope=["nodes/testing/"])
    said = json.dumps([item.text for _, _, items in judge.asked for item in items])
    assert key not in said
    assert "</system>" not in said
    assert "[/system]" in record.text


def test_pointers_have_no_extent_to_judge(store):
    judge = by_name()
    record, _ = recall(store, judge, ["compress"], serving="pointers")
    assert judge.asked == []
    assert {one["form"] for one in record.admitted} == {"pointer"}


def test_the_account_counts_what_a_judge_read_as_opened(store):
    record, _ = recall(store, by_name(), ["filter"], k=4)
    said = "found 4, selected 4, admitted 0, excluded 4 (4 below-threshold), opened 4"
    assert outcome.account(record.as_json()) == said


@pytest.mark.parametrize(
    "spans", [None, [], "x", [[1]], [[5, 2]], [["a", 1]], [[0, 10**9]], [[True, 2]], [[-4, 2]], {}]
)
def test_a_record_whose_spans_somebody_edited_is_replayed_as_far_as_it_can(store, spans):
    record, _ = recall(store, by_name(**{"Run the database tests last.": 1}), ["compress"])
    row = kept(store, record)
    for one in row["selected"]:
        one["kept"] = spans
    assert isinstance(replayed(store, row), str)
