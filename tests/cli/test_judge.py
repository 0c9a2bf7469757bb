from __future__ import annotations

import json

import pytest

from tests import clirun
from tests.factories import a_store
from tests.fakes import a_program

ROWS = [
    {"id": 10**60, "text": "Use 5432. It is taken on CI.", "title": "Ports", "rerankScore": 9},
    {"id": 2, "text": "Tea.", "title": None},
    {"id": 3, "text": "Use 5433. Tea.", "n": 1.5},
]
LONGER = """
import json, sys
asked = json.load(sys.stdin)
scores = {item["id"]: min(1, len(item["text"]) / 10) for item in asked["items"]}
print(json.dumps({"scores": scores}))
"""
# Where this program has run, a file tells.
TOUCHING = "open('ran', 'w')\n" + LONGER
COMMANDS = ("rerank", "filter", "compress")


def run(tmp_path, *words: str, rows=ROWS, script=LONGER, env=None, judge=True):
    environ = a_program(tmp_path, "judge", script)
    data = rows if isinstance(rows, bytes) else json.dumps(rows).encode()
    asked = ["--judge-cmd", "judge"] if judge else []
    return clirun.run(*words, *asked, cwd=tmp_path, stdin=data, env={**environ, **(env or {})})


def test_rerank_orders_by_its_own_score_and_keeps_all_else(tmp_path):
    found = run(tmp_path, "rerank", "--query", "q")
    assert found.code == 0
    assert found.out.endswith("]\n")
    assert found.out.count("\n") == 1
    assert found.json == [
        {**ROWS[0], "rerankScore": 1},
        {**ROWS[2], "rerankScore": 1},
        {**ROWS[1], "rerankScore": 0.4},
    ]
    assert "Judged by judge." in found.err


def test_filter_keeps_what_reaches_the_threshold(tmp_path):
    assert [row["id"] for row in run(tmp_path, "filter", "--query", "q").json] == [10**60, 3]
    found = run(tmp_path, "filter", "--query", "q", "--threshold", "0.4")
    assert [row["evidenceScore"] for row in found.json] == [1, 0.4, 1]
    nothing = run(tmp_path, "filter", "--query", "q", rows=[{"text": "Tea."}])
    assert (nothing.out, nothing.code) == ("[]\n", 0)


def test_compress_keeps_the_original_beside_what_stays_of_it(tmp_path):
    found = run(tmp_path, "compress", "--query", "q")
    assert found.json == [
        {**ROWS[0], "compressedText": "Use 5432.\nIt is taken on CI."},
        {**ROWS[2], "compressedText": "Use 5433."},
    ]


@pytest.mark.parametrize("command", COMMANDS)
def test_top_is_taken_of_what_was_judged(tmp_path, command):
    whole = run(tmp_path, command, "--query", "q")
    assert run(tmp_path, command, "--query", "q", "--top", "1").json == whole.json[:1]
    assert run(tmp_path, command, "--query", "q", "--top", "9").out == whole.out


def test_the_fields_to_judge_and_to_tell_can_be_named(tmp_path):
    script = LONGER + "json.dump(asked, open('seen', 'w'))\n"
    words = ("--text-field", "body", "--context-field", "title", "--context-field", "path")
    rows = [{"body": "b", "title": "T", "path": "p", "text": 5}, {"body": "c", "title": None}]
    found = run(tmp_path, "filter", "--query", " q ", *words, rows=rows, script=script)
    assert found.code == 0
    asked = json.loads((tmp_path / "seen").read_text())
    assert asked["query"] == " q "
    assert [item["document"] for item in asked["items"]] == ["title: T\npath: p\nb", "c"]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("rows", [b"[]", b" [ ]\n"])
def test_an_empty_array_needs_no_judge(tmp_path, command, rows):
    found = run(tmp_path, command, "--query", "q", rows=rows, judge=False)
    assert (found.out, found.err, found.code) == ("[]\n", "", 0)


def test_blank_texts_need_no_judge_to_be_compressed_and_one_to_be_filtered(tmp_path):
    blank = [{"text": " \n"}, {"text": ""}]
    found = run(tmp_path, "compress", "--query", "q", rows=blank, judge=False)
    assert (found.out, found.code) == ("[]\n", 0)
    assert run(tmp_path, "filter", "--query", "q", rows=blank, judge=False).code == 1


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("has_store", [True, False])
def test_without_a_judge_there_is_no_result(tmp_path, command, has_store):
    if has_store:
        a_store(tmp_path, ".")
    found = run(tmp_path, command, "--query", "q", judge=False)
    assert (found.out, found.code) == ("", 1)
    assert "No judge" in found.err
    assert "--judge-cmd" in found.err


