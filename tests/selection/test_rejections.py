"""The rejections of a session: a page that people edit and rose only adds to."""

from __future__ import annotations

import os
import threading
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rose import files
from rose.errors import Locked
from rose.findings import Refused
from rose.routing import forgotten
from rose.selection import rejections
from rose.selection.rejections import Rejection
from tests.factories import a_store

KEY = "AKIA" + "IOSFODNN7" + "QWERTYU"
PLAIN = Rejection("s1", "deploy/canary", "slow tests", "about shipping", "v1", "t_1", at="now")


@pytest.fixture
def store(tmp_path):
    return a_store(tmp_path)


def known(rows):
    return [replace(row, where="") for row in rows]


def page(store, session="s1"):
    return files.read_text(rejections.path_of(store, session))


def test_what_is_added_is_read_back_in_order_with_its_line(store):
    scoped = replace(PLAIN, node="testing/db", trace="", scope=("nodes/testing/**",))
    for row in (PLAIN, scoped):
        rejections.add(store, row)
    found = rejections.of_session(store, "s1")
    assert (known(found.rows), found.findings) == ([PLAIN, scoped], ())
    lines = page(store).split("\n")
    numbers = [int(row.where.rpartition(":")[2]) for row in found.rows]
    assert [lines[n - 1] for n in numbers] == ["## deploy/canary", "## testing/db"]
    assert rejections.read(store) == found


def test_each_session_has_its_own_page_and_an_id_is_no_path(store):
    rejections.add(store, replace(PLAIN, session="../../escape"))
    rejections.add(store, PLAIN)
    assert len(os.listdir(store.rejections)) == 2
    assert {row.session for row in rejections.read(store).rows} == {"s1", "../../escape"}
    assert [row.session for row in rejections.of_session(store, "s1").rows] == ["s1"]


def test_the_same_rejection_again_changes_nothing(store):
    rejections.add(store, PLAIN)
    before = page(store)
    assert rejections.add(store, replace(PLAIN, at="later", trace="t_2")).at == "now"
    assert page(store) == before
    rejections.add(store, replace(PLAIN, version="v2"))
    assert len(rejections.of_session(store, "s1").rows) == 2


def test_secrets_and_line_breaks_are_gone_before_anything_is_written(store):
    row = Rejection(f"s {KEY}", "a", f"use {KEY}", f"why\n## b\n- query: {KEY}", scope=(KEY,))
    written = rejections.add(store, row)
    [path] = os.listdir(store.rejections)
    text = files.read_text(os.path.join(store.rejections, path))
    assert KEY not in text
    assert "[redacted:" in written.why
    [read] = rejections.of_session(store, f"s {KEY}").rows
    assert (read.node, read.query) == ("a", written.query)


EDITED = """---
kind: rejections
session: s1
owner: me
---
# My page

- query: nobody asked

## deploy/canary
My own words on it.

* Query: slow
   tests of the database
- why: shipping
- mood: bad
- why: again

## testing/db
- why: no query here

##
- query: of what?

## testing/slow
- query: order
- scope: nodes/**

## good
- query: order
- scope: ["nodes/**"]
"""


def test_people_may_edit_and_each_line_that_says_nothing_is_named(store):
    files.replace(rejections.path_of(store, "s1"), EDITED)
    found = rejections.of_session(store, "s1")
    assert [(row.node, row.query, row.why, row.scope) for row in found.rows] == [
        ("deploy/canary", "slow tests of the database", "shipping", None),
        ("good", "order", "", ("nodes/**",)),
    ]
    lines = EDITED.split("\n")
    named = {lines[int(x.where.rpartition(":")[2]) - 1]: x.rule for x in found.findings}
    assert named == {
        "- query: nobody asked": "rejection-line",
        "- mood: bad": "rejection-line",
        "- why: again": "rejection-line",
        "## testing/db": "rejection-unreadable",
        "##": "rejection-unreadable",
        "## testing/slow": "rejection-unreadable",
    }


