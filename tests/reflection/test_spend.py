from __future__ import annotations

import json
import os
import threading
from dataclasses import replace

import pytest

from rose import files
from rose.backends.base import Usage
from rose.config import KEYS, Settings
from rose.errors import Unwritable
from rose.reflection import spend
from rose.values import MOST_CALLS
from tests.factories import a_store

NOW = 1_796_083_200.0
HOUR = 3600
CALL = Usage(1, 100, 10, 2.0)
FREE = replace(
    Settings(), **{key.field: 10**6 for name, key in KEYS.items() if name.startswith("spend.")}
)


@pytest.fixture
def store(tmp_path):
    return a_store(tmp_path)


def note(store, usage=CALL, session="s", now=NOW, outcome="answer"):
    spend.note(store, session, backend="claude", usage=usage, outcome=outcome, now=now)


def left(store, session="s", now=NOW, **limits: int):
    return spend.left(store, replace(FREE, **limits), session, now)


def test_a_call_is_one_line_with_what_it_has_cost_and_how_it_ended(store):
    note(store, outcome="timeout")
    assert json.loads(files.read_text(store.spend)) == {
        "v": 1,
        "at": "2026-12-01T00:00:00Z",
        "session": "s",
        "backend": "claude",
        "calls": 1,
        "input_tokens": 100,
        "output_tokens": 10,
        "seconds": 2.0,
        "outcome": "timeout",
    }


def test_what_was_never_asked_is_not_recorded(store):
    note(store, Usage(), outcome="unavailable")
    assert not os.path.exists(store.spend)


def test_nothing_is_spent_at_first_and_looking_writes_nothing(store):
    assert left(store) == ""
    assert not os.path.exists(store.local)


@pytest.mark.parametrize(
    ("name", "spent"),
    [("calls_per_day", 2), ("tokens_per_day", 220), ("seconds_per_day", 4)],
)
def test_a_limit_of_the_day_holds_for_all_sessions_together(store, name, spent):
    note(store, session="one")
    note(store, session="two", outcome="schema")
    key = f"spend_{name}"
    assert left(store, "three", **{key: spent + 1}) == ""
    said = left(store, "three", **{key: spent})
    assert f"`spend.{name}` is {spent}, and {spent} are spent." in said
    assert f"rose config spend.{name} N" in said


@pytest.mark.parametrize(
    ("name", "spent"),
    [("calls_per_session", 2), ("tokens_per_session", 220), ("seconds_per_session", 4)],
)
def test_a_limit_of_a_session_is_its_own(store, name, spent):
    note(store, session="one")
    note(store, session="one")
    note(store, session="two")
    key = f"spend_{name}"
    assert left(store, "one", **{key: spent + 1}) == ""
    assert left(store, "two", **{key: spent}) == ""
    assert f"spend.{name}" in left(store, "one", **{key: spent})


def test_a_day_is_the_last_24_hours_and_a_session_has_no_day(store):
    note(store, now=NOW - 24 * HOUR)
    assert left(store, "other", spend_calls_per_day=1) == ""
    assert "per_session" in left(store, "s", spend_calls_per_session=1)
    note(store, session="third", now=NOW - 23 * HOUR)
    assert "per_day" in left(store, "other", spend_calls_per_day=1)


def test_a_clock_that_was_set_back_forgets_nothing(store):
    note(store, now=NOW + 20 * HOUR)
    assert "per_day" in left(store, "other", spend_calls_per_day=1)


@pytest.mark.parametrize("name", [name for name in KEYS if name.startswith("spend.")])
def test_a_limit_of_nothing_allows_nothing(store, name):
    assert name in left(store, **{KEYS[name].field: 0})


def test_two_workers_go_over_a_limit_by_one_call_at_most(store):
    limit = {"spend_calls_per_day": 5}
    meet = threading.Barrier(2)

    def work(session):
        while not left(store, session, **limit):
            meet.wait(10)
            note(store, session=session)
            meet.wait(10)

    workers = [threading.Thread(target=work, args=(name,)) for name in ("one", "two")]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert files.read_text(store.spend).count("\n") == 6
    assert left(store, **limit)


def test_lines_that_nobody_wrote_are_passed_over(store):
    os.makedirs(store.local)
    odd = ["{torn", "[]", '{"v":2}', '{"v":1}', '{"v":1,"at":3,"session":"s","seconds":1}']
    odd.append('{"v":1,"at":"2026-12-01","session":"s","seconds":Infinity,"calls":-5}')
    files.replace(store.spend, "\n".join(odd) + "\n")
    note(store)
    assert left(store, spend_calls_per_session=2) == ""
    assert "1 are spent" in left(store, spend_calls_per_session=1)


def test_as_many_calls_as_a_day_may_have_are_all_seen(store):
    note(store, session="x" * 500, usage=Usage(1, 10**12, 10**12, 99999.123))
    line = files.read_text(store.spend)
    assert len(line) * MOST_CALLS <= spend.TAIL_BYTES


def test_only_the_end_of_a_long_record_is_read(store, monkeypatch):
    for _ in range(20):
        note(store)
    monkeypatch.setattr(spend, "TAIL_BYTES", len(files.read_text(store.spend)) // 2)
    assert "10 are spent" in left(store, spend_calls_per_day=10)


def test_nothing_is_asked_where_the_record_cannot_be_read(store):
    os.makedirs(store.spend)
    assert store.spend in left(store)


def test_a_record_is_not_written_through_a_link(store, tmp_path):
    os.makedirs(store.local)
    os.symlink(tmp_path / "elsewhere", store.spend)
    with pytest.raises(Unwritable):
        note(store)
    assert not (tmp_path / "elsewhere").exists()


def test_calls_about_no_session_have_the_limits_of_the_day_alone(store):
    for _ in range(3):
        note(store, session="")
    assert left(store, "", spend_calls_per_session=1) == ""
    assert "spend.calls_per_day" in left(store, "", spend_calls_per_day=3)
    assert "spend.calls_per_day" in left(store, "s", spend_calls_per_day=3)


def test_a_line_of_a_far_day_to_come_blocks_nothing(store):
    note(store, now=NOW + 73 * 365 * 24 * HOUR)
    assert left(store, "other", spend_calls_per_day=1) == ""
    assert "per_session" in left(store, "s", spend_calls_per_session=1)
