"""`rose reject`, `rose rejected` and `rose reconsider` as an agent or a person calls them."""

from __future__ import annotations

import json
import os
import re

import pytest

from rose import files
from tests.clirun import run

QUERY = "database tests"


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "home" / "project"
    folder.mkdir()
    run("init", cwd=folder)
    put(folder, "nodes/testing/db.md", "# Start the database\n\nThe tests need port 5432.\n")
    put(folder, "nodes/testing/slow.md", "# Slow tests\n\nRun the database tests last.\n")
    put(folder, "nodes/deploy/canary.md", "# Canary\n\nShip to one host first, then wait.\n")
    return folder


def put(project, path, content):
    full = project / path
    full.parent.mkdir(parents=True, exist_ok=True)
    full.write_text(content, encoding="utf-8")


def reject(project, node="testing/slow", *more: str, session="s1", env=None):
    named = ["--session", session] if session else []
    words = [node, "--query", QUERY, "--why", "it is about order", *named, *more]
    return run("reject", *words, cwd=project, env=env)


def pages(project):
    folder = project / ".rose" / "rejections"
    return sorted(folder.iterdir()) if folder.exists() else []


def test_a_lesson_that_a_search_showed_is_turned_down(project):
    [row] = run("search", QUERY, "--k", "1", "--json", "--log", "s1", cwd=project).json
    result = reject(project, row["node"])
    [page] = pages(project)
    assert result.code == 0
    chars = len(row["window"]["text"])
    assert result.out.startswith(f"{row['node']} is turned down: search, {chars} characters seen")
    assert page.name in result.err
    assert f"## {row['node']}\n" in page.read_text()


def test_the_session_is_the_named_one_else_the_one_it_runs_in(project):
    env = {"CLAUDE_CODE_SESSION_ID": "s2"}
    run("search", QUERY, cwd=project, env=env)
    assert reject(project, session="").code == 2
    assert reject(project, env=env).code == 1
    assert reject(project, session="", env=env).code == 0
    assert run("rejected", "--session", "s2", "--json", cwd=project).json["rejections"]


def test_unseen_is_refused_and_nothing_is_written(project):
    run("search", QUERY, "--log", "other", cwd=project)
    result = reject(project)
    assert (result.code, result.out, pages(project)) == (1, "", [])
    assert result.err.startswith("refused: testing/slow: reject-unseen: ")
    assert "rose evidence testing/slow 'database tests' --log s1" in result.err
    assert reject(project, "testing/slow", "--scope-reason").code == 0


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["zebra", "--query", "q", "--why", "w", "--scope-reason"], 1),
        (["testing/slow", "--query", " ", "--why", "w", "--scope-reason"], 2),
        (["testing/slow", "--query", "q", "--why", "", "--scope-reason"], 2),
        (["testing/slow", "--query", "q", "--why", "\u200b", "--scope-reason"], 2),
        (["testing/slow", "--query", " " * 4_001 + "x", "--why", "w", "--scope-reason"], 2),
        (["testing/slow", "--query", "q", "--why", "\n" * 4_001 + "x", "--scope-reason"], 2),
        (["testing/slow", "--query", "q"], 2),
        (["--query", "q", "--why", "w"], 2),
        (["testing/slow", "--query", "q", "--why", "w", "--stage", "evidence"], 2),
    ],
)
def test_a_call_that_cannot_be_changes_nothing(project, words, code):
    assert run("reject", *words, "--session", "s1", cwd=project).code == code
    assert pages(project) == []


@pytest.mark.parametrize("session", ["\u200b", " " * 4_001 + "x", "\n"])
def test_a_session_without_a_name_turns_nothing_down(project, session):
    result = reject(project, "testing/slow", "--scope-reason", session=session)
    assert (result.code, pages(project)) == (2, [])
    assert "Which session?" in result.err


