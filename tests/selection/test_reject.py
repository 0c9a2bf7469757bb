"""Turning a lesson down: only what was seen, and listed with what it rests on."""

from __future__ import annotations

import os

import pytest

from rose import files
from rose.errors import RoseError
from rose.findings import Refused
from rose.selection import reject, rejection_page
from tests.factories import a_lesson_file, a_store
from tests.selection import seen

KEY = "AKIA" + "IOSFODNN7" + "QWERTYU"


@pytest.fixture
def store(tmp_path):
    made = a_store(tmp_path)
    a_lesson_file(made, "nodes/testing/db.md", "# Database\n\nThe tests need port 5432.\n")
    a_lesson_file(made, "nodes/deploy/canary.md", "# Canary\n\nShip to one host, then wait.\n")
    return made


def turn_down(store, node="testing/db", **fields):
    known = {"query": "database", "why": "no", "session": "s1", "at": seen.AT}
    return reject.reject(seen.holdings(store), node, **{**known, **fields})


def test_what_a_record_of_the_session_showed_may_be_turned_down(store):
    name = seen.searched(store)
    done = turn_down(store, "db", query=f"port {KEY}")
    assert (done.row.node, done.row.trace, done.seen.stage) == ("testing/db", name, "search")
    assert (done.now, done.is_changed) == (done.row.version, False)
    assert KEY not in files.read_text(rejection_page.path_of(store, "s1"))


def test_only_evidence_or_a_window_of_this_session_counts(store):
    seen.searched(store, "ship one host")
    seen.searched(store, session="s2")
    seen.evidence(store, query="zebra")
    seen.recalled(store, serving="pointers")
    with pytest.raises(Refused) as refused:
        turn_down(store, query="it's the port")
    [finding] = refused.value.findings
    assert (finding.rule, finding.where) == ("reject-unseen", "testing/db")
    assert """rose evidence testing/db 'it'"'"'s the port' --log s1""" in finding.repair
    assert not os.path.exists(store.rejections)


def test_the_task_alone_may_rule_out_what_nobody_looked_at(store):
    done = turn_down(store, by_scope=True)
    assert (done.seen.stage, done.row.trace, done.row.scope) == ("scope", "", ())
    seen.searched(store, scope=["nodes/testing/**"])
    done = turn_down(store, by_scope=True, why="another")
    assert (done.row.scope, done.seen.chars > 0) == (("nodes/testing/**",), True)


def test_a_rejection_is_of_the_version_that_was_seen(store):
    seen.searched(store)
    a_lesson_file(store, "nodes/testing/db.md", "# Database\n\nThe tests need port 5433.\n")
    done = turn_down(store)
    assert (done.is_changed, done.row.version != done.now) == (True, True)


def test_the_same_words_after_more_was_seen_are_a_section_of_their_own(store):
    seen.searched(store)
    first = turn_down(store)
    assert turn_down(store).row.trace == first.row.trace
    seen.searched(store)
    assert turn_down(store).row.trace == first.row.trace
    read = seen.evidence(store)
    more = turn_down(store)
    assert (more.seen.stage, more.row.trace) == ("evidence", read)
    seen.searched(store)
    assert turn_down(store).seen.stage == "evidence"
    rows = reject.listing(seen.holdings(store)).rows
    assert [one.seen.stage for one in rows] == ["search", "evidence"]


def test_the_task_as_the_reason_is_one_section_whatever_was_seen_meanwhile(store):
    turn_down(store, by_scope=True)
    seen.searched(store)
    seen.evidence(store)
    turn_down(store, by_scope=True)
    [only] = reject.listing(seen.holdings(store)).rows
    assert only.seen.stage == "scope"


def test_an_unknown_lesson_and_traces_that_cannot_be_read_turn_nothing_down(store):
    with pytest.raises(RoseError, match="No lesson 'zebra'"):
        turn_down(store, "zebra", by_scope=True)
    os.makedirs(store.selections)
    with pytest.raises(OSError, match="no regular file"):
        turn_down(store)
    assert not os.path.exists(store.rejections)


def test_the_list_says_what_was_seen_and_whether_the_lesson_is_still_the_same(store):
    seen.searched(store)
    seen.searched(store, "ship one host", session="s2")
    turn_down(store)
    turn_down(store, "canary", session="s2", query="ship")
    os.unlink(os.path.join(store.base, "nodes/deploy/canary.md"))
    rows = {one.row.session: one.as_json() for one in reject.listing(seen.holdings(store)).rows}
    assert (rows["s1"]["stage"], rows["s1"]["changed"]) == ("search", False)
    assert rows["s1"]["chars"] > 0
    assert (rows["s2"]["now"], rows["s2"]["changed"]) == (None, True)
    [only] = reject.listing(seen.holdings(store), "s1").rows
    assert only.row.session == "s1"


def test_traces_that_cannot_be_read_are_said_and_the_list_goes_on(store):
    seen.searched(store)
    turn_down(store)
    files.delete(store.selections)
    os.makedirs(store.selections)
    found = reject.listing(seen.holdings(store))
    assert [one.seen.stage for one in found.rows] == ["unrecorded"]
    assert [one.rule for one in found.findings] == ["traces-unreadable"]


def test_a_row_without_a_version_is_neither_changed_nor_the_same(store):
    files.replace(
        rejection_page.path_of(store, "s1"), "---\nsession: s1\n---\n## testing/db\n- query: x\n"
    )
    [one] = reject.listing(seen.holdings(store)).rows
    assert (one.is_changed, one.as_json()["version"]) == (None, None)
