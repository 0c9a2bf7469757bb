"""`rose recall` as a person or an agent calls it."""

from __future__ import annotations

import json
import os

import pytest

from rose import config
from rose.selection import pack, pipeline
from tests.clirun import run, run_child

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


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


def records(project):
    path = project / ".rose" / "local" / "traces" / "selection.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_the_text_goes_to_standard_output_and_words_about_it_do_not(project):
    result = run("recall", "the database of the tests", cwd=project)
    [record] = records(project)
    assert result.code == 0
    assert result.out == record["text"] + "\n"
    assert "> The tests need port 5432." in result.out
    spent = f"{record['tokens']} of 400 tokens"
    account = "found 2, selected 2, admitted 2, excluded 0, opened 2"
    assert result.err == f"{record['id']}, {spent}: {account}.\n"


def test_the_record_is_what_json_prints(project):
    result = run(
        "recall", "database", "--k", "1", "--scope", "nodes/*/db.md", "--json", cwd=project
    )
    assert [result.json] == records(project)
    assert [one["node"] for one in result.json["admitted"]] == ["testing/db"]
    assert (result.json["budget"]["k"], result.json["scope"]) == (1, ["nodes/*/db.md"])


def test_the_text_is_the_same_for_six_hash_seeds(project):
    words = ["recall", "the database port of the slow tests", "--k", "2", "--explain"]
    seeds = [{"PYTHONHASHSEED": str(seed)} for seed in range(6)]
    printed = {run_child(*words, cwd=project, env=seed).out for seed in seeds}
    assert len(printed) == 1
    assert "served, whole" in printed.pop()


def test_each_candidate_is_explained(project):
    result = run("recall", "database tests", "--explain", "--k", "1", cwd=project)
    explained = result.out.split("\n\n")[-1].splitlines()
    assert explained[0].startswith(" 1. testing/slow (")
    assert explained[0].endswith("): served, whole")
    assert ": text " in explained[0]
    assert explained[1].endswith("): not selected")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["zebra"], "nothing is served: of 3 lessons none is about that."),
        (
            ["database", "--scope", "nodes/deploy/"],
            "of 3 lessons none in that scope is about that.",
        ),
        (["the of"], "nothing is served: the prompt holds no word that could be looked for."),
        (["database", "--no-retrieval"], "nothing is served: retrieval was left out."),
    ],
)
def test_nothing_says_what_it_rests_on(project, words, said):
    result = run("recall", *words, cwd=project)
    assert (result.code, result.out) == (0, "")
    assert result.err.rstrip().endswith(said)
    assert len(records(project)) == 1


def test_what_is_too_large_is_counted(project):
    run("config", "recall.max_tokens", "40", cwd=project)
    result = run("recall", "database", cwd=project)
    assert result.out == ""
    assert (
        "found 2, selected 2, admitted 0, excluded 2 (1 over-budget, 1 below-threshold), opened 1."
        in result.err
    )
    assert records(project)[0]["failure"] == "admission-refused"


def test_the_form_is_that_of_the_setting_and_bodies_where_it_is_off(project):
    assert run("recall", "port", cwd=project).out.count("\n> ") > 0
    run("config", "recall.serve", "pointers", cwd=project)
    out = run("recall", "port", cwd=project).out
    assert out.splitlines()[2] == (
        "- nodes/testing/db.md: Start the database. The tests need port 5432."
    )


def test_the_session_is_the_named_one_else_the_one_it_runs_in(project):
    run("recall", "port", "--session", "s1", cwd=project)
    run("recall", "port", cwd=project, env={"CLAUDE_CODE_SESSION_ID": "s2"})
    run("recall", "port", cwd=project)
    assert [record["session"] for record in records(project)] == ["s1", "s2", ""]


def test_a_record_that_cannot_be_written_is_said_and_changes_nothing_else(project):
    plain = run("recall", "database", cwd=project)
    traces = project / ".rose" / "local" / "traces"
    (traces / "selection.jsonl").unlink()
    traces.rmdir()
    traces.write_text("a file in place of the folder")
    again = run("recall", "database", cwd=project)
    assert (again.out, again.code) == (plain.out, plain.code)
    assert again.err.startswith("[not logged] ")


@pytest.mark.parametrize(
    "words", [["recall"], ["recall", "x", "--k", "0"], ["recall", "x", "--k", "51"]]
)
def test_a_bad_word_is_a_usage_error(project, words):
    assert run(*words, cwd=project).code == 2


def test_no_store_names_the_command_that_makes_one(tmp_path):
    result = run("recall", "x", cwd=tmp_path)
    assert result.code == 1
    assert "rose init" in result.err


def test_lessons_of_the_home_store_are_served_by_their_whole_path(project, tmp_path):
    run("init", "--home", cwd=project)
    home = tmp_path / "home" / ".rose"
    put(home, "nodes/mine.md", "# Mine\n\nMy zebra notes.\n")
    out = run("recall", "zebra", cwd=project).out
    assert f"- {home}/nodes/mine.md, whole:" in out
    assert len(records(project)) == 1


def test_the_page_says_what_a_prompt_can_cost():
    with open(os.path.join(ROOT, "docs", "cli.md"), encoding="utf-8") as stream:
        page = stream.read().replace("\u00d7", "x")
    settings = config.Settings()
    layer, recall = settings.routing_max_tokens, settings.recall_max_tokens
    k, chars = pipeline.K, pack.PART_CHARS
    most = layer + recall + pack.FRAMING_TOKENS
    rows = [
        ("`rose recall`", "k x chars, within `recall.max_tokens`", f"{k} x {chars}", recall),
        (
            "one prompt, with `recall.serve` on",
            "layer + recall + framing",
            f"{layer} + {recall} + {pack.FRAMING_TOKENS}",
            most,
        ),
    ]
    lines = [f"| {name} | {made} | {parts} | {sum_:,} tokens |" for name, made, parts, sum_ in rows]
    assert [line for line in lines if line not in page] == []
