"""A replay gives the same record again, or names the first place where it does not."""

from __future__ import annotations

import os

import pytest

from rose.errors import RoseError
from rose.selection import chosen, pipeline, replay, requests, search, trace
from rose.selection.pack import Budget
from rose.selection.requests import Request, Shown
from rose.selection.trace import Candidate, Record
from rose.store import lessons
from tests.factories import a_lesson_file, a_store

KEY = "AKIA" + "IOSFODNN7" + "QWERTYU"
LONG = "# Long\n\n" + "filler " * 200 + "\n\nThe database is here.\n"


@pytest.fixture
def store(tmp_path):
    made = a_store(tmp_path)
    a_lesson_file(made, "nodes/testing/db.md", "# Database\n\nThe tests need port 5432.\n")
    a_lesson_file(made, "nodes/testing/slow.md", "# Slow tests\n\nRun the database tests last.\n")
    a_lesson_file(made, "nodes/long.md", LONG)
    return made


def holdings(store):
    return [lessons.hold(store)]


def recalled(store, prompt="database tests", tokens=400, **fields):
    exact = fields.pop("exact", True)
    request = Request(requests.query_of(prompt), Budget(tokens, exact=exact), **fields)
    record, _ = pipeline.recall(request, holdings(store), at="2026-12-01T00:00:00Z")
    trace.append(store, record)
    return trace.find([store], record.id)


def searched(store, query="database"):
    found = search.search(holdings(store), query, k=2, chars=40)
    shown = [
        Candidate(row.node, row.version, rank, row.score, row.window)
        for rank, row in enumerate(found.rows, 1)
    ]
    budget = {"k": 2, "chars": 40}
    return _kept(store, "search", query, shown, budget)


def shown_evidence(store, query="database"):
    found = search.evidence(holdings(store), "long", query, chars=40, count=1)
    windows = found.windows or (None,)
    shown = [Candidate(found.node, found.version, 1, None, window) for window in windows]
    return _kept(store, "evidence", query, shown, {"chars": 40, "windows": 1})


def _kept(store, kind, query, shown, budget):
    record = Record(
        id=trace.new_id(),
        at="now",
        session="s",
        kind=kind,
        query=query,
        store=trace.state_of(holdings(store)),
        budget=budget,
        candidates=shown,
    )
    trace.append(store, record)
    return trace.find([store], record.id)


def difference(store, row):
    return replay.difference(row, replay.replay(row, holdings(store)))


def today(row, store):
    return replay.today(row, replay.replay(row, holdings(store)), holdings(store))


def now(store):
    return {lesson.id: lesson.version for lesson in lessons.hold(store).shelf.lessons}


MAKERS = {
    "recall": recalled,
    "pointers": lambda store: recalled(store, serving="pointers"),
    "tight": lambda store: recalled(store, tokens=90),
    "in bytes": lambda store: recalled(store, exact=False),
    "nothing": lambda store: recalled(store, "zebra"),
    "no word": lambda store: recalled(store, "the"),
    "left out": lambda store: recalled(store, condition="no-retrieval"),
    "scoped": lambda store: recalled(store, scope=["nodes/testing/"], k=1),
    "held": lambda store: recalled(
        store,
        shown={
            "testing/db": Shown(now(store)["testing/db"], is_fresh=True),
            "testing/slow": Shown("before", is_fresh=True),
        },
    ),
    "search": searched,
    "evidence": shown_evidence,
    "evidence of nothing": lambda store: shown_evidence(store, "zebra"),
}


@pytest.mark.parametrize("make", [recalled, searched, shown_evidence])
def test_a_secret_in_the_query_is_looked_for_no_more_than_it_is_kept(store, make):
    a_lesson_file(store, "nodes/long.md", f"{LONG}\n{KEY}\n\nIt was redacted, that key.\n")
    row = make(store, f"database {KEY}")
    assert KEY not in str(row)
    assert difference(store, row) == ""


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_over_the_same_lessons_a_replay_is_identical(store, make):
    row = make(store)
    again = replay.replay(row, holdings(store))
    assert replay.difference(row, again) == ""
    assert {**again} == {**row}


def test_a_replay_writes_no_record(store):
    row = recalled(store)
    difference(store, row)
    assert len(trace.latest(store, 9)) == 1


@pytest.mark.parametrize("make", [recalled, searched, shown_evidence])
def test_a_changed_lesson_is_the_first_difference(store, make):
    row = make(store)
    a_lesson_file(store, "nodes/long.md", LONG + "\nMore of it.\n")
    a_lesson_file(store, "nodes/testing/db.md", "# Database\n\nThe tests need port 5433.\n")
    assert difference(store, row).startswith("candidates[0].")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"text": "rose recall v1: another text"}, 'text: recorded "rose recall v1: another'),
        ({"tokens": 1}, "tokens: recorded 1, now "),
        ({"failure": "search-failed"}, 'failure: recorded "search-failed", now null'),
        ({"counter": "another"}, 'counter: recorded "another", now "o200k_base"'),
        ({"admitted": []}, "admitted: recorded [], now [{"),
    ],
)
def test_a_record_that_somebody_edited_is_found_out(store, change, said):
    row = {**recalled(store), **change}
    assert difference(store, row).startswith(said)


def test_of_two_texts_the_place_is_shown_where_they_part(store):
    row = recalled(store)
    edited = {**row, "text": row["text"].replace("5432", "5433")}
    assert "5433" in difference(store, edited)
    assert "5432" in difference(store, edited)


def test_today_says_what_would_be_excluded(store):
    row, looked = recalled(store), searched(store)
    weak = {"long": f"below-threshold: {chosen.WEAK}"}
    assert today(row, store) == weak
    os.unlink(os.path.join(store.base, "nodes/testing/db.md"))
    a_lesson_file(store, "nodes/testing/slow.md", "---\nstatus: archived\n---\n# Slow\n")
    a_lesson_file(store, "nodes/long.md", LONG + "\nMore of it.\n")
    versions = row["selected"][-1]["version"], now(store)["long"]
    excluded = {
        "testing/db": "missing: no lesson has this id",
        "testing/slow": "revoked: archived",
        "long": "wrong-version: selected {}, now {}".format(*versions),
    }
    assert today(row, store) == {**excluded, **weak}
    shown = [one["node"] for one in looked["candidates"]]
    assert today(looked, store) == {node: excluded[node] for node in shown}


@pytest.mark.parametrize(
    "change",
    [{"kind": "guess"}, {"budget": {}}, {"budget": None}, {"budget": {"k": "many"}}],
)
def test_what_cannot_be_replayed_is_said(store, change):
    with pytest.raises(RoseError, match="cannot be replayed"):
        replay.replay({**recalled(store), **change}, holdings(store))


@pytest.mark.parametrize("number", [-1, 10**30, True])
@pytest.mark.parametrize("make", [recalled, searched, shown_evidence])
def test_a_limit_that_no_call_can_have_is_said(store, make, number):
    row = make(store)
    for name in row["budget"]:
        if name not in ("serving", "chars") or make is not recalled:
            with pytest.raises(RoseError, match="cannot be replayed"):
                replay.replay({**row, "budget": {**row["budget"], name: number}}, holdings(store))


def test_a_lesson_that_was_selected_twice_by_hand_is_no_crash(store):
    row = recalled(store)
    twice = {**row, "selected": [row["selected"][0]] * 2}
    assert difference(store, twice).startswith("selected[1]")
