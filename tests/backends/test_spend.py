from __future__ import annotations

import json
import os
import threading
from dataclasses import replace

import pytest

from rose import files
from rose.backends import spend
from rose.backends.base import Answer, BackendFailure, Usage
from rose.config import KEYS, Settings
from rose.errors import Deadline, Locked, Unwritable
from rose.values import MOST_CALLS
from tests.factories import a_store
from tests.fakes import a_purse, a_question, spent

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


class Model:
    """A backend that does as a test says, and keeps how long it was given."""

    name, forks = "claude", False

    def __init__(self, does, hindrance="") -> None:
        self.does = does
        self.why = hindrance
        self.given = []

    def hindrance(self):
        return self.why

    def ask(self, _question, timeout_s):
        self.given.append(timeout_s)
        if isinstance(self.does, BaseException):
            raise self.does
        return self.does


ANSWERED = Answer({"rules": []}, CALL, "m")


def ask(store, model, tmp_path, keep=None, **limits):
    return a_purse(store, **limits).ask(model, a_question(tmp_path), keep)


@pytest.mark.parametrize("ends", [SystemExit, KeyboardInterrupt, Deadline])
def test_what_ends_the_process_is_not_replaced_by_a_record_that_cannot_be_written(
    store, tmp_path, ends
):
    os.makedirs(store.local)
    with files.lock(store.spend_lock), pytest.raises(ends):
        ask(store, Model(ends()), tmp_path)
    with pytest.raises(ends):
        ask(store, Model(ends()), tmp_path)
    assert spent(store) == [(1, "interrupted")]


def test_an_answer_is_kept_before_its_cost_is_noted(store, tmp_path):
    kept = []
    os.makedirs(store.local)
    with files.lock(store.spend_lock), pytest.raises(Locked):
        ask(store, Model(ANSWERED), tmp_path, kept.append)
    assert kept == [ANSWERED]


def test_a_question_has_the_time_that_is_left_and_is_not_put_without_enough(store, tmp_path):
    model = Model(ANSWERED)
    ask(store, model, tmp_path, left_s=3.0, least_s=3.0)
    assert model.given == [3.0]
    with pytest.raises(BackendFailure, match=r"2\.9 s are left, it needs 3\.0\.") as caught:
        ask(store, model, tmp_path, left_s=2.9, least_s=3.0)
    assert caught.value.kind == "late"
    assert "`rose config recall.timeout_s N` gives it more." in str(caught.value)
    assert spent(store) == [(1, "answer")]


def test_an_answer_that_comes_too_late_names_the_setting_that_gives_it_more(store, tmp_path):
    late = BackendFailure("timeout", "It was not done after 5 s.", CALL)
    with pytest.raises(BackendFailure) as caught:
        ask(store, Model(late), tmp_path)
    said = "It was not done after 5 s. `rose config recall.timeout_s N` gives it more."
    assert (caught.value.kind, str(caught.value), caught.value.usage) == ("timeout", said, CALL)
    assert spent(store) == [(1, "timeout")]


def test_what_no_time_and_no_money_mends_is_said_first(store, tmp_path):
    model = Model(ANSWERED, "`claude` is not on PATH.")
    with pytest.raises(BackendFailure, match="not on PATH"):
        ask(store, model, tmp_path, left_s=0.0, least_s=1.0, spend_calls_per_day=0)
    assert (model.given, spent(store)) == ([], [])


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
