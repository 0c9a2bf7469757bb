"""The rejections of a session: a page that people edit and rose only adds to."""

from __future__ import annotations

import os
import threading
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rose import files
from rose.errors import Locked, Unwritable
from rose.findings import Refused
from rose.routing import forgotten
from rose.selection import rejection_page, rejections
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
    return files.read_text(rejection_page.path_of(store, session))


def test_what_is_added_is_read_back_in_order_with_its_line(store):
    scoped = replace(PLAIN, node="testing/db", trace="", scope=("nodes/testing/**",))
    for row in (PLAIN, scoped):
        rejection_page.add(store, row)
    found = rejection_page.of_session(store, "s1")
    assert (known(found.rows), found.findings) == ([PLAIN, scoped], ())
    lines = page(store).split("\n")
    numbers = [int(row.where.rpartition(":")[2]) for row in found.rows]
    assert [lines[n - 1] for n in numbers] == ["## deploy/canary", "## testing/db"]
    assert rejection_page.read(store) == found


def test_each_session_has_its_own_page_and_an_id_is_no_path(store):
    rejection_page.add(store, replace(PLAIN, session="../../escape"))
    rejection_page.add(store, PLAIN)
    assert len(os.listdir(store.rejections)) == 2
    assert {row.session for row in rejection_page.read(store).rows} == {"s1", "../../escape"}
    assert [row.session for row in rejection_page.of_session(store, "s1").rows] == ["s1"]


def test_the_same_rejection_again_changes_nothing(store):
    rejection_page.add(store, PLAIN)
    before = page(store)
    assert rejection_page.add(store, replace(PLAIN, at="later", trace="t_2")).at == "now"
    assert page(store) == before
    rejection_page.add(store, replace(PLAIN, version="v2"))
    assert len(rejection_page.of_session(store, "s1").rows) == 2


def test_secrets_and_line_breaks_are_gone_before_anything_is_written(store):
    row = Rejection(f"s {KEY}", "a", f"use {KEY}", f"why\n## b\n- query: {KEY}", scope=(KEY,))
    written = rejection_page.add(store, row)
    [path] = os.listdir(store.rejections)
    text = files.read_text(os.path.join(store.rejections, path))
    assert KEY not in text
    assert "[redacted:" in written.why
    [read] = rejection_page.of_session(store, f"s {KEY}").rows
    assert (read.node, read.query) == ("a", written.query)


FOREIGN = "x\n## other/lesson\n- query: database\n- scope: []\n"


@pytest.mark.parametrize("name", ["version", "trace", "at", "why", "query", "session"])
def test_what_a_trace_says_writes_no_section_of_its_own(store, name):
    row = replace(PLAIN, **{name: FOREIGN})
    rejection_page.add(store, row)
    found = rejection_page.of_session(store, row.session)
    assert [(one.node, one.scope) for one in found.rows] == [("deploy/canary", None)]
    assert not found.findings


@pytest.mark.parametrize("node", [f"a\n## {FOREIGN}", "", " a", "a\n", "a\ud800"])
def test_a_lesson_that_no_section_can_name_is_refused(store, node):
    rejection_page.add(store, PLAIN)
    before = page(store)
    with pytest.raises(Refused) as refused:
        rejection_page.add(store, replace(PLAIN, node=node))
    assert [one.rule for one in refused.value.findings] == ["rejection-unfit"]
    assert page(store) == before


@pytest.mark.parametrize("fields", [{"query": "\u200b \n"}, {"session": " \u200b"}])
def test_without_a_query_or_a_session_nothing_is_written(store, fields):
    with pytest.raises(Refused):
        rejection_page.add(store, replace(PLAIN, **fields))
    assert not os.path.exists(store.rejections)


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
    files.replace(rejection_page.path_of(store, "s1"), EDITED)
    found = rejection_page.of_session(store, "s1")
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
        rejection_page.path_of(store, "s1"), f"---\nsession: s1\n---\n## a\n- query: q\n{more}"
    )
    [row] = rejection_page.of_session(store, "s1").rows
    assert row.query.startswith("q and more and more")
    assert len(row.query) <= rejections.MOST_CHARS


LONG = "\U0001f980 " * 2_000


