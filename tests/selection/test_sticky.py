"""What a session turned down is left out for the same need, and what opens it again."""

from __future__ import annotations

import os
import sys
from dataclasses import replace

import pytest

from rose import files
from rose.routing import cases
from rose.selection import (
    pipeline,
    reject,
    rejection_page,
    rejections,
    replay,
    requests,
    sticky,
    trace,
)
from tests.factories import a_ledger_line, a_lesson_file, a_rule_file, a_store
from tests.selection import seen

QUERY = "database tests port"


@pytest.fixture
def store(tmp_path):
    made = a_store(tmp_path)
    a_lesson_file(made, "nodes/testing/db.md", "# Database\n\nTests need the container port.\n")
    a_lesson_file(made, "nodes/testing/slow.md", "# Slow tests\n\nRun the database tests last.\n")
    return made


def turn_down(store, **fields):
    known = {"query": QUERY, "why": "no", "session": "s1", "at": seen.AT}
    return reject.reject(seen.holdings(store), "testing/db", **{**known, **fields})


def standing(store, query=QUERY, session="s1", scope=()):
    return sticky.standing(seen.holdings(store), session, query, scope)


def after_window(store):
    seen.searched(store, QUERY)
    turn_down(store)


def after_passages(store):
    seen.evidence(store, query=QUERY)
    turn_down(store)


def for_the_task(store):
    turn_down(store, by_scope=True)


MAKERS = {"search": after_window, "evidence": after_passages, "scope": for_the_task}
makers = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


def change(store):
    a_lesson_file(store, "nodes/testing/db.md", "# Database\n\nTests need another port.\n")


@makers
def test_within_the_session_it_stands_for_the_same_need_alone(store, make):
    make(store)
    assert list(standing(store)) == ["testing/db"]
    assert list(standing(store, "Please run the Tests: DATABASE port")) == ["testing/db"]
    assert standing(store, session="s2") == {}
    assert standing(store, session="") == {}
    assert standing(store, "ship the canary") == {}
    assert standing(store, "database") == {}
    assert standing(store, "database tests port on a slow disk of another machine") == {}


@makers
def test_what_opens_it_again_depends_on_how_much_was_seen(store, make):
    """The words `container` stands in the lesson, `parallel` does not."""
    make(store)
    is_window, is_scope = make is after_window, make is for_the_task
    assert bool(standing(store, f"{QUERY} container")) is not is_window
    assert bool(standing(store, f"{QUERY} parallel"))
    assert bool(standing(store, scope=["nodes/testing/**"])) is not is_scope
    change(store)
    assert bool(standing(store)) is is_scope


def test_the_scope_of_the_task_is_that_of_the_latest_call(store):
    seen.searched(store, QUERY, scope=["nodes/testing/**"])
    turn_down(store, by_scope=True)
    assert standing(store) == {}
    assert list(standing(store, scope=["nodes/testing/**"])) == ["testing/db"]


def test_the_prompt_that_showed_it_is_the_need_too(store):
    seen.recalled(store, "the database tests cannot reach their port")
    turn_down(store, query="connection")
    assert list(standing(store, "the database tests cannot reach their port, again")) != []
    assert standing(store, "the port") == {}


def test_numbers_tell_needs_apart(store):
    seen.evidence(store, query="port 5432")
    turn_down(store, query="port 5432")
    assert list(standing(store, "port 5432")) == ["testing/db"]
    assert standing(store, "port 8080") == {}


def test_the_particulars_say_how_much_was_seen_and_never_why(store):
    name = seen.searched(store, QUERY)
    turn_down(store, why="because of this")
    assert standing(store) == {"testing/db": f"by this session, search {name}"}


def test_a_row_without_a_version_stands_for_any_version(store):
    path = rejection_page.path_of(store, "s1")
    files.replace(path, "---\nsession: s1\n---\n## testing/db\n- query: database tests port\n")
    assert standing(store) == {"testing/db": "by this session, unrecorded"}
    assert standing(store, f"{QUERY} container") == {}
    change(store)
    assert list(standing(store)) == ["testing/db"]


def test_a_rejection_of_a_lesson_without_a_file_stands_for_nothing(store):
    after_window(store)
    held = seen.holdings(store)
    os.unlink(os.path.join(store.base, "nodes/testing/db.md"))
    assert sticky.standing(held, "s1", QUERY, ()) == {}


def as_latin_1(path):
    files.replace(path, files.read_bytes(path) + b"\xe9\n")


def with_a_conflict(path):
    files.replace(path, files.read_bytes(path).replace(b"kind:", b"<<<<<<< ours\nkind:"))


