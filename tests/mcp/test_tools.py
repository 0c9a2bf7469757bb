"""The three tools as functions: what each gives, records and refuses."""

from __future__ import annotations

import os
import re

import pytest

from rose import files, layout
from rose.errors import NoStore, RoseError, UsageError
from rose.mcp import desk, tools
from rose.selection import reject, requests, search, stages, trace
from rose.store import lessons
from tests.clirun import run
from tests.factories import a_lesson_file, a_rule_file, a_store

AT = "2026-12-01T00:00:00Z"
KEY = "AKIA" + "IOSFODNN7" + "QWERTYU"
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ALL = {"search": {"query": "x"}, "open": {"node": "x"}, "explain": {"node": "x"}}


@pytest.fixture
def store(tmp_path):
    made = a_store(tmp_path / "home")
    a_lesson_file(made, "nodes/testing/db.md", "# Database\n\nThe tests need port 5432.\n\nWait.\n")
    a_lesson_file(made, "nodes/testing/slow.md", "# Slow tests\n\nRun the database tests last.\n")
    a_lesson_file(made, "nodes/deploy/canary.md", "# Canary\n\nShip to one host first.\n")
    return made


def call(store, name, own="", **given):
    where = desk.Desk(lambda: layout.Stores(store, None, "test"), lambda: AT, own)
    return tools.call(where, name, given)


def records(store):
    return trace.latest(store, 99)


def test_a_search_gives_the_rows_that_the_command_prints(store):
    found = call(store, "search", query="database tests", k=2, chars=20, scope=["nodes/testing/"])
    words = ["search", "database tests", "--k", "2", "--chars", "20", "--scope", "nodes/testing/"]
    assert found.fields == {"rows": run(*words, "--json", cwd=store.base).json, "said": []}
    assert len(found.fields["rows"]) == 2
    assert found.text.startswith("1. testing/db - Database\n   nodes/testing/db.md\n   ")


def test_passages_are_those_that_the_command_prints(store):
    found = call(store, "open", node="db", query="port", windows=1, chars=20)
    words = ["evidence", "db", "port", "--windows", "1", "--chars", "20", "--json"]
    printed = run(*words, cwd=store.base).json
    assert {name: found.fields[name] for name in printed} == printed
    assert [one["text"] for one in printed["windows"]] == ["need port 5432."]
    assert found.fields["path"] == "nodes/testing/db.md"


def test_an_opening_gives_the_text_of_the_file_and_its_place(store):
    found = call(store, "open", node="testing/db")
    text = files.read_text(os.path.join(store.base, "nodes/testing/db.md"))
    shown = run("show", "testing/db", "--json", cwd=store.base).json
    assert found.fields["text"] == text == shown["text"]
    assert [found.fields[name] for name in ("title", "path", "version")] == [
        shown[name] for name in ("title", "path", "version")
    ]
    assert found.fields["lines"] == {"first": 1, "last": 5, "of": 5}
    assert found.text == f"nodes/testing/db.md, lines 1 to 5 of 5:\n{text.rstrip()}"


def test_an_opening_of_some_lines_says_nothing_of_a_rest(store):
    found = call(store, "open", node="db", first=3, last=3)
    assert (found.fields["text"], found.fields["said"]) == ("The tests need port 5432.\n", [])


def test_what_is_too_long_for_one_call_is_said_with_the_next(store):
    a_lesson_file(store, "nodes/long.md", "".join(f"{n:0100}\n" for n in range(900)))
    found = call(store, "open", node="long")
    last = found.fields["lines"]["last"]
    assert f"lines 1 to {last} of 900: open it from {last + 1} on" in found.fields["said"][0]
    again = call(store, "open", node="long", first=last + 1)
    assert again.fields["text"].startswith(f"{last:0100}\n")


