from __future__ import annotations

import json
import os

import pytest

from rose.backends.spend import Wait
from rose.selection import judge as judging
from rose.selection.judge import Item, JudgeFailure
from rose.selection.judge_command import CommandJudge
from tests.fakes import a_program

ITEMS = [Item("0", "one\u2028é\ud800", "the whole"), Item("1", "two", "two")]


def judge(tmp_path, script, *, line="judge", timeout_s=60.0, **environ: str):
    environ = {**a_program(tmp_path, "judge", script), **environ}
    return CommandJudge(line, cwd=str(tmp_path), environ=environ, wait=Wait(lambda: timeout_s))


def printing(value, code=0):
    text = value if isinstance(value, str) else json.dumps(value)
    return f"import sys\nsys.stdin.read()\nprint({text!r})\nsys.exit({code})"


def ask(tmp_path, script, **how):
    return judging.score(judge(tmp_path, script, **how), "filter", "the query", ITEMS)


def test_a_program_gets_the_mode_the_query_and_the_items_and_prints_scores(tmp_path):
    seen = tmp_path / "seen"
    script = f"""
import json, os, sys
asked = json.load(sys.stdin)
json.dump([asked, os.getcwd(), sys.argv[1:], os.environ["ROSE_CHILD"]], open({str(seen)!r}, "w"))
print(json.dumps({{"scores": {{item["id"]: len(item["text"]) / 10 for item in asked["items"]}}}}))
"""
    assert ask(tmp_path, script, line="judge -x 'a b'") == {"0": 0.6, "1": 0.3}
    asked, cwd, words, child = json.loads(seen.read_text())
    assert asked == {
        "mode": "filter",
        "query": "the query",
        "items": [
            {"id": "0", "text": "one\u2028é\ud800", "document": "the whole"},
            {"id": "1", "text": "two", "document": "two"},
        ],
    }
    assert cwd == os.path.realpath(tmp_path)
    assert (words, child) == (["-x", "a b"], "1")


def test_a_program_may_be_named_by_a_path_from_the_working_directory(tmp_path):
    scores = printing({"scores": {"0": 0, "1": 1}})
    assert ask(tmp_path, scores, line="bin/judge") == {"0": 0, "1": 1}
    assert ask(tmp_path, scores, line=str(tmp_path / "bin" / "judge")) == {"0": 0, "1": 1}


def test_no_shell_reads_the_line(tmp_path):
    scores = printing({"scores": {"0": 0, "1": 1}})
    ask(tmp_path, scores, line="judge ; touch evil > evil `touch evil`")
    assert not (tmp_path / "evil").exists()


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("import sys; sys.exit(3)", "judge ended with code 3."),
        ("import sys; sys.exit('no key is set')", 'code 1. "no key is set".'),
        (printing({"scores": {"0": 0, "1": 1}}, code=2), "ended with code 2"),
        (printing(""), "printed no JSON object with `scores`"),
        (printing("0.5"), "printed no JSON object with `scores`"),
        (printing({"0": 0, "1": 1}), "printed no JSON object with `scores`"),
        (printing({"scores": [0, 1]}), "printed no JSON object with `scores`"),
        (printing('{"scores": {"0": 0, "1": 1}} x'), "printed no JSON object with `scores`"),
        (printing('{"scores": {"0": 0, "1": ' + "9" * 5000 + "}}"), "printed no JSON object"),
        (printing('{"scores": {"0": 0, "1": NaN}}'), "gave id 1 no number from 0 to 1"),
        (printing('{"scores": {"0": 0, "1": true}}'), "gave id 1 no number from 0 to 1"),
        (printing({"scores": {"0": 0}}), "left out 1 of 2 ids"),
        (printing({"scores": {"0": 0, "1": 0, "2": 0}}), "named 1 that it was not asked"),
        (printing('{"scores": {"0": 0, "1": 0, "1": 1}}'), "scored an id twice"),
        (printing('{"scores": {"0": 0}, "scores": {"0": 0, "1": 0}}'), "scored an id twice"),
        (printing("[" * 200_000), "printed no JSON object with `scores`"),
    ],
)
def test_an_answer_that_does_not_count_is_a_failure(tmp_path, script, said):
    with pytest.raises(JudgeFailure) as caught:
        ask(tmp_path, script)
    assert said in str(caught.value)


def test_a_program_that_hangs_is_ended(tmp_path):
    with pytest.raises(
        JudgeFailure, match=r"not done after 0\.2 s .*`rose config reflection.timeout_s N`"
    ):
        ask(tmp_path, "import time; time.sleep(60)", timeout_s=0.2)


@pytest.mark.parametrize("line", ["", "  ", "absent", "./absent", "/nowhere/absent", "'open"])
def test_a_line_that_names_no_program_is_a_failure(tmp_path, line):
    with pytest.raises(JudgeFailure, match="--judge-cmd"):
        judge(tmp_path, "", line=line)


def test_a_program_is_not_taken_from_a_relative_entry_of_path(tmp_path):
    with pytest.raises(JudgeFailure):
        judge(tmp_path, "", PATH="bin")