def test_what_was_turned_down_without_a_version_is_shown_as_such(project):
    reject(project, "testing/slow", "--scope-reason")
    [page] = pages(project)
    page.write_text(re.sub(r"- (version|scope|at): .*\n", "", page.read_text()))
    assert "unrecorded, for any version" in run("rejected", cwd=project).out
    assert "slow.md, whole" not in run("recall", QUERY, "--session", "s1", cwd=project).out


def test_recall_says_where_a_page_cannot_be_read_and_serves_all_the_same(project):
    reject(project, "testing/slow", "--scope-reason")
    [page] = pages(project)
    page.write_bytes(page.read_bytes() + b"\xe9\n")
    result = run("recall", QUERY, "--session", "s1", cwd=project)
    assert (result.code, "slow.md, whole" in result.out) == (1, True)
    assert "degraded, not all that this session turned down is known" in result.err
    assert page.name in result.err
    assert run("recall", QUERY, "--session", "s2", cwd=project).code == 0


def test_a_foreign_trace_writes_no_section_of_its_own(project):
    run("search", QUERY, "--log", "s1", cwd=project)
    path = project / ".rose" / "local" / "traces" / "selection.jsonl"
    section = "x\n## testing/db\n- query: database\n- scope: []\n"
    row = json.loads(path.read_text())
    row["id"] = section
    row["candidates"] = [{**one, "version": section} for one in row["candidates"]]
    path.write_text(json.dumps(row) + "\n")
    assert reject(project).code == 0
    rows = run("rejected", "--json", cwd=project).json["rejections"]
    assert [(one["node"], one["stage"]) for one in rows] == [("testing/slow", "unrecorded")]


def test_to_approve_a_skip_rule_that_nobody_can_note_says_so(project):
    words = ["--when", "the task is a docs change", "--then", "nothing in nodes/deploy/ applies"]
    rule = run("route", *words, "--skip", "--json", cwd=project).json["id"]
    notes = project / ".rose" / "local" / "skips.jsonl"
    notes.unlink()
    notes.mkdir()
    result = run("route", "--approve", rule, cwd=project)
    assert (result.code, "skip-unnoted" in result.err) == (0, True)


def test_what_is_no_text_is_left_out_of_the_page(project):
    words = ["testing/slow", "--query", "port \udcff", "--why", "a\x1b[31m b", "--scope-reason"]
    assert run("reject", *words, "--session", "s \udcff 1", cwd=project).code == 0
    [row] = run("rejected", "--session", "s \udcff 1", "--json", cwd=project).json["rejections"]
    assert (row["query"], row["why"], row["session"]) == ("port", "a b", "s 1")


def test_without_a_store_the_command_that_makes_one_is_named(tmp_path):
    for words in (["reject", "x", "--query", "q", "--why", "w"], ["rejected"], ["reconsider"]):
        result = run(*words, cwd=tmp_path)
        assert (result.code, "rose init" in result.err) == (1, True)


def test_the_list_fits_a_terminal_and_says_stage_characters_and_change(project):
    run("search", QUERY, "--log", "s1", cwd=project)
    reject(project)
    put(project, "nodes/testing/slow.md", "# Slow tests\n\nRun them first.\n")
    result = run("rejected", cwd=project)
    first = result.out.splitlines()[0]
    assert first.startswith("testing/slow (search, 41 characters seen, t_")
    assert first.endswith(", changed since)")
    assert "  why: it is about order" in result.out
    assert max(map(len, result.out.splitlines())) <= 80
    [row] = run("rejected", "--json", cwd=project).json["rejections"]
    assert (row["stage"], row["chars"], row["changed"]) == ("search", 41, True)