def test_a_lesson_that_was_only_read_in_part_says_so(store):
    a_lesson_file(store, "nodes/big.md", "# Big\n" + "filler words\n" * 90_000)
    said = "nodes/big.md has more than a mebibyte; only its first was read."
    assert call(store, "open", node="big", first=80_000).fields["said"][-1] == said
    assert call(store, "open", node="big", query="zebra").fields["said"][-1] == said


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("the", "The query holds no word that could be looked for."),
        ("zebra", "No lesson is about that."),
    ],
)
def test_a_search_without_a_result_is_a_sentence(store, query, said):
    found = call(store, "search", query=query)
    assert (found.fields, found.text) == ({"rows": [], "said": [said]}, said)


def test_a_lesson_says_of_a_query_that_it_says_nothing(store):
    found = call(store, "open", node="db", query="zebra")
    assert found.fields["windows"] == []
    assert found.fields["said"] == ["testing/db says nothing about that."]


def test_lines_of_the_header_are_recorded_as_none_of_what_the_lesson_says(store):
    a_lesson_file(store, "nodes/head.md", "---\ntitle: Ports\n---\n# Ports\n\nPort 5432.\n")
    for last, seen in ((1, None), (3, None), (4, "search"), (6, "evidence")):
        call(store, "open", "s-1", node="head", first=1, last=last)
        sight = stages.sight(records(store)[-1], "head")
        assert (None if sight is None else sight.stage) == seen


def test_what_was_shown_is_recorded_for_the_session(store):
    rows = call(store, "search", "s-1", query="database", k=1, chars=30).fields["rows"]
    whole = call(store, "open", "s-1", node="db").fields
    passages = call(store, "open", "s-1", node="db", query="port").fields["windows"]
    call(store, "open", "s-1", node="db", first=3, last=3)
    found = records(store)
    assert [(row["kind"], row["session"], row["at"]) for row in found] == [
        ("search", "s-1", AT),
        *[("evidence", "s-1", AT)] * 3,
    ]
    assert [row["budget"] for row in found] == [
        {"k": 1, "chars": 30},
        {"first": 1, "last": 5, "whole": True},
        {"chars": search.EVIDENCE_CHARS, "windows": search.WINDOWS},
        {"first": 3, "last": 3, "whole": False},
    ]
    [searched, opened, looked, lines] = [row["candidates"] for row in found]
    assert [one["window"] for one in searched] == [row["window"] for row in rows]
    assert opened[0]["version"] == whole["version"]
    assert opened[0]["window"]["end"] - opened[0]["window"]["start"] == len(whole["text"])
    assert [one["window"] for one in looked] == passages
    assert (lines[0]["window"]["start"], lines[0]["window"]["end"]) == (12, 38)


def test_a_session_that_the_call_names_goes_before_the_one_that_the_program_says(store):
    call(store, "search", "s-1", query="database", session="s-2")
    assert [row["session"] for row in records(store)] == ["s-2"]


def test_without_a_session_and_for_an_explanation_nothing_is_recorded(store):
    call(store, "search", query="database")
    call(store, "open", node="db")
    call(store, "explain", "s-1", node="db", query="database")
    assert not os.path.exists(store.selections)


def test_a_record_that_cannot_be_written_is_said_and_changes_nothing_else(store):
    without = call(store, "search", query="database").fields
    os.makedirs(store.selections)
    found = call(store, "search", "s-1", query="database").fields
    assert found["rows"] == without["rows"]
    assert [one.startswith("[not logged] ") for one in found["said"]] == [True]


def test_why_a_lesson_was_not_offered_names_its_place_and_its_rules(store):
    then = "read nodes/testing/db.md"
    a_rule_file(
        store,
        id="r_0000aa",
        when="the task runs the tests",
        then=then,
        targets=["nodes/testing/db.md"],
        status="proposed",
    )
    found = call(store, "explain", node="testing/db", query="ship to the host")
    recall = found.fields["recall"]
    assert (recall["offered"], recall["reason"]) == (False, "not-selected")
    [rule] = found.fields["rules"]
    assert (rule["id"], rule["in_layer"], rule["met"]) == ("r_0000aa", False, 0.0)
    assert rule["reason"] == "proposed"
    assert rule["said"] == "waits for a decision: rose route --approve r_0000aa"
    assert "It is no candidate. not-selected: nothing ties it to the prompt." in found.text


