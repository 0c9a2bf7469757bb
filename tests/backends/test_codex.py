from __future__ import annotations

import json
import os
import shlex
from dataclasses import replace

import pytest

from rose.backends.base import BackendFailure, Look
from rose.backends.codex import Codex
from tests.fakes import ANSWER, SCHEMA, a_program, a_question, some_options

EVENTS = [
    {"type": "thread.started", "thread_id": "t"},
    {"type": "item.completed", "item": {"type": "error", "message": "a mere warning"}},
    {"type": "turn.completed", "usage": {"input_tokens": 1100, "output_tokens": 70}},
]
# Writes what the real one writes: the events to its output, the answer to the file after -o.
CODEX = """
import json, sys
words = sys.argv[1:]
sys.stdin.read()
for event in {events!r}:
    print(json.dumps(event))
if {answer!r} is not None:
    open(words[words.index("-o") + 1], "w").write({answer!r})
sys.exit({code!r})
"""


def codex(answer=None, code=0, events=EVENTS):
    text = answer if answer is None or isinstance(answer, str) else json.dumps(answer)
    return CODEX.format(events=events, answer=text, code=code)


def ask(tmp_path, script, **fields):
    environ = a_program(tmp_path, "codex", script)
    return Codex(some_options(), environ).ask(a_question(tmp_path, "codex", **fields), 60)


def failure(tmp_path, script):
    with pytest.raises(BackendFailure) as caught:
        ask(tmp_path, script)
    return caught.value


