"""`rose recall` as a person or an agent calls it."""

from __future__ import annotations

import json
import os
import re

import pytest

from rose import config
from rose.selection import aides, judge, judge_model, pack, pipeline, requests
from tests.clirun import run, run_child, run_unheard
from tests.fakes import a_program

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


# Judges by two words, and keeps how much it was asked.
JUDGE = """
import json, os, sys
asked = json.load(sys.stdin)
with open(os.path.join(os.path.dirname(sys.argv[0]), "..", "asked"), "a") as stream:
    print(asked["mode"], len(asked["items"]), file=stream)
wanted = ("port", "Zebra")
scores = {one["id"]: float(any(x in one["text"] for x in wanted)) for one in asked["items"]}
print(json.dumps({"scores": scores}))
"""


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
    assert explained[1].endswith("): not-selected: the best 1 are taken")


def test_where_nothing_is_served_an_explanation_begins_at_once(project, tmp_path):
    result = judged(project, tmp_path, "--filter", "--judge-cmd", "false", "--explain")
    assert result.out.startswith(" 1. ")
    assert result.out.splitlines()[0].endswith("): not-selected")


def test_what_a_judge_ordered_is_explained_in_its_order_and_without_empty_figures(
    project, tmp_path
):
    words = ["--rerank", "--judge-cmd", "judge", "--explain"]
    explained = judged(project, tmp_path, *words).out.split("\n\n")[-1].splitlines()
    served = [line.endswith("served, whole") for line in explained]
    assert served == sorted(served, reverse=True)
    assert not re.search(r" -?0(\.0+)? (?!\S*rerank)|\d\.\d{3}", explained[0])


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


@pytest.mark.parametrize("more", [[], ["--json"], ["--explain"]])
def test_what_nobody_reads_to_its_end_is_recorded(project, more):
    run_unheard("recall", "the database of the tests", *more, cwd=project)
    assert [record["kind"] for record in records(project)] == ["recall"]


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


def cli_page():
    with open(os.path.join(ROOT, "docs", "cli.md"), encoding="utf-8") as stream:
        return stream.read().replace("\u00d7", "x")


def test_the_page_says_what_a_prompt_can_cost():
    page = cli_page()
    settings = config.Settings()
    layer, recall = settings.routing_max_tokens, settings.recall_max_tokens
    k, chars = requests.K, pack.PART_CHARS
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


def test_the_page_says_what_a_model_is_asked():
    page, batch = cli_page(), judge.MOST_ITEMS
    found, k = pipeline.LOOKS, requests.K
    questions = [-(-count // batch) for count in (found, k)]
    assert sorted(aides.MODES) == ["filter", "rerank"]
    parts = " + ".join(map(str, questions))
    rows = [
        f"| `rose rerank`, `rose filter` | objects / batch | n / {batch} |",
        f"| `rose compress` | units / batch | n / {batch} | one question for each {batch} |",
        f"| candidates / batch | {found} / {batch} | {questions[0]} question |",
        f"| k / batch | {k} / {batch} | {questions[1]} question |",
        f"| rerank + filter | {parts} | {sum(questions)} questions |",
        f"texts of more than {judge_model.MOST_CHARS:,} characters",
    ]
    assert [row for row in rows if row not in page] == []


def test_a_judged_recall_asks_as_many_questions_as_the_page_says(project, tmp_path):
    for number in range(pipeline.LOOKS + 5):
        put(project, f"nodes/many/{number}.md", f"# Zebra {number}\n")
    environ = a_program(tmp_path, "judge", JUDGE)
    words = ["recall", "zebra", "--rerank", "--filter", "--judge-cmd", "judge", "--json"]
    record = run(*words, cwd=project, env=environ).json
    batches = [line.split() for line in (tmp_path / "asked").read_text().splitlines()]
    assert batches == [["rerank", str(pipeline.LOOKS)], ["filter", str(requests.K)]]
    assert len(record["admitted"]) == requests.K


def judged(project, tmp_path, *words: str, script: str | None = None):
    environ = a_program(tmp_path, "judge", JUDGE if script is None else script)
    return run("recall", "the database of the tests", *words, cwd=project, env=environ)


def test_a_judge_decides_what_is_served_and_is_named_in_the_record(project, tmp_path):
    options = ("--rerank", "--filter", "--compress", "--judge-cmd", "judge")
    result = judged(project, tmp_path, *options)
    [record] = records(project)
    assert (result.code, record["judge"], record["failure"]) == (0, "judge", None)
    assert result.out == record["text"] + "\n"
    assert [one["node"] for one in record["admitted"]] == ["testing/db"]
    assert result.out.splitlines()[2:] == [
        "- nodes/testing/db.md, shortened (Start the database):",
        "> The tests need port 5432.",
    ]
    assert run("replay", record["id"], cwd=project).out == "identical\n"


def test_a_judge_that_fails_leaves_a_record_and_serves_nothing(project, tmp_path):
    result = judged(
        project, tmp_path, "--filter", "--judge-cmd", "judge", script="raise SystemExit(3)"
    )
    [record] = records(project)
    assert (result.code, result.out) == (1, "")
    assert "degraded, the judge failed" in result.err
    assert "ended with code 3" in result.err
    assert (record["failure"], record["selected"]) == ("judge-failed", [])
    assert len(record["candidates"]) == 2
    assert run("replay", record["id"], cwd=project).out == "identical\n"


def test_without_a_judge_nothing_weaker_stands_in(project):
    result = run("recall", "database", "--rerank", cwd=project, env={"PATH": "/nowhere"})
    assert (result.code, result.out) == (1, "")
    assert "No judge" in result.err
    assert [record["failure"] for record in records(project)] == ["judge-failed"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--judge", "local"], "--rerank, --filter or --compress"),
        (["--judge-cmd", "x"], "--rerank, --filter or --compress"),
        (["--threshold", "0.5"], "--threshold is for"),
        (["--rerank", "--threshold", "0.5"], "--threshold is for"),
        (["--filter", "--threshold", "nan"], "is not from 0 to 1"),
        (["--filter", "--threshold", "1.1"], "is not from 0 to 1"),
        (["--filter", "--judge", "nobody"], "no judge"),
        (["--filter", "--judge", "local", "--judge-cmd", "x"], "do not go together"),
    ],
)
def test_a_judgement_that_cannot_be_meant_is_a_usage_error(project, words, said):
    result = run("recall", "database", *words, cwd=project)
    assert (result.code, result.out) == (2, "")
    assert said in " ".join(result.err.split())
    assert not (project / ".rose" / "local" / "traces").exists()


def test_what_a_judge_gave_is_explained_and_traced(project, tmp_path):
    result = judged(project, tmp_path, "--rerank", "--judge-cmd", "judge", "--explain")
    explained = result.out.split("\n\n")[-1]
    assert "rerank 1.00): served" in explained
    shown = run("trace", records(project)[0]["id"], cwd=project).out
    assert "judge" in [line.split()[0] for line in shown.splitlines() if line.strip()]