def test_a_page_never_grows_beyond_what_its_reader_takes(store):
    """Each write but the last one leaves a page that lists all that was turned down."""

    def fill():
        for number in range(400):
            row = replace(PLAIN, node=f"n/{number}", query=f"{number} {LONG}", why=LONG)
            rejection_page.add(store, row)

    with pytest.raises(Refused) as refused:
        fill()
    assert refused.value.findings[0].rule == "rejections-full"
    found = rejection_page.of_session(store, "s1")
    assert len(found.rows) > 100
    assert not found.findings
    assert len(page(store).encode()) <= rejection_page.MOST_BYTES


def test_a_long_value_is_cut_and_comes_back_as_it_was_kept(store):
    written = rejection_page.add(store, replace(PLAIN, query=LONG, why="a " * 5_000))
    assert {len(written.query), len(written.why)} == {rejections.MOST_CHARS - 1}
    [row] = rejection_page.of_session(store, "s1").rows
    assert replace(row, where="") == written


@pytest.mark.parametrize("shown", range(len(KEY)))
def test_a_secret_at_the_cut_is_no_less_one(store, shown):
    text = "x" * (rejections.MOST_CHARS - shown - 1) + f" {KEY} and more"
    rejection_page.add(store, replace(PLAIN, query=text, why=text, scope=(text,)))
    assert KEY[:4] not in page(store)
    assert len(rejection_page.of_session(store, "s1").rows) == 1


def test_what_a_person_wrote_stays_byte_for_byte_when_a_section_is_added(store):
    for text in (EDITED.rstrip("\n"), EDITED.replace("\n", "\r\n")):
        files.replace(rejection_page.path_of(store, "s1"), text)
        rejection_page.add(store, PLAIN)
        assert page(store).startswith(text)
        assert PLAIN in known(rejection_page.of_session(store, "s1").rows)


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
    path = rejection_page.path_of(store, "s1")
    files.replace(path, raw)
    assert rejection_page.of_session(store, "s1").rows == ()
    with pytest.raises(Refused) as refused:
        rejection_page.add(store, PLAIN)
    assert line in refused.value.findings[0].where
    assert files.read_bytes(path) == raw


def test_a_page_of_another_session_counts_for_neither(store):
    rejection_page.add(store, replace(PLAIN, session="other"))
    os.rename(rejection_page.path_of(store, "other"), rejection_page.path_of(store, "s1"))
    found = rejection_page.read(store)
    assert found == rejection_page.of_session(store, "s1")
    assert found.rows == ()
    [finding] = found.findings
    own = os.path.basename(rejection_page.path_of(store, "other"))
    assert (finding.rule, own in finding.repair) == ("rejection-unreadable", True)


@pytest.mark.parametrize("name", ["mine.md", "s1.md", "R_0000aa.md"])
def test_a_page_under_a_name_of_a_persons_own_is_said_with_the_name_it_needs(store, name):
    rejection_page.add(store, PLAIN)
    own = rejection_page.path_of(store, "s1")
    os.rename(own, os.path.join(store.rejections, name))
    [finding] = rejection_page.read(store).findings
    assert (finding.where, finding.severity) == (f".rose/rejections/{name}", "error")
    assert f"Call it {os.path.basename(own)}." in finding.repair


def test_a_file_of_any_name_that_nobody_can_read_is_said(store):
    files.replace(os.path.join(store.rejections, "mine.md"), b"\xff\n")
    assert [one.rule for one in rejection_page.read(store).findings] == ["rejection-unreadable"]


@pytest.mark.parametrize("raw", ["what is this", "---\nsession: s1\n---\n## a\n- query: q\n"])
def test_a_file_that_is_meant_for_a_page_is_named_whatever_its_name_and_text(store, raw):
    files.replace(os.path.join(store.rejections, "s_zzzz.md"), raw)
    found = rejection_page.read(store)
    assert found.rows == ()
    assert {one.where.partition(":")[0] for one in found.findings} == {".rose/rejections/s_zzzz.md"}


def test_forgotten_rules_lie_in_the_same_folder_and_neither_reads_the_other(store):
    files.replace(forgotten.path_of(store, "r_0000aa"), "---\nkind: forgotten-rule\n---\n")
    rejection_page.add(store, PLAIN)
    files.replace(os.path.join(store.rejections, "notes.md"), "my notes\n")
    assert [row.node for row in rejection_page.read(store).rows] == ["deploy/canary"]
    assert [old.rule for old in forgotten.read(store)[0]] == ["r_0000aa"]
    assert rejection_page.read(store).findings == ()