def test_why_a_lesson_was_offered_says_what_gave_its_score(store):
    found = call(store, "explain", node="db", query="port 5432")
    recall = found.fields["recall"]
    assert (recall["offered"], recall["rank"], recall["detail"]) == (True, 1, "whole")
    assert next(iter(recall["why"])) == "text"
    assert "candidate 1 of 1 with a score of" in found.text


def test_without_a_query_the_rules_alone_are_told(store):
    found = call(store, "explain", node="db")
    assert (found.fields["recall"], found.fields["rules"]) == (None, [])
    assert "No rule leads to it." in found.fields["said"]


def test_an_archived_lesson_can_be_explained(store):
    a_lesson_file(store, "nodes/old.md", "---\nstatus: archived\n---\n# Old database\n")
    found = call(store, "explain", node="old", query="old database")
    assert (found.fields["status"], found.fields["recall"]["reason"]) == ("archived", "revoked")


@pytest.mark.parametrize("given", [{}, {"query": "port"}], ids=["whole", "passages"])
def test_what_was_opened_can_be_turned_down_and_is_explained_by_that(store, given):
    call(store, "open", "s-1", node="db", **given)
    holdings = [lessons.hold(store)]
    reject.reject(holdings, "db", query="port 5432", why="It is old.", session="s-1", at=AT)
    [row] = reject.listing(holdings).rows
    assert row.as_json()["stage"] == "evidence"
    explained = [
        call(store, "explain", session, node="db", query="port 5432").fields["recall"]
        for session in ("s-1", "s-2")
    ]
    assert [one["reason"] for one in explained] == ["rejected-earlier", "served"]


def test_an_explanation_reads_the_stores_once(store):
    asked = []

    def find():
        asked.append(1)
        return layout.Stores(store, None, "test")

    for ref in ("db", "r_0000aa"):
        a_rule_file(store, id="r_0000aa", targets=["nodes/testing/"])
        tools.call(desk.Desk(find, lambda: AT), "explain", {"node": ref, "query": "port"})
    assert len(asked) == 2


def test_an_opening_shows_the_header_and_passages_do_not(store):
    text = "---\ntitle: Ports\norigin: manual\n---\nA manual port is 5432.\n"
    a_lesson_file(store, "nodes/ports.md", text)
    assert call(store, "open", node="ports").fields["text"] == text
    found = call(store, "open", node="ports", query="manual")
    assert [one["text"] for one in found.fields["windows"]] == ["A manual port is 5432."]
    assert found.text == "nodes/ports.md\n  line 5: A manual port is 5432."


@pytest.mark.parametrize("ref", ["r_0000aa", "r_0000a", ".rose/routing/r_0000aa.md"])
def test_a_rule_is_explained_as_the_command_does(store, ref):
    a_rule_file(store, id="r_0000aa", targets=["nodes/testing/"], status="retired")
    found = call(store, "explain", node=ref)
    printed = run("route", "--explain", "r_0000aa", "--json", cwd=store.base).json
    # What the rule changed in past selections is measured by the command alone.
    measured = {"effects"}
    assert {name: found.fields[name] for name in printed.keys() - measured} == {
        name: printed[name] for name in printed.keys() - measured
    }
    assert found.fields["effect"] == "prefer"
    assert found.fields["said"] == [
        "r_0000aa is not in the layer: retired: rose route --restore r_0000aa brings it back."
    ]


