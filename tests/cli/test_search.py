"""`rose search` and `rose evidence` as a person calls them."""

from __future__ import annotations

import json
import os
import re

import pytest

from rose import config, racy
from rose.selection import search
from tests.clirun import run, run_child, run_unheard

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "home" / "project"
    folder.mkdir()
    run("init", cwd=folder)
    put(
        folder, "nodes/testing/db.md", "# Start the database\n\nIntegration tests need port 5432.\n"
    )
    put(folder, "nodes/deploy/canary.md", "# Canary\n\nShip to one host first, then\n\n  wait.\n")
    put(folder, "nodes/long.md", "# Long\n\n" + "filler " * 300 + "\n\nThe database is here.\n")
    return folder


def put(project, path, content):
    full = project / path
    full.parent.mkdir(parents=True, exist_ok=True)
    full.write_text(content, encoding="utf-8")
    return full


def nodes(result):
    return [row["node"] for row in result.json]


def test_a_row_says_which_lesson_and_shows_its_best_window(project):
    result = run("search", "which database port", "--json", cwd=project)
    assert result.code == 0
    row = result.json[0]
    assert list(row) == ["node", "title", "path", "score", "version", "window"]
    assert (row["node"], row["title"]) == ("testing/db", "Start the database")
    assert row["path"] == "nodes/testing/db.md"
    text = (project / row["path"]).read_text()
    window = row["window"]
    assert window["text"] == " ".join(text[window["start"] : window["end"]].split())
    assert row["version"] == run("show", "testing/db", "--json", cwd=project).json["version"]
    assert nodes(result) == ["testing/db", "long"]


def test_rows_and_windows_are_as_many_and_as_wide_as_asked(project):
    result = run("search", "database", "--k", "1", "--chars", "20", "--json", cwd=project)
    assert len(result.json) == 1
    window = result.json[0]["window"]
    assert 0 < window["end"] - window["start"] <= 20


def test_a_lesson_found_by_its_path_alone_shows_its_head(project):
    [row] = run("search", "deploy", "--json", cwd=project).json
    assert row["window"]["start"] == 0
    assert row["window"]["text"] == "# Canary Ship to one host first, then wait."


def test_what_stands_beyond_the_first_mebibyte_is_not_denied(project):
    put(project, "nodes/big.md", "# Big\n\n" + "filler words\n" * 90_000 + "\nThe zebra is here.\n")
    said = "nodes/big.md has more than a mebibyte; only its first was searched."
    nothing = run("evidence", "big", "zebra", cwd=project)
    assert nothing.err.splitlines() == ["big says nothing about that in its first mebibyte.", said]
    assert said in run("evidence", "big", "filler", "--json", cwd=project).err
    assert "`rose doctor` names them" in run("list", cwd=project).err
    for words in (["doctor"], ["search", "zebra"]):
        result = run(*words, cwd=project)
        assert "nodes/big.md:1: lesson-cut: " in result.out + result.err, words
    assert "mebibyte" not in run("evidence", "long", "zebra", cwd=project).err


@pytest.mark.parametrize(
    ("globs", "found"),
    [
        (["nodes/testing/"], ["testing/db"]),
        (["nodes/*.md"], ["long"]),
        (["./nodes/testing"], ["testing/db"]),
        (["testing/*"], ["testing/db"]),
        (["nodes/deploy/**"], []),
        (["nodes/testing/db.md", "nodes/long.md"], ["testing/db", "long"]),
        (["../**"], []),
    ],
)
def test_a_scope_narrows(project, globs, found):
    words = [word for glob in globs for word in ("--scope", glob)]
    assert nodes(run("search", "database", "--json", *words, cwd=project)) == found


def test_a_person_reads_rows_of_eighty_columns(project):
    result = run("search", "database", cwd=project)
    assert result.out.startswith("1. testing/db - Start the database\n   nodes/testing/db.md (")
    assert max(map(len, result.out.splitlines())) <= 80
    assert result.err == ""


@pytest.mark.parametrize("query", ["", "the of", "?!", "\ud800"])
def test_a_query_without_a_usable_word_has_no_rows_and_is_no_error(project, query):
    result = run("search", query, "--json", cwd=project)
    assert (result.code, result.json) == (0, [])
    plain = run("search", query, cwd=project)
    assert (plain.code, plain.out) == (0, "")
    assert "no word" in plain.err


def test_no_match_is_a_sentence(project):
    result = run("search", "zebra", cwd=project)
    assert (result.code, result.out, result.err) == (0, "", "No lesson is about that.\n")
    assert run("search", "zebra", "--json", cwd=project).out == "[]\n"