def as_a_pipe(path):
    os.unlink(path)
    os.mkfifo(path)


def as_a_folder(path):
    os.unlink(path)
    os.mkdir(path)


def too_large(path):
    files.replace(path, files.read_bytes(path) + b"\n" * rejection_page.MOST_BYTES)


def of_another(path):
    files.replace(path, files.read_bytes(path).replace(b"session: s1", b"session: s2"))


@pytest.mark.parametrize(
    "spoil", [as_latin_1, with_a_conflict, as_a_pipe, as_a_folder, too_large, of_another]
)
def test_a_page_that_cannot_be_read_is_said_wherever_it_keeps_nothing_out(store, spoil):
    after_window(store)
    path = rejection_page.path_of(store, "s1")
    spoil(path)
    held = seen.holdings(store)
    faults = []
    assert sticky.standing(held, "s1", QUERY, (), faults) == {}
    assert [one.rule for one in faults] == ["rejection-unreadable"] or spoil is with_a_conflict
    request = requests.of(held, QUERY, session="s1")
    record, problem = pipeline.recall(request, held, at=seen.AT)
    assert (record.failure, "port" in record.text) == (None, True)
    assert problem.startswith("degraded, not all that this session turned down is known: ")
    assert os.path.basename(path) in problem
    assert requests.of(held, QUERY, session="s3").lack == ""


def test_a_page_of_thousands_is_looked_through_for_the_lessons_in_use_alone(store):
    after_window(store)
    [row] = rejection_page.of_session(store, "s1").rows
    path = rejection_page.path_of(store, "s1")
    others = [
        *(replace(row, node=f"other/{n}", query=f"{n} {QUERY}") for n in range(3_000)),
        *(replace(row, version=f"v{n}", query=f"{n} {QUERY}") for n in range(1_000)),
    ]
    files.replace(path, files.read_text(path) + "\n".join(map(rejections.section, others)))
    assert len(rejection_page.of_session(store, "s1").rows) == 4_001
    held, read = seen.holdings(store), []

    def watch(frame, event, _):
        if event == "call" and frame.f_code is sticky.need.__code__:
            read.append(frame.f_locals["query"])

    sys.setprofile(watch)
    try:
        found = sticky.standing(held, "s1", QUERY, ())
    finally:
        sys.setprofile(None)
    assert list(found) == ["testing/db"]
    assert set(read) == {QUERY}


def test_traces_that_are_gone_leave_it_unrecorded_which_stands_as_a_window_does(store):
    after_passages(store)
    files.delete(store.selections)
    assert list(standing(store)) == ["testing/db"]
    assert standing(store, f"{QUERY} container") == {}
    os.makedirs(store.selections)
    assert list(standing(store)) == ["testing/db"]


def test_a_page_from_somewhere_else_can_turn_down_and_do_nothing_more(store):
    """It names its session: no other one is kept from anything."""
    after_window(store)
    raw = files.read_text(rejection_page.path_of(store, "s1"))
    files.replace(rejection_page.path_of(store, "s2"), raw)
    assert standing(store, session="s2") == {}


def test_recall_leaves_it_out_with_its_reason_and_serves_the_rest(store):
    after_window(store)
    rejected = standing(store, "database tests")
    record = seen.recalled(store, "database tests", rejected=rejected)
    assert [one["node"] for one in record.admitted] == ["testing/slow"]
    [out] = record.excluded
    assert (out["node"], out["reason"]) == ("testing/db", "rejected-earlier")
    assert "container" not in record.text
    assert {one["node"] for one in record.selected} == {"testing/db", "testing/slow"}


def test_where_all_of_it_was_turned_down_that_is_no_failure(store):
    after_window(store)
    record = seen.recalled(store, QUERY, k=1, rejected={"testing/db": "x", "testing/slow": "x"})
    assert (record.text, record.failure, len(record.excluded)) == ("", None, 2)
    assert record.excluded[0]["reason"] == "rejected-earlier"


def test_a_replay_takes_it_from_the_record_and_asks_no_page(store):
    after_window(store)
    record = seen.recalled(store, QUERY, rejected=standing(store))
    files.delete(rejection_page.path_of(store, "s1"))
    row = trace.find([store], record.id)
    again = replay.replay(row, seen.holdings(store))
    assert replay.difference(row, again) == ""
    assert {**again} == {**row}
    held = seen.holdings(store)
    today = replay.today(row, replay.replay(row, held), held)
    assert today["testing/db"].startswith("rejected-earlier: ")