def test_a_rule_that_cannot_be_read_is_refused_with_what_is_wrong(store):
    path = os.path.join(store.routing, "r_0000aa.md")
    files.replace(path, "---\nwhen: [\n---\n")
    with pytest.raises(RoseError, match="r_0000aa cannot be read, so there is nothing to explain"):
        call(store, "explain", node="r_0000aa")


@pytest.mark.parametrize("tool", ["open", "explain"])
@pytest.mark.parametrize("ref", ["zebra", "testing/", "../../etc/passwd"])
def test_a_name_that_no_lesson_or_several_have_is_refused_as_the_command_refuses_it(
    store, tool, ref
):
    with pytest.raises(RoseError) as refused:
        call(store, tool, node=ref)
    assert run("show", ref, cwd=store.base).err == f"rose: {refused.value}\n"


@pytest.mark.parametrize(
    ("tool", "given", "said"),
    [
        ("open", {"node": "db", "windows": 2}, "`windows` needs a `query`"),
        ("open", {"node": "db", "query": "x", "first": 2}, "`query` and `first` do not go"),
        ("open", {"node": "db", "first": 4, "last": 3}, "`last` is 3, before `first`"),
        ("open", {"node": "db", "first": 9}, "testing/db has 5 lines"),
        ("open", {}, "`node` is missing"),
        ("search", {}, "`query` is missing"),
        ("search", {"query": "x" * 4001}, "has 4001 characters"),
        ("search", {"query": "x", "k": 21}, "`k` must be a whole number from 1 to 20"),
        ("search", {"query": "x", "scope": ["x"] * 21}, "`scope` must be a list"),
        ("explain", {}, "`node` is missing"),
        ("explain", {"node": "r_ffffff"}, "No rule 'r_ffffff'"),
        ("drop", {}, "No tool 'drop'"),
    ],
)
def test_arguments_that_make_no_call_are_refused(store, tool, given, said):
    with pytest.raises(RoseError, match=re.escape(said)):
        call(store, tool, **given)


@pytest.mark.parametrize("name", ALL)
def test_without_a_store_a_call_says_how_to_make_one_and_makes_nothing(tmp_path, name):
    nowhere = layout.Stores(None, None, "there is none.")
    where = desk.Desk(lambda: nowhere, lambda: AT, "s-1")
    with pytest.raises(NoStore, match="Run `rose init`"):
        tools.call(where, name, ALL[name])
    assert sorted(os.listdir(tmp_path)) == ["home"]
    assert os.listdir(tmp_path / "home") == []


@pytest.mark.parametrize("tool", tools.TOOLS, ids=lambda tool: tool.name)
def test_a_tool_says_that_lessons_are_data_and_each_argument_says_what_it_is(tool):
    assert tools.DATA in tool.description or "Shows no text of lessons" in tool.description
    assert set(tool.required) <= set(tool.properties)
    described = {name for name, one in tool.properties.items() if one.get("description")}
    assert described == set(tool.properties)


def test_what_one_call_shows_at_most_is_what_the_page_says():
    with open(os.path.join(ROOT, "docs", "cli.md"), encoding="utf-8") as stream:
        page = stream.read()
    times = "\N{MULTIPLICATION SIGN}"
    usual = (
        f"{search.K} {times} {search.CHARS}",
        f"{search.WINDOWS} {times} {search.EVIDENCE_CHARS}",
    )
    most = (tools.MOST_K * tools.MOST_CHARS, tools.MOST_WINDOWS * tools.MOST_CHARS)
    rows = [
        f"| `search` | k {times} chars | {usual[0]} | {most[0]:,} characters |",
        f"| `open` with a query | windows {times} chars | {usual[1]} | {most[1]:,} characters |",
        f"| `open` | lines | all of them | {search.MOST_CHARS:,} characters |",
    ]
    assert [row for row in rows if row not in page] == []
    assert requests.QUERY_CHARS == 4_000


def test_usage_is_what_a_bad_argument_is_called(store):
    with pytest.raises(UsageError):
        call(store, "search", query="x", k=0)