@pytest.mark.parametrize("words", [["search", "q"], ["evidence", "n", "q"]])
def test_no_store_names_the_command_that_makes_one(tmp_path, words):
    result = run(*words, cwd=tmp_path)
    assert result.code == 1
    assert "rose init" in result.err


@pytest.mark.parametrize(
    "words",
    [
        ["search", "q", "--k", "0"],
        ["search", "q", "--chars", "0"],
        ["search", "q", "--k", "many"],
        ["search"],
        ["evidence", "testing/db", "q", "--windows", "0"],
        ["evidence", "testing/db"],
        ["config", "k", "5"],
        ["config", "search.chars"],
        ["config", "--unset", "windows"],
    ],
)
def test_a_bad_word_is_a_usage_error(project, words):
    assert run(*words, cwd=project).code == 2


def test_archived_lessons_and_rules_are_no_result(project):
    run("archive", "testing/db", cwd=project)
    then = "read nodes/deploy/ before the database"
    run("route", "--when", "the task ships", "--then", then, cwd=project)
    assert nodes(run("search", "database ships", "--json", cwd=project)) == ["long"]


def test_home_lessons_are_found_by_their_whole_path(project, tmp_path):
    run("init", "--home", cwd=project)
    home = tmp_path / "home" / ".rose"
    put(home, "nodes/mine.md", "# Mine\n\nMy zebra notes.\n")
    put(home, "nodes/testing/db.md", "# Hidden\n\nzebra zebra\n")
    [row] = run("search", "zebra", "--json", cwd=project).json
    assert (row["node"], row["path"]) == ("mine", str(home / "nodes" / "mine.md"))


def test_a_lesson_that_cannot_be_read_is_said_and_the_others_are_found(project):
    os.mkfifo(project / "nodes" / "pipe.md")
    os.symlink("loop", project / "nodes" / "loop")
    result = run_child("search", "database", "--json", cwd=project)
    assert result.code == 0
    assert nodes(result) == ["testing/db", "long"]
    assert re.search(r"^warning: nodes/pipe\.md: lesson-unreadable: ", result.err, re.MULTILINE)


def test_a_search_writes_nothing_but_what_is_derived(project):
    racy.wait(path for path in _files(project) if path.endswith(".md"))
    run("search", "database", cwd=project)
    before = _files(project)
    run("search", "database", cwd=project)
    run("evidence", "testing/db", "port", cwd=project)
    assert _files(project) == before
    derived = {"lessons.json", "search.db", "search.json", "search.lock"}
    assert derived <= {os.path.basename(path) for path in before}
    assert not os.path.exists(project / ".rose" / "local" / "traces")


def _files(project):
    return {
        os.path.join(folder, name): os.stat(os.path.join(folder, name)).st_mtime_ns
        for folder, _, names in os.walk(project)
        for name in names
    }


def test_evidence_shows_the_passages_that_hold_the_query(project):
    text = "# T\n\nThe port is 1. " + "filler " * 200 + "Use the port 5432 of the database.\n"
    put(project, "nodes/two.md", text)
    result = run("evidence", "two", "database port", "--chars", "40", "--json", cwd=project)
    assert list(result.json) == ["node", "version", "windows"]
    first, second = result.json["windows"]
    assert "The port is 1" in first["text"]
    assert "port 5432 of the database" in second["text"]
    assert first["end"] <= second["start"]
    assert "port 5432" in run("evidence", "two", "port", cwd=project).out


def test_a_person_is_told_the_line_of_each_passage(project):
    text = "---\norigin: manual\n---\n# A title\n\nThe port is one.\n" + "filler\n" * 90
    put(project, "nodes/two.md", text + "Another port.\n")
    result = run("evidence", "two", "port", "--chars", "16", cwd=project)
    assert result.out == "nodes/two.md\n  line 6: The port is one.\n  line 97: Another port.\n"


def test_a_word_of_the_header_finds_no_lesson(project):
    put(project, "nodes/two.md", "---\norigin: manual\n---\n# T\n\nThe port.\n")
    assert nodes(run("search", "manual", "--json", cwd=project)) == []


def test_evidence_without_a_hit_shows_nothing(project):
    result = run("evidence", "testing/db", "zebra", "--json", cwd=project)
    assert (result.code, result.json["windows"]) == (0, [])
    plain = run("evidence", "testing/db", "zebra", cwd=project)
    assert (plain.code, plain.out) == (0, "")
    assert plain.err == "testing/db says nothing about that.\n"
    assert run("evidence", "testing/db", "the", cwd=project).code == 0