def test_a_value_goes_on_no_longer_than_one_that_was_typed(store):
    more = "  and more\n" * 50_000
    files.replace(
        rejections.path_of(store, "s1"), f"---\nsession: s1\n---\n## a\n- query: q\n{more}"
    )
    [row] = rejections.of_session(store, "s1").rows
    assert row.query.startswith("q and more and more")
    assert len(row.query) < rejections.MOST_CHARS + 20


def test_what_a_person_wrote_stays_byte_for_byte_when_a_section_is_added(store):
    for text in (EDITED.rstrip("\n"), EDITED.replace("\n", "\r\n")):
        files.replace(rejections.path_of(store, "s1"), text)
        rejections.add(store, PLAIN)
        assert page(store).startswith(text)
        assert PLAIN in known(rejections.of_session(store, "s1").rows)


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        (b"---\nkind: rejections\n---\n## a\n- query: q\n", ":1"),
        (b"---\nsession: [s1\n---\n## a\n- query: q\n", ":"),
        (b"---\nsession: other\n---\n## a\n- query: q\n", ":1"),
        (b"## a\n- query: q\n", ":1"),
        (b"---\nsession: s1\n---\n<<<<<<< a\n## a\n>>>>>>> b\n", ":4"),
        (b"\xff\xfe\n", ""),
    ],
)
def test_a_page_that_cannot_be_read_is_named_and_never_written(store, raw, line):
    path = rejections.path_of(store, "s1")
    files.replace(path, raw)
    assert rejections.of_session(store, "s1").rows == ()
    with pytest.raises(Refused) as refused:
        rejections.add(store, PLAIN)
    assert line in refused.value.findings[0].where
    assert files.read_bytes(path) == raw


def test_a_page_of_another_session_counts_for_neither(store):
    rejections.add(store, replace(PLAIN, session="other"))
    os.rename(rejections.path_of(store, "other"), rejections.path_of(store, "s1"))
    assert rejections.of_session(store, "s1").rows == ()
    assert [row.session for row in rejections.read(store).rows] == ["other"]


def test_forgotten_rules_lie_in_the_same_folder_and_neither_reads_the_other(store):
    files.replace(forgotten.path_of(store, "r_0000aa"), "---\nkind: forgotten-rule\n---\n")
    rejections.add(store, PLAIN)
    files.replace(os.path.join(store.rejections, "notes.md"), "my notes\n")
    assert [row.node for row in rejections.read(store).rows] == ["deploy/canary"]
    assert [old.rule for old in forgotten.read(store)[0]] == ["r_0000aa"]
    assert rejections.read(store).findings == ()


def test_a_folder_that_cannot_be_listed_is_said(store):
    files.replace(store.rejections, "a file")
    assert [one.rule for one in rejections.read(store).findings] == ["rejections-unreadable"]


def test_a_pipe_in_place_of_a_page_is_never_waited_for(store):
    os.makedirs(store.rejections)
    os.mkfifo(rejections.path_of(store, "s1"))
    found = rejections.of_session(store, "s1")
    assert (found.rows, [x.rule for x in found.findings]) == ((), ["rejection-unreadable"])


def test_while_another_process_writes_nothing_is_written(store, monkeypatch):
    monkeypatch.setattr(files, "LOCK_WAIT_S", 0.05)
    with files.lock(store.lock), pytest.raises(Locked):
        rejections.add(store, PLAIN)
    assert not os.path.exists(rejections.path_of(store, "s1"))


def test_of_two_that_write_at_once_neither_is_lost(store):
    def work(part):
        for number in range(10):
            rejections.add(store, replace(PLAIN, node=f"{part}/{number}"))

    threads = [threading.Thread(target=work, args=(part,)) for part in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(rejections.of_session(store, "s1").rows) == 20


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=st.text(max_size=60), why=st.text(max_size=60), scope=st.lists(st.text(max_size=9)))
def test_any_text_comes_back_as_it_was_kept(store, query, why, scope):
    row = replace(PLAIN, query=f"q {query}", why=why, scope=tuple(scope))
    written = rejections.add(store, row)
    assert replace(written, where="") in known(rejections.of_session(store, "s1").rows)
    assert not rejections.of_session(store, "s1").findings
    files.delete(rejections.path_of(store, "s1"))