def a_rollout(tmp_path, *totals: dict | None):
    """Write a transcript that holds counts of tokens among other rows, and return its path."""
    rows = [{"type": "session_meta", "payload": {"id": "s"}}]
    rows += [
        {"type": "event_msg", "payload": {"type": "token_count", "info": total}} for total in totals
    ]
    path = tmp_path / "rollout.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows) + "{torn")
    return str(path)


def total(read, written):
    return {"total_token_usage": {"input_tokens": read, "output_tokens": written}}


def test_the_session_is_forked_with_the_proven_flags_and_the_question_on_its_input(tmp_path):
    seen = tmp_path / "seen"
    script = f"""
import json, os, sys
words = sys.argv[1:]
schema, out = (words[words.index(name) + 1] for name in ("--output-schema", "-o"))
seen = [words, json.load(open(schema)), sys.stdin.read(), os.getcwd(), os.environ["ROSE_CHILD"]]
json.dump(seen, open({str(seen)!r}, "w"))
open(out, "w").write({json.dumps(ANSWER)!r})
"""
    ask(tmp_path, script)
    words, schema, text, cwd, child = json.loads(seen.read_text())
    at, out = words.index("--output-schema") + 1, words.index("-o") + 1
    folder = os.path.dirname(words[at])
    line = (
        "exec --json --ephemeral --disable hooks -s read-only --skip-git-repo-check "
        f"--output-schema {words[at]} -o {words[out]} "
        "fork 0b6c1d2e-0000-4000-8000-000000000000 -"
    )
    assert words == shlex.split(line)
    assert schema == SCHEMA
    assert (text, child) == ("Which lesson was used?", "1")
    assert cwd == os.path.join(os.path.realpath(tmp_path), "work")
    assert not os.path.exists(folder)
    assert os.listdir(cwd) == []


def test_the_folder_of_the_answer_goes_where_the_program_fails_too(tmp_path):
    seen = tmp_path / "seen"
    failure(tmp_path, f"import sys\nopen({str(seen)!r}, 'w').write(sys.argv[-4])\nsys.exit(1)")
    assert os.path.isabs(seen.read_text())
    assert not os.path.exists(os.path.dirname(seen.read_text()))


def test_no_file_is_made_in_the_project(tmp_path, monkeypatch):
    work = a_question(tmp_path).subject.cwd
    monkeypatch.setattr("tempfile.tempdir", work)
    failed = failure(tmp_path, codex(ANSWER))
    assert (failed.kind, failed.usage.calls) == ("unavailable", 0)
    assert "TMPDIR" in str(failed)
    assert os.listdir(work) == []


def test_the_answer_is_what_was_written(tmp_path):
    assert ask(tmp_path, codex(ANSWER)).value == ANSWER


def test_the_tokens_are_those_beyond_the_forked_session_s(tmp_path):
    path = a_rollout(tmp_path, total(400, 10), total(1000, 60), None)
    usage = ask(tmp_path, codex(ANSWER), transcript=path).usage
    assert (usage.calls, usage.input_tokens, usage.output_tokens) == (1, 100, 10)


def test_a_count_far_before_the_end_of_a_long_transcript_is_not_needed(tmp_path, monkeypatch):
    monkeypatch.setattr("rose.backends.codex.TAIL_BYTES", 400)
    path = a_rollout(tmp_path, *(total(n, n) for n in range(900, 1000)))
    usage = ask(tmp_path, codex(ANSWER), transcript=path).usage
    assert usage.input_tokens == 1100 - 999


@pytest.mark.parametrize("transcript", ["", "/nowhere", "/dev/null", "a\0b"])
def test_tokens_are_not_known_where_the_forked_session_s_are_not(tmp_path, transcript):
    usage = ask(tmp_path, codex(ANSWER), transcript=transcript).usage
    assert (usage.calls, usage.input_tokens, usage.output_tokens) == (1, 0, 0)


@pytest.mark.parametrize(
    "events",
    [
        [],
        [{"type": "turn.completed"}],
        [{"type": "turn.completed", "usage": {"input_tokens": "x"}}],
    ],
)
def test_tokens_that_are_not_told_are_none(tmp_path, events):
    path = a_rollout(tmp_path, total(1, 1))
    usage = ask(tmp_path, codex(ANSWER, events=events), transcript=path).usage
    assert (usage.input_tokens, usage.output_tokens) == (0, 0)


def test_all_tokens_of_a_question_that_stands_alone_are_its_own(tmp_path):
    environ = a_program(tmp_path, "codex", codex(ANSWER))
    question = replace(a_question(tmp_path, "", session=""), alone=True)
    usage = Codex(some_options(), environ).ask(question, 60).usage
    assert (usage.calls, usage.input_tokens, usage.output_tokens) == (1, 1100, 70)


FAILED = [*EVENTS[:2], {"type": "turn.failed", "error": {"message": "quota exceeded"}}]


@pytest.mark.parametrize(
    ("script", "kind", "said"),
    [
        (codex(), "no-answer", "without an answer"),
        (codex(""), "no-answer", "without an answer"),
        (codex("I used the first one."), "plain-text", "I used the first one."),
        (codex("{ nonsense"), "plain-text", "nonsense"),
        (codex({"rules": "read"}), "schema", "none of the parts"),
        (codex([]), "schema", "no object"),
        (codex(ANSWER, 1, FAILED), "exit", "quota exceeded"),
        ("import sys; sys.exit('no rollout found')", "exit", "no rollout found"),
    ],
)
def test_each_way_to_fail_has_its_kind_and_its_reason(tmp_path, script, kind, said):
    failed = failure(tmp_path, script)
    assert (failed.kind, failed.usage.calls) == (kind, 1)
    assert said in str(failed)
    assert "mere warning" not in str(failed)


LOOKS = (
    {"type": "item.started", "item": {"type": "command_execution", "command": "cat a"}},
    {"type": "item.completed", "item": {"type": "command_execution", "command": "cat a"}},
    {"type": "item.completed", "item": {"type": "agent_message", "text": "hm"}},
    {"type": "item.completed", "item": "no object"},
)


@pytest.mark.parametrize("reads", [True, False])
def test_a_question_to_read_for_tells_its_looks(tmp_path, reads):
    environ = a_program(tmp_path, "codex", codex(ANSWER, events=[*LOOKS]))
    question = replace(a_question(tmp_path, "codex"), reads=reads)
    answer = Codex(some_options(), environ).ask(question, 60)
    assert answer.looks == ((Look("shell", "cat a"),) if reads else ())


def test_of_a_session_that_has_spent_nothing_yet_the_fork_has_spent_all(tmp_path):
    used = {"input_tokens": 900, "output_tokens": 20}
    events = [{"type": "turn.completed", "usage": used}]
    answer = ask(tmp_path, codex(ANSWER, events=events), transcript=a_rollout(tmp_path))
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (900, 20)