def test_of_several_rejections_one_that_stands_is_enough(store):
    after_window(store)
    turn_down(store, query="ship the canary")
    assert list(standing(store)) == ["testing/db"]
    page = rejection_page.of_session(store, "s1")
    assert len(page.rows) == 2
    assert replace(page.rows[0], where="").query == QUERY


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("database tests", "tests of the database", True),
        ("database test", "database tests", True),
        ("database tests", "database tests slow", True),
        ("database tests", "database slow", False),
        ("database", "database tests", False),
        ("ci db", "go db", False),
        ("", "", False),
        ("the of", "the of", False),
    ],
)
def test_two_queries_are_one_need_where_they_share_two_thirds_of_their_words(one, other, is_same):
    assert sticky.is_alike(sticky.need(one), sticky.need(other)) is is_same


def test_a_record_far_back_in_the_traces_shows_what_it_showed(store):
    seen.evidence(store, query=QUERY)
    files.append_line(store.selections, files.dump_json({"filler": "x" * (17 << 20)}))
    turn_down(store)
    assert standing(store)["testing/db"].startswith("by this session, evidence ")


PAGES = "the task rewrites the documentation pages"
SKIP = {"when": PAGES, "then": "nothing in nodes/testing/ applies", "effect": "skip"}


def at_work(store, prompt, **fields):
    rejected = sticky.standing(seen.holdings(store), "", prompt, ())
    return seen.recalled(store, prompt, session="", rejected=rejected, **fields)


@pytest.mark.parametrize(
    ("prompt", "is_kept_out"),
    [
        (PAGES, True),
        ("Rewrite each documentation page: database tests", True),
        ("Rewriting pages of DOCUMENTATION about the database", True),
        ("rewrite the pages on database tests", False),
        ("database tests", False),
    ],
)
def test_a_skip_rule_keeps_its_targets_out_where_a_task_meets_it_outright(
    store, prompt, is_kept_out
):
    rule = a_rule_file(store, **SKIP)
    said = dict.fromkeys(("testing/db", "testing/slow"), f"by the skip rule {rule}")
    assert standing(store, prompt, session="") == (said if is_kept_out else {})


def test_a_match_is_met_outright_by_any_one_of_its_features(store):
    a_rule_file(store, **{**SKIP, "when": ""}, match=["word:docs", "command:mkdocs"])
    assert set(standing(store, "a docs task", session="")) == {"testing/db", "testing/slow"}
    assert standing(store, "a test task", session="") == {}


@pytest.mark.parametrize("when", ["it is not about pages", "it isn't a page", "all but the pages"])
def test_a_condition_that_turns_its_words_around_is_never_met_outright_by_them(store, when):
    a_rule_file(store, **{**SKIP, "when": when})
    assert standing(store, "write pages", session="") == {}


@pytest.mark.parametrize(
    "fields", [{"status": "proposed"}, {"status": "retired"}, {"effect": "prefer"}]
)
def test_only_a_skip_rule_in_use_keeps_anything_out(store, fields):
    a_rule_file(store, **{**SKIP, **fields})
    assert standing(store, PAGES, session="") == {}


def test_what_a_prefer_rule_with_a_better_record_leads_to_is_not_kept_out(store):
    skip = a_rule_file(store, **SKIP)
    prefer = a_rule_file(store, when="it is about pages", then="read nodes/testing/db.md")
    assert set(standing(store, PAGES, session="")) == {"testing/db", "testing/slow"}
    for n, (rule, verdict) in enumerate([(prefer, "followed-useful"), (skip, "misled")], 1):
        case = cases.Case(session=f"c{n}", n=n, verdicts={rule: verdict})
        a_ledger_line(store, lambda n, case=case: {**cases.line_of(case), "n": n})
    assert set(standing(store, PAGES, session="")) == {"testing/slow"}


def test_what_a_skip_rule_keeps_out_is_recorded_and_replayed_without_the_rule(store):
    rule = a_rule_file(store, **SKIP)
    record = at_work(store, f"{PAGES} on database tests")
    assert (record.text, record.failure) == ("", None)
    assert {(x["reason"], x["detail"]) for x in record.excluded} == {
        ("rejected-earlier", f"by the skip rule {rule}")
    }
    os.unlink(os.path.join(store.routing, f"{rule}.md"))
    row = trace.find([store], record.id)
    again = replay.replay(row, seen.holdings(store))
    assert [again[x] for x in ("excluded", "text")] == [row[x] for x in ("excluded", "text")]
    assert at_work(store, f"{PAGES} on database tests").text


def test_the_session_itself_is_named_before_a_rule(store):
    a_rule_file(store, **{**SKIP, "when": QUERY})
    after_window(store)
    assert standing(store)["testing/db"].startswith("by this session, search ")
    assert standing(store, session="")["testing/db"].startswith("by the skip rule ")
