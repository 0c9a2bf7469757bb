from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from dataclasses import replace

import pytest

from rose.backends.base import BackendFailure, Look, Usage
from rose.backends.claude_code import ClaudeCode
from rose.reflection import queue
from tests.factories import a_served_store
from tests.fakes import ANSWER, SCHEMA, a_program, a_question, some_options

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
REPORT = {
    "type": "result",
    "subtype": "success",
    "is_error": False,
    "result": json.dumps(ANSWER),
    "structured_output": ANSWER,
    "usage": {
        "input_tokens": 100,
        "cache_read_input_tokens": 20,
        "cache_creation_input_tokens": 3,
        "output_tokens": 7,
    },
    # The forked session's tokens are in here as well.
    "modelUsage": {"small": {"outputTokens": 5}, "large": {"outputTokens": 500}},
}


def ask(tmp_path, script, **fields):
    environ = a_program(tmp_path, "claude", script)
    return ClaudeCode(some_options(), environ).ask(a_question(tmp_path, **fields), 60)


def printing(report, code=0):
    text = report if isinstance(report, str) else json.dumps(report)
    return f"import sys\nsys.stdin.read()\nprint({text!r})\nsys.exit({code})"


def failure(tmp_path, script):
    with pytest.raises(BackendFailure) as caught:
        ask(tmp_path, script)
    return caught.value


def without(*names: str):
    return {name: value for name, value in REPORT.items() if name not in names}


def test_the_session_is_forked_with_the_proven_flags_and_the_question_on_its_input(tmp_path):
    seen = tmp_path / "seen"
    script = f"""
import json, os, sys
seen = [sys.argv[1:], sys.stdin.read(), os.getcwd(), os.environ["ROSE_CHILD"]]
json.dump(seen, open({str(seen)!r}, "w"))
print({json.dumps(REPORT)!r})
"""
    ask(tmp_path, script)
    words, text, cwd, child = json.loads(seen.read_text())
    line = (
        "-p --resume 0b6c1d2e-0000-4000-8000-000000000000 --fork-session "
        "--no-session-persistence --output-format json --json-schema SCHEMA "
        "--tools Read,Grep,Glob --strict-mcp-config --settings '{\"disableAllHooks\":true}'"
    )
    at = words.index("--json-schema") + 1
    assert json.loads(words[at]) == SCHEMA
    assert [*words[:at], "SCHEMA", *words[at + 1 :]] == shlex.split(line)
    assert (text, child) == ("Which lesson was used?", "1")
    assert cwd == os.path.join(os.path.realpath(tmp_path), "work")


def test_the_answer_comes_with_the_fork_s_own_tokens_and_its_model(tmp_path):
    answer = ask(tmp_path, printing(REPORT))
    assert (answer.value, answer.model) == (ANSWER, "large")
    assert (answer.usage.calls, answer.usage.input_tokens, answer.usage.output_tokens) == (
        1,
        123,
        7,
    )


def test_the_report_is_the_last_of_all_messages_where_they_are_printed(tmp_path):
    assert ask(tmp_path, printing([{"type": "system"}, REPORT])).value == ANSWER


def test_an_answer_that_was_written_and_not_handed_over_counts(tmp_path):
    assert ask(tmp_path, printing(without("structured_output"))).value == ANSWER


@pytest.mark.parametrize(
    ("script", "kind", "said"),
    [
        ("", "no-answer", "without an answer"),
        (printing(""), "no-answer", "without an answer"),
        (printing("Sorry, no."), "plain-text", "Sorry, no."),
        (printing("{ nonsense"), "plain-text", "nonsense"),
        (
            printing({**without("structured_output"), "result": "I used it."}),
            "plain-text",
            "I used it.",
        ),
        (printing({**without("structured_output"), "result": ""}), "no-answer", "without"),
        (printing(without("structured_output", "result")), "no-answer", "without"),
        (printing({**REPORT, "structured_output": {"rules": 3}}), "schema", "none of the parts"),
        (printing({**REPORT, "structured_output": None, "result": ""}), "no-answer", "without"),
        (printing({**REPORT, "structured_output": []}), "schema", "no object"),
        (printing({**REPORT, "is_error": True, "result": "API Error"}), "exit", "API Error"),
        (
            printing({**without("result"), "subtype": "error_max_turns"}, 1),
            "exit",
            "error_max_turns",
        ),
        ("import sys; sys.exit('No conversation found')", "exit", "No conversation found"),
        (printing("[]"), "schema", "no object"),
    ],
)
def test_each_way_to_fail_has_its_kind_and_its_reason(tmp_path, script, kind, said):
    failed = failure(tmp_path, script)
    assert (failed.kind, failed.usage.calls) == (kind, 1)
    assert said in str(failed)


