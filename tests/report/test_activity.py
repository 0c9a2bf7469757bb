"""The matrix of what arrived, from the log of reflections; and the hook's latest failure."""

from __future__ import annotations

import calendar
import time

import pytest

from rose import files, session
from rose.report import activity
from tests import factories

NOON = "2026-11-30T12:00:00Z"
NOW = float(calendar.timegm(time.strptime(NOON, session.TIME)))


@pytest.fixture
def store(tmp_path):
    return factories.a_store(tmp_path)


def reflected(store, name, host="claude-code", event="UserPromptSubmit", **counts):
    line = {"v": 1, "session": name, "host": host, "arrivals": [{"event": event, **counts}]}
    files.append_line(store.trace, files.dump_json(line))


def matrix(store):
    return {(row.host, row.event): row.counts() for row in activity.arrivals(store)}


def counts(whole=0, cut=0, none=0, unknown=0):
    return {"whole": whole, "cut": cut, "none": none, "unknown": unknown}


def test_blocks_add_up_by_host_and_event(store):
    reflected(store, "s1", whole=2, none=1)
    reflected(store, "s2", whole=1, cut=1)
    reflected(store, "s2", host="codex", unknown=1)
    reflected(store, "s3", event="SubagentStart", whole=4)
    assert matrix(store) == {
        ("claude-code", "SubagentStart"): counts(whole=4),
        ("claude-code", "UserPromptSubmit"): counts(whole=3, cut=1, none=1),
        ("codex", "UserPromptSubmit"): counts(unknown=1),
    }


def test_the_latest_reading_of_a_session_counts_alone(store):
    reflected(store, "s1", none=1)
    reflected(store, "s2", whole=1)
    reflected(store, "s1", whole=2)
    (row,) = activity.arrivals(store)
    assert [one.whole for one in row.each] == [2, 1]
    assert row.counts() == counts(whole=3)


def test_sessions_that_were_sent_nothing_and_lines_that_say_nothing_are_left_out(store):
    reflected(store, "s1", whole=0)
    reflected(store, "s2", host="vim", whole=1)
    reflected(store, "s3", event="Rose", whole=1)
    for line in ({"session": "s4", "host": "codex"}, {"session": ["s5"], "host": ["codex"]}):
        files.append_line(store.trace, files.dump_json({"v": 1, **line}))
    assert activity.arrivals(store) == ()


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        ([{"none": 2}, {"none": 1, "unknown": 1}], ["claude-code"]),
        ([{"none": 2}, {"cut": 1}], []),
        ([{"none": 2}, {"whole": 1}], []),
        ([{"unknown": 2}], []),
    ],
)
def test_never_is_said_of_a_host_in_which_nothing_at_all_arrived(store, ends, expected):
    for number, (event, end) in enumerate(
        zip(("UserPromptSubmit", "SubagentStart"), ends, strict=False)
    ):
        reflected(store, f"s{number}", event=event, **end)
    assert activity.never(activity.arrivals(store)) == expected


def failed(store, at, problem):
    line = {"v": 1, "at": at, "event": "Stop", "host": "codex", "problem": problem}
    files.append_line(store.log, files.dump_json(line))


def test_a_failure_is_current_for_a_week(store):
    failed(store, "2026-11-23T11:59:59Z", "old")
    assert activity.latest_failure([store], NOW) is None
    failed(store, "2026-11-23T12:00:00Z", "new")
    found = activity.latest_failure([store], NOW)
    assert (found.problem, found.age) == ("new", "7 days ago")


def test_the_latest_of_all_stores_is_shown(tmp_path, store):
    other = factories.a_store(tmp_path, "other")
    failed(store, "2026-11-30T11:00:00Z", "first")
    failed(other, "2026-11-30T11:30:00Z", "second")
    assert activity.latest_failure([store, other], NOW).problem == "second"
    assert activity.latest_failure([other, store], NOW).problem == "second"


def test_a_line_without_a_time_is_not_called_old(store):
    failed(store, "soon", "when?")
    found = activity.latest_failure([store], NOW)
    assert (found.problem, found.age) == ("when?", "")


def test_a_log_that_cannot_be_read_comes_before_any_failure(tmp_path, store):
    other = factories.a_store(tmp_path, "other")
    failed(store, NOON, "a failure")
    files.replace(other.log + "/x", "a folder in place of the file")
    found = activity.latest_failure([store, other], NOW)
    assert found.is_log
    assert found.problem.startswith(other.log)