def test_a_folder_that_cannot_be_listed_is_said(store):
    files.replace(store.rejections, "a file")
    assert [one.rule for one in rejection_page.of_session(store, "s1").findings] == [
        "rejection-unreadable"
    ]
    assert [one.rule for one in rejection_page.read(store).findings] == ["rejections-unreadable"]


def test_a_pipe_in_place_of_a_page_is_never_waited_for(store):
    os.makedirs(store.rejections)
    os.mkfifo(rejection_page.path_of(store, "s1"))
    found = rejection_page.of_session(store, "s1")
    assert (found.rows, [x.rule for x in found.findings]) == ((), ["rejection-unreadable"])


def test_a_page_that_is_a_link_stays_one_and_what_it_leads_to_is_written(store):
    rejection_page.add(store, PLAIN)
    path, target = rejection_page.path_of(store, "s1"), os.path.join(store.base, "turned.md")
    os.rename(path, target)
    os.symlink(os.path.join("..", "..", "turned.md"), path)
    rejection_page.add(store, replace(PLAIN, node="testing/db"))
    assert os.path.islink(path)
    assert files.read_text(target).count("\n## ") == 2
    assert len(rejection_page.of_session(store, "s1").rows) == 2


@pytest.mark.parametrize("aim", ["outside.md", "repo/turned.txt", "repo/.git/turned.md", "nowhere"])
def test_a_link_out_of_the_store_or_to_no_page_is_neither_read_nor_written(store, tmp_path, aim):
    target = os.path.join(os.path.realpath(tmp_path), aim)
    raw = "---\nsession: s1\n---\n## testing/db\n- query: q\n"
    if aim != "nowhere":
        files.replace(target, raw)
    os.makedirs(store.rejections)
    os.symlink(target, rejection_page.path_of(store, "s1"))
    for found in (rejection_page.of_session(store, "s1"), rejection_page.read(store)):
        assert (found.rows, [x.rule for x in found.findings]) == ((), ["rejection-unreadable"])
    with pytest.raises(Refused):
        rejection_page.add(store, PLAIN)
    assert os.path.islink(rejection_page.path_of(store, "s1"))
    assert aim == "nowhere" or files.read_text(target) == raw


def test_a_folder_of_rejections_that_is_a_link_is_neither_read_nor_written(store, tmp_path):
    rejection_page.add(store, PLAIN)
    elsewhere = os.path.join(tmp_path, "elsewhere")
    os.rename(store.rejections, elsewhere)
    os.symlink(elsewhere, store.rejections)
    for found in (rejection_page.of_session(store, "s1"), rejection_page.read(store)):
        assert (found.rows, [x.rule for x in found.findings]) == ((), ["rejection-unreadable"])
    for row in (replace(PLAIN, node="b"), replace(PLAIN, session="s2")):
        with pytest.raises((Refused, Unwritable)):
            rejection_page.add(store, row)
    assert len(os.listdir(elsewhere)) == 1


def test_while_another_process_writes_nothing_is_written(store, monkeypatch):
    monkeypatch.setattr(files, "LOCK_WAIT_S", 0.05)
    with files.lock(store.lock), pytest.raises(Locked):
        rejection_page.add(store, PLAIN)
    assert not os.path.exists(rejection_page.path_of(store, "s1"))


def test_of_two_that_write_at_once_neither_is_lost(store):
    def work(part):
        for number in range(10):
            rejection_page.add(store, replace(PLAIN, node=f"{part}/{number}"))

    threads = [threading.Thread(target=work, args=(part,)) for part in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(rejection_page.of_session(store, "s1").rows) == 20


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=st.text(max_size=60), why=st.text(max_size=60), scope=st.lists(st.text(max_size=9)))
def test_any_text_comes_back_as_it_was_kept(store, query, why, scope):
    row = replace(PLAIN, query=f"q {query}", why=why, scope=tuple(scope))
    written = rejection_page.add(store, row)
    assert replace(written, where="") in known(rejection_page.of_session(store, "s1").rows)
    assert not rejection_page.of_session(store, "s1").findings
    files.delete(rejection_page.path_of(store, "s1"))