def test_a_failure_has_cost_tokens_all_the_same(tmp_path):
    failed = failure(tmp_path, printing({**REPORT, "structured_output": {}}))
    assert failed.usage.input_tokens == 123


@pytest.mark.parametrize("usage", [None, [], {}, {"input_tokens": "many", "output_tokens": -1}])
def test_tokens_that_are_not_told_are_none(tmp_path, usage):
    answer = ask(tmp_path, printing({**REPORT, "usage": usage, "modelUsage": usage}))
    assert answer.usage == Usage(1, 0, 0, answer.usage.seconds)
    assert answer.model == ""


def test_the_hooks_of_rose_do_nothing_in_a_fork(tmp_path):
    """A program that runs the hooks all the same neither gets the layer nor queues its session."""
    store = a_served_store(tmp_path)
    payload = {"session_id": "s", "cwd": store.base, "transcript_path": "", "prompt": "go"}
    hooks = f"""
import json, os, subprocess
def fire(event):
    payload = {json.dumps(payload)!r}.replace("go", event)
    words = [{sys.executable!r}, "-m", "rose", "hook", event, "--host", "claude-code"]
    environ = {{**os.environ, "PYTHONPATH": {ROOT!r}}}
    return subprocess.run(words, input=payload, env=environ, cwd={store.base!r},
        capture_output=True, text=True).stdout
"""
    fires = f"{hooks}\nprint(fire('UserPromptSubmit'), end='')"
    environ = a_program(tmp_path, "direct", fires)
    outside = subprocess.run(["direct"], env=environ, capture_output=True, check=True).stdout
    seen = tmp_path / "printed"
    inside = f"""{hooks}
open({str(seen)!r}, "w").write(fire("UserPromptSubmit") + fire("SessionEnd"))
print({json.dumps(REPORT)!r})
"""
    ask(tmp_path, inside)
    assert b"additionalContext" in outside
    assert seen.read_text() == ""
    assert queue.entries(store) == []


def use(name, **given: object):
    block = {"type": "tool_use", "name": name, "input": given}
    return {"type": "assistant", "message": {"content": [{"type": "text", "text": "hm"}, block]}}


MESSAGES = [
    {"type": "system", "subtype": "init"},
    use("Grep", pattern="port", path="nodes"),
    {"type": "user", "message": {"content": [{"type": "tool_result", "content": "a.md"}]}},
    {"type": "user", "message": {"content": "a text"}},
    use("Read", file_path="/repo/nodes/a.md"),
    use("StructuredOutput", rules=[]),
    "no object",
    REPORT,
]


@pytest.mark.parametrize("alone", [True, False])
def test_a_question_to_read_for_has_the_reading_tools_and_tells_its_looks(tmp_path, alone):
    seen = tmp_path / "seen"
    script = f"import sys\nopen({str(seen)!r}, 'w').write(' '.join(sys.argv))\n"
    environ = a_program(tmp_path, "claude", script + printing(MESSAGES))
    question = replace(a_question(tmp_path), alone=alone, reads=True)
    answer = ClaudeCode(some_options(), environ).ask(question, 60)
    assert answer.looks == (
        Look("Grep", '{"path":"nodes","pattern":"port"}'),
        Look("Read", '{"file_path":"/repo/nodes/a.md"}'),
    )
    words = seen.read_text()
    assert "--verbose --tools Read,Grep,Glob --strict-mcp-config" in words
    assert ("--resume" in words) is not alone


def test_a_failed_question_to_read_for_names_no_reflection(tmp_path):
    environ = a_program(tmp_path, "claude", printing("no"))
    question = replace(a_question(tmp_path), reads=True)
    with pytest.raises(BackendFailure) as caught:
        ClaudeCode(some_options(), environ).ask(question, 60)
    assert "rose reflect" not in str(caught.value)