@pytest.mark.parametrize("query", ["port", "the", ""])
def test_an_unknown_lesson_is_refused_whatever_the_query(project, query):
    result = run("evidence", "nowhere/at-all", query, cwd=project)
    assert (result.code, result.out) == (1, "")
    assert "No lesson 'nowhere/at-all'" in result.err


def test_evidence_of_an_archived_lesson_is_refused(project):
    run("archive", "testing/db", cwd=project)
    result = run("evidence", "testing/db", "port", cwd=project)
    assert result.code == 1
    assert "rose show testing/db" in result.err


def test_a_logged_call_leaves_one_record_with_its_limits(project):
    run("search", "database", "--k", "2", "--scope", "nodes/**", "--log", "s1", cwd=project)
    run("evidence", "testing/db", "port", "--log", "s1", cwd=project)
    run("evidence", "testing/db", "zebra", "--log", "s1", cwd=project)
    path = project / ".rose" / "local" / "traces" / "selection.jsonl"
    one, two, none = map(json.loads, path.read_text().splitlines())
    assert (one["kind"], one["session"], one["scope"]) == ("search", "s1", ["nodes/**"])
    assert one["budget"] == {"k": 2, "chars": search.CHARS}
    assert [found["node"] for found in one["candidates"]] == ["testing/db", "long"]
    assert [found["rank"] for found in one["candidates"]] == [1, 2]
    assert one["store"]["lessons"] == 3
    assert two["budget"] == {"chars": search.EVIDENCE_CHARS, "windows": search.WINDOWS}
    assert "5432" in two["candidates"][0]["window"]["text"]
    assert none["candidates"][0]["window"] is None


def test_in_a_session_a_call_is_recorded_unasked_and_outside_of_one_it_is_not(project):
    path = project / ".rose" / "local" / "traces" / "selection.jsonl"
    for words in (["search", "database"], ["evidence", "testing/db", "port"]):
        run(*words, cwd=project)
    assert not path.exists()
    for words in (["search", "database"], ["evidence", "testing/db", "port"]):
        run(*words, cwd=project, env={"CLAUDE_CODE_SESSION_ID": "s2"})
        run(*words, "--log", "s1", cwd=project, env={"CLAUDE_CODE_SESSION_ID": "s2"})
    rows = map(json.loads, path.read_text().splitlines())
    assert [row["session"] for row in rows] == ["s2", "s1", "s2", "s1"]


@pytest.mark.parametrize("words", [["search", "port"], ["evidence", "testing/db", "port"]])
def test_the_session_can_be_named_as_by_the_other_commands(project, words):
    run(*words, "--session", "s1", cwd=project)
    path = project / ".rose" / "local" / "traces" / "selection.jsonl"
    assert json.loads(path.read_text())["session"] == "s1"


@pytest.mark.parametrize("words", [["search", "port"], ["evidence", "testing/db", "port"]])
@pytest.mark.parametrize("more", [[], ["--json"]])
def test_what_nobody_reads_to_its_end_is_recorded(project, words, more):
    run_unheard(*words, *more, "--log", "s1", cwd=project)
    path = project / ".rose" / "local" / "traces" / "selection.jsonl"
    assert [json.loads(line)["kind"] for line in path.read_text().splitlines()] == [words[0]]


def test_a_log_that_cannot_be_written_changes_nothing_else(project):
    plain = run("search", "database", "--json", cwd=project)
    (project / ".rose" / "local" / "traces").write_text("a file in place of the folder")
    logged = run("search", "database", "--json", "--log", "s1", cwd=project)
    assert (logged.out, logged.code) == (plain.out, plain.code)
    assert logged.err.startswith("[not logged] ")
    assert run("evidence", "testing/db", "port", "--log", "s1", cwd=project).code == 0


def test_the_page_says_what_a_call_costs():
    with open(os.path.join(ROOT, "docs", "cli.md"), encoding="utf-8") as stream:
        page = stream.read().replace("\u00d7", "x")
    layer = config.Settings().routing_max_tokens
    rows = [
        _cost("rose search", "k x chars", search.K, search.CHARS),
        _cost("rose evidence", "windows x chars", search.WINDOWS, search.EVIDENCE_CHARS),
        f"| the layer, once a session | `routing.max_tokens` | heading included | {layer} tokens |",
    ]
    assert [row for row in rows if row not in page] == []


def _cost(name, factors, count, chars):
    return f"| `{name}` | {factors} | {count} x {chars} | {count * chars:,} characters |"
