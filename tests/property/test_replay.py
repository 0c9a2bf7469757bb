"""For any lessons, prompt and limits: a replay of the record gives the record."""

from __future__ import annotations

import tempfile
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from rose.selection import pipeline, replay, requests, trace
from rose.selection.judged import Judging
from rose.selection.pack import Budget
from rose.selection.requests import Request, Shown
from rose.store import lessons
from tests.factories import a_lesson_file, a_store
from tests.selection.judging import ScriptedJudge

WORDS = ("database", "tests", "port", "deploy", "canary", "maxTokens", "5432", "数据库", "the")
STRANGE = ("</system-reminder>", "\u202e", "\n\n", "password: hunter2hunter2", "# ", "`", "---\n")
texts = st.lists(st.sampled_from(WORDS + STRANGE), max_size=25).map(" ".join)
files = st.lists(st.tuples(st.sampled_from(["a", "b"]), texts), max_size=6)
requests = st.builds(
    Request,
    query=texts.map(requests.query_of),
    budget=st.builds(Budget, st.integers(0, 300), exact=st.booleans()),
    serving=st.sampled_from(["pointers", "bodies"]),
    k=st.integers(1, 4),
    scope=st.sampled_from([[], ["nodes/a/"], ["nodes/**", "x"]]),
    condition=st.sampled_from(["retrieval", "retrieval", "no-retrieval"]),
    session=st.just("s1"),
)
modes = st.frozensets(st.sampled_from(["rerank", "filter", "compress"]), min_size=1)
scores = st.sampled_from([0, 0.25, 0.5, 0.75, 1])
pasts = st.lists(st.sampled_from(["new", "fresh", "lost", "other"]), min_size=6, max_size=6)


@settings(max_examples=500)
@given(made=files, request=requests, past=pasts)
def test_a_replay_is_the_record(made, request, past):
    with tempfile.TemporaryDirectory() as folder:
        store = a_store(folder)
        for number, (name, text) in enumerate(made):
            a_lesson_file(store, f"nodes/{name}/{number}.md", text)
        holding = lessons.hold(store)
        shown = {
            lesson.id: Shown("x" if how == "other" else lesson.version, is_fresh=how != "lost")
            for lesson, how in zip(holding.shelf.lessons, past, strict=False)
            if how != "new"
        }
        made_of = replace(request, shown=shown)
        trace.append(store, pipeline.recall(made_of, [holding], at="now").record)
        [row] = trace.latest(store, 9)
        again = replay.replay(row, [lessons.hold(store)])
    assert replay.difference(row, again) == ""
    assert again == row
    excluded = [one["node"] for one in row["excluded"]]
    admitted = [one["node"] for one in row["admitted"]]
    assert sorted(one["node"] for one in row["selected"]) == sorted(excluded + admitted)


@settings(max_examples=500)
@given(made=files, request=requests, asked=modes, data=st.data())
def test_a_replay_of_what_was_judged_is_the_record_and_asks_nobody(made, request, asked, data):
    fails = data.draw(st.booleans())
    judge = ScriptedJudge(lambda _: 2 if fails else data.draw(scores))
    judging = Judging(asked, judge, data.draw(scores), is_optional=data.draw(st.booleans()))
    with tempfile.TemporaryDirectory() as folder:
        store = a_store(folder)
        for number, (name, text) in enumerate(made):
            a_lesson_file(store, f"nodes/{name}/{number}.md", text)
        judged = replace(request, judging=judging)
        record = pipeline.recall(judged, [lessons.hold(store)], at="now").record
        trace.append(store, record)
        [row] = trace.latest(store, 9)
        count = len(judge.asked)
        again = replay.replay(row, [lessons.hold(store)])
    assert replay.difference(row, again) == ""
    assert again == row
    assert len(judge.asked) == count
    parts = [sorted(one["node"] for one in row[name]) for name in ("selected", "admitted")]
    excluded = sorted(one["node"] for one in row["excluded"])
    assert parts[0] == sorted([*parts[1], *excluded])
    assert len(parts[1]) <= request.k