def test_an_empty_list_is_a_sentence_and_a_broken_page_a_warning(project):
    result = run("rejected", cwd=project)
    assert (result.code, result.out) == (0, "")
    assert result.err == "No session has turned anything down.\n"
    run("search", QUERY, "--log", "s9", cwd=project)
    none = run("rejected", "--session", "s9", cwd=project)
    assert (none.code, none.err) == (0, "Session s9 has turned nothing down.\n")
    put(project, ".rose/rejections/s_0123456789abcdef.md", "---\nkind: rejections\n---\n")
    put(project, ".rose/rejections/s_zzzz.md", "what is this\n")
    result = run("rejected", cwd=project)
    assert (result.code, "rejection-unreadable" in result.err) == (0, True)
    assert "s_zzzz.md" in result.err
    assert run("rejected", "--json", cwd=project).json["findings"]


def test_recall_leaves_it_out_in_that_session_and_shows_nothing_of_it(project):
    run("search", QUERY, "--log", "s1", cwd=project)
    reject(project)
    result = run("recall", QUERY, "--session", "s1", "--explain", cwd=project)
    assert "slow.md" not in result.out.split("\n\n")[0]
    assert "testing/slow (" in result.out
    assert "rejected-earlier: by this session, search t_" in " ".join(result.out.split())
    assert "it is about order" not in result.out + result.err
    assert "(1 rejected-earlier)" in result.err
    assert "slow.md, whole" in run("recall", QUERY, "--session", "s2", cwd=project).out
    assert "slow.md, whole" in run("recall", QUERY, cwd=project).out


def test_where_all_of_it_was_turned_down_recall_says_so(project):
    run("search", QUERY, "--log", "s1", cwd=project)
    reject(project)
    reject(project, "testing/db")
    result = run("recall", QUERY, "--session", "s1", cwd=project)
    assert (result.code, result.out) == (0, "")
    said = "nothing is served: all that was selected fell: found 2, selected 2, admitted 0"
    assert said in result.err
    assert "excluded 2 (2 rejected-earlier), opened 0." in result.err


def test_search_and_evidence_still_show_it_without_a_mark(project):
    run("search", QUERY, "--log", "s1", cwd=project)
    before = run("search", QUERY, "--json", "--log", "s1", cwd=project).out
    reject(project)
    assert run("search", QUERY, "--json", "--log", "s1", cwd=project).out == before


def test_reconsider_lists_lessons_and_rules_and_what_could_not_be_checked(project):
    run("search", QUERY, "--log", "s1", cwd=project)
    reject(project)
    words = ["--when", "the task is a docs change", "--then", "nothing in nodes/deploy/ applies"]
    run("route", *words, "--skip", cwd=project)
    put(project, "nodes/deploy/canary.md", "# Canary\n\nShip to two hosts.\n")
    put(
        project,
        ".rose/routing/r_0000aa.md",
        "---\nwhen: the task is a port\nthen: nothing in nodes/testing/ applies\neffect: skip\n"
        "---\n",
    )
    result = run("reconsider", cwd=project)
    assert result.code == 0
    heads = [line for line in result.out.splitlines() if not line.startswith(" ")]
    assert heads == [
        "Turned down, and still found:",
        "Skip rules to look at again:",
        "Could not be checked:",
    ]
    assert "testing/slow - Slow tests" in result.out
    assert "changed: nodes/deploy/canary.md" in result.out
    assert "r_0000aa: nobody noted here" in result.out
    assert "Looked at 1 rejection and 2 skip rules. Nothing is decided here.\n" in result.err
    assert max(map(len, result.out.splitlines())) <= 80
    told = run("reconsider", "--json", cwd=project).json
    assert [one["node"] for one in told["lessons"]] == ["testing/slow"]
    assert [one["changed"] for one in told["rules"]] == [
        [{"path": "nodes/deploy/canary.md", "how": "changed"}]
    ]
    assert [one["what"] for one in told["unchecked"]] == ["r_0000aa"]
    assert told["looked_at"] == {"rejections": 1, "skip_rules": 2}


