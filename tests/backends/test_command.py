from __future__ import annotations

import json
import os

import pytest

from rose.backends.base import BackendFailure
from rose.backends.command import Command
from tests.fakes import ANSWER, SCHEMA, a_program, a_question, some_options


def ask(tmp_path, script, line="model --flag 'two words'", timeout_s=60):
    environ = a_program(tmp_path, "model", script)
    backend = Command(some_options(reflection_command=line), environ)
    return backend.ask(a_question(tmp_path, "codex", transcript="/t.jsonl"), timeout_s)


def test_a_program_gets_the_question_as_json_and_prints_the_answer(tmp_path):
    seen = tmp_path / "seen"
    script = f"""
import json, os, sys
json.dump([sys.argv[1:], json.load(sys.stdin), os.environ["ROSE_CHILD"]], open({str(seen)!r}, "w"))
print({json.dumps(ANSWER)!r})
"""
    answer = ask(tmp_path, script)
    words, asked, child = json.loads(seen.read_text())
    subject = a_question(tmp_path).subject
    assert (answer.value, answer.usage.calls) == (ANSWER, 1)
    assert (words, child) == (["--flag", "two words"], "1")
    assert asked == {
        "v": 1,
        "question": "Which lesson was used?",
        "schema": SCHEMA,
        "session": {
            "host": "codex",
            "session": subject.session,
            "transcript": "/t.jsonl",
            "cwd": subject.cwd,
        },
    }


def test_no_shell_reads_the_line(tmp_path):
    script = "import sys, json\nprint(json.dumps({'rules': sys.argv[1:]}))"
    answer = ask(tmp_path, script, "model $(touch evil) ;")
    assert answer.value == {"rules": ["$(touch", "evil)", ";"]}
    assert os.listdir(a_question(tmp_path).subject.cwd) == []


@pytest.mark.parametrize(
    ("script", "kind", "said"),
    [
        ("", "no-answer", "without an answer"),
        ("print('words')", "plain-text", "words"),
        ("print('{ nonsense')", "plain-text", "nonsense"),
        ("print('{}')", "schema", "none of the parts"),
        ("import sys; print('{}'); sys.exit('out of luck')", "exit", "out of luck"),
        ("import time; time.sleep(300)", "timeout", "not done after 1 s"),
        ("while True: print('x' * 1000000)", "no-answer", "16 MB"),
    ],
)
def test_each_way_to_fail_has_its_kind_and_its_reason(tmp_path, script, kind, said):
    with pytest.raises(BackendFailure, match=said) as caught:
        ask(tmp_path, script, timeout_s=1 if kind == "timeout" else 60)
    assert (caught.value.kind, caught.value.usage.calls) == (kind, 1)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", "is not set"),
        ("model 'open", "no command line"),
        ("''", "neither on PATH"),
        ("./model", "neither on PATH"),
        ("nobody", "'nobody' is neither on PATH"),
    ],
)
def test_what_hinders_it_is_a_sentence_and_asking_says_the_same(tmp_path, line, said):
    environ = a_program(tmp_path, "model", "")
    backend = Command(some_options(reflection_command=line), environ)
    assert said in backend.hindrance()
    with pytest.raises(BackendFailure, match=said) as caught:
        backend.ask(a_question(tmp_path), 60)
    assert (caught.value.kind, caught.value.usage.calls) == ("unavailable", 0)


def test_it_needs_a_digest_and_is_hindered_inside_of_a_reflection(tmp_path):
    environ = a_program(tmp_path, "model", "")
    options = some_options(reflection_command="model")
    assert not Command(options, environ).forks
    assert Command(options, environ).hindrance() == ""
    assert "ROSE_CHILD" in Command(options, {**environ, "ROSE_CHILD": "1"}).hindrance()