@pytest.mark.parametrize("command", COMMANDS)
def test_a_judge_that_fails_leaves_no_result(tmp_path, command):
    found = run(tmp_path, command, "--query", "q", script="import sys; sys.exit(1)")
    assert (found.out, found.code) == ("", 1)
    assert found.err == "rose: judge ended with code 1.\n"
    absent = run(tmp_path, command, "--query", "q", "--judge-cmd", "absent", judge=False)
    assert (absent.out, absent.code) == ("", 1)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["rerank", "--query", "q", "--threshold", "0.5"], "--threshold"),
        (["rerank", "--query", "q", "--top", "0"], "--top"),
        (["filter", "--query", "q", "--top", "-1"], "--top"),
        (["filter", "--query", ""], "--query is empty"),
        (["filter", "--query", " \n"], "--query is empty"),
        (["filter"], "--query"),
        (["filter", "--query", "q", "--threshold", "1.1"], "--threshold"),
        (["filter", "--query", "q", "--threshold", "nan"], "--threshold"),
        (["rerank", "--query", "q", "--text-field", "rerankScore"], "`rerankScore`"),
        (["filter", "--query", "q", "--context-field", "evidenceScore"], "`evidenceScore`"),
        (["compress", "--query", "q", "--text-field", "compressedText"], "`compressedText`"),
        (["filter", "--query", "q", "--judge", "local"], "do not go together"),
    ],
)
def test_a_call_that_is_off_is_refused_before_anything_is_read(tmp_path, words, said):
    found = run(tmp_path, *words, rows=b"no json", script=TOUCHING)
    assert (found.out, found.code) == ("", 2)
    assert said in found.err
    assert not (tmp_path / "ran").exists()


def test_a_judge_that_nobody_has_is_refused(tmp_path):
    found = run(tmp_path, "filter", "--query", "q", "--judge", "nobody", rows=[], judge=False)
    assert (found.out, found.code) == ("", 2)
    assert "There is no judge 'nobody'. There are local," in found.err


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (b"{}", "it is no array"),
        (b"[1]", "item 1 of 1 (index 0)"),
        (b'[{"text": "t"}, {"body": "hidden"}]', "item 2 of 2 (index 1)"),
        (b'[{"text": ["hidden"]}]', "`text` is no string"),
        (b'[{"text": "hidden", "title": 5}]', "`title` is neither"),
        (b'[{"text": "hidden" x', "no JSON from line 1, column"),
        (b"", "no JSON"),
    ],
)
@pytest.mark.parametrize("command", COMMANDS)
def test_input_that_cannot_be_judged_is_named_and_not_quoted(tmp_path, command, rows, said):
    words = (command, "--query", "q", "--context-field", "title")
    found = run(tmp_path, *words, rows=rows, script=TOUCHING)
    assert (found.out, found.code) == ("", 1)
    assert said in found.err
    assert "hidden" not in found.err
    assert not (tmp_path / "ran").exists()


def test_the_model_of_the_settings_judges_and_counts_against_the_day(tmp_path):
    store = a_store(tmp_path, ".")
    # Before it records anything: what a store held until then is dropped.
    clirun.run("trust", cwd=tmp_path)
    script = """
import json, sys
asked = json.load(sys.stdin)
lines = [json.loads(line) for line in asked["question"].splitlines() if line.startswith("{")]
print(json.dumps({"scores": [{"id": line["id"], "score": 0.5} for line in lines]}))
"""
    env = {"ROSE_BACKEND": "command", "ROSE_REFLECT_COMMAND": "judge"}
    found = run(tmp_path, "filter", "--query", "q", script=script, env=env, judge=False)
    assert [row["evidenceScore"] for row in found.json] == [0.5, 0.5, 0.5]
    assert "Judged by command." in found.err
    with open(store.spend, encoding="utf-8") as stream:
        (line,) = [json.loads(raw) for raw in stream]
    assert (line["session"], line["calls"], line["outcome"]) == ("", 1, "answer")
    with open(store.config, "w", encoding="utf-8") as stream:
        stream.write("spend: {calls_per_day: 1}\n")
    again = run(tmp_path, "filter", "--query", "q", script=script, env=env, judge=False)
    assert (again.out, again.code) == ("", 1)
    assert "spend.calls_per_day" in again.err