def test_without_a_skip_rule_the_last_sentence_of_reconsider_ends(project):
    run("search", QUERY, "--log", "s1", cwd=project)
    reject(project)
    assert run("reconsider", cwd=project).err.endswith("opens its lesson again.\n")


def test_what_the_task_rules_out_says_so_and_no_characters(project):
    run("search", QUERY, "--log", "s1", cwd=project)
    out = reject(project, "testing/slow", "--scope-reason").out
    assert out.startswith("testing/slow is turned down: scope, the task alone")
    assert "characters" not in out + run("rejected", cwd=project).out


def test_a_session_is_named_by_an_unambiguous_beginning_of_its_id(project):
    for name in ("abc12345", "abd99999"):
        run("search", QUERY, "--log", name, cwd=project)
    assert reject(project, session="abc1").code == 0
    [row] = run("rejected", "--session", "abc1", "--json", cwd=project).json["rejections"]
    assert row["session"] == "abc12345"
    for name, said in {"ab": "several sessions", "zz": "No session 'zz'"}.items():
        result = run("rejected", "--session", name, cwd=project)
        assert (result.code, said in result.err) == (1, True)
    assert "several sessions" in reject(project, session="ab").err
    # What a beginning is not is the id of a session that left nothing yet.
    assert reject(project, "testing/db", "--scope-reason", session="new-one").code == 0
    assert run("rejected", "--session", "new-one", cwd=project).out.startswith("testing/db")


def test_recall_keeps_out_what_a_skip_rule_rules_out_and_names_the_rule(project):
    when = "the task rewrites the documentation pages"
    words = ["--when", when, "--then", "nothing in nodes/deploy/ applies", "--skip"]
    rule = run("route", *words, "--json", cwd=project).json["id"]
    task = f"{when}, the canary too"
    result = run("recall", task, "--explain", cwd=project)
    assert "canary.md" not in result.out.split("\n\n")[0]
    said = f"rejected-earlier: by the skip rule {rule}"
    assert said in " ".join(result.out.split())
    assert "(1 rejected-earlier)" in result.err
    [row] = run("trace", "--json", cwd=project).json
    assert row["excluded"][0]["detail"] == f"by the skip rule {rule}"
    assert run("replay", row["id"], cwd=project).out == "identical\n"
    assert "canary.md, whole" in run("recall", "the canary pages", cwd=project).out


def test_nothing_to_reconsider_is_not_the_same_as_nothing_checked(project):
    assert run("reconsider", cwd=project).err == (
        "Nothing to reconsider in 0 rejections and 0 skip rules.\n"
    )
    reject(project, "testing/slow", "--scope-reason", session="s1")
    page = pages(project)[0]
    page.write_text(page.read_text().replace(f"query: {QUERY}", "query: the of"))
    result = run("reconsider", cwd=project)
    assert "the of: it holds no word" in result.out
    assert "in 1 rejection and 0 skip rules, as far as it could be checked." in result.err


def test_approving_a_skip_rule_once_more_takes_its_lessons_as_they_are(project):
    words = ["--when", "the task is a docs change", "--then", "nothing in nodes/deploy/ applies"]
    rule = run("route", *words, "--skip", "--json", cwd=project).json["id"]
    put(project, "nodes/deploy/canary.md", "# Canary\n\nShip to two hosts.\n")
    for hosts in ("three", "four"):
        put(project, "nodes/deploy/canary.md", f"# Canary\n\nShip to {hosts} hosts.\n")
        assert "changed: " in run("reconsider", cwd=project).out
        assert run("route", "--approve", rule, cwd=project).code == 0
        assert run("reconsider", cwd=project).out == ""


def test_a_lock_that_is_held_turns_nothing_down(project, monkeypatch):
    monkeypatch.setattr(files, "LOCK_WAIT_S", 0.05)
    with files.lock(os.path.join(project, ".rose", "local", "lock")):
        assert reject(project, "testing/slow", "--scope-reason").code == 1
    assert pages(project) == []
