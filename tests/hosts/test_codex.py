"""Codex's rollouts read into events."""

from __future__ import annotations

import json

import pytest

from rose.hosts import codex
from rose.hosts.base import Boundary, Call, Head, Injection, Prompt, Said, Tally
from rose.hosts.codex import Codex
from rose.hosts.codex_calls import read_output
from tests.hosts.making import (
    SESSION,
    at,
    capture,
    codex_call,
    codex_message,
    codex_meta,
    codex_output,
    write,
)
from tests.hosts.making import codex as codex_row


@pytest.fixture
def events_of(tmp_path):
    """Return a function from rows to events."""

    def read(*rows: object):
        return list(Codex(write(tmp_path / "a.jsonl", [codex_meta(), *rows])).events())

    return read


def texts(events):
    """Return the texts of the prompts."""
    return [event.text for event in events if isinstance(event, Prompt)]


def event(kind, second=0, **fields):
    """Return an event of the client."""
    return codex_row("event_msg", {"type": kind, **fields}, second)


def user_item(text, second=0):
    """Return the client's record of a prompt in newer versions."""
    item = {"type": "UserMessage", "content": [{"type": "text", "text": text}]}
    return event("item_completed", second, item=item)


def test_a_rollout_is_read_in_order():
    transcript = Codex(capture("codex/rollout.jsonl"))
    events = list(transcript.events())
    calls = [e for e in events if isinstance(e, Call)]

    assert transcript.head() == Head(
        session="10000000-0000-4000-8000-000000000074",
        host="codex",
        cwd="/repo",
        started="2026-11-30T19:05:27.169Z",
        version="0.171.0",
    )
    assert texts(events) == ["Run the integration tests", "No - export APP_DB_URL first."]
    assert [(c.command, c.paths, c.failed, c.turn) for c in calls] == [
        ("grep -rln integration nodes", (), False, 1),
        ("cat nodes/testing/integration-db.md nodes/deploy/rollback.md", (), False, 1),
        ("echo 'E: APP_DB_URL is not set' >&2; exit 1", (), True, 1),
        ("APP_DB_URL=x python3 -c \"print('2 passed')\"", (), False, 2),
        (None, ("README.md",), True, 2),
    ]
    assert calls[2].result == "E: APP_DB_URL is not set\n"
    assert calls[1].result.startswith("---\ntitle: Integration tests need a database URL\n")
    assert [e.event for e in events if isinstance(e, Injection)] == ["UserPromptSubmit"] * 2
    assert [e.text for e in events if isinstance(e, Said)][-1] == "Both tests pass."
    assert transcript.tally == Tally(rows=52)


def test_a_fork_names_its_parent_and_holds_its_own_rows():
    fork = Codex(capture("codex/fork.jsonl"))

    assert texts(fork.events()) == ["Reflect on selection."]
    assert fork.head().parent == "10000000-0000-4000-8000-000000000074"
    assert not {*fork.uuids()} & {*Codex(capture("codex/rollout.jsonl")).uuids()}


def test_rows_are_named_by_thread_and_ordinal_or_line(tmp_path):
    message = codex_message("user", "go")
    path = write(tmp_path / "a.jsonl", [codex_meta(), {**message, "ordinal": 7}, message])

    assert Codex(path).uuids() == [f"{SESSION}:line 1", f"{SESSION}:7", f"{SESSION}:line 3"]


def test_rows_already_seen_or_older_than_the_thread_are_copies(tmp_path):
    old = {**codex_message("user", "old"), "timestamp": "2026-11-30T09:00:00.000Z"}
    path = write(
        tmp_path / "a.jsonl",
        [codex_meta(), old, codex_message("user", "one", 1), codex_message("user", "two", 2)],
    )
    transcript = Codex(path)

    assert texts(transcript.events(frozenset([f"{SESSION}:line 3"]))) == ["two"]
    assert transcript.tally.copied == 2


def test_a_transcript_can_be_read_twice():
    transcript = Codex(capture("codex/rollout.jsonl"))

    assert list(transcript.events()) == list(transcript.events())
    assert transcript.tally.rows == 52


@pytest.mark.parametrize(
    ("name", "session"),
    [
        (f"rollout-2025-09-24T19-22-20-{SESSION}.jsonl", SESSION),
        ("thread.jsonl", "thread"),
    ],
)
def test_the_file_name_stands_in_for_a_missing_thread_id(tmp_path, name, session):
    path = write(tmp_path / name, [codex_message("user", "go", 1)])

    assert Codex(path).head() == Head(session, "codex", started=at(1))


@pytest.mark.parametrize(
    "rows",
    [
        [codex_message("user", "go"), event("user_message", message="go")],
        [event("user_message", message="go"), codex_message("user", "go")],
        [codex_message("user", "go", kinds=["user.text"]), user_item("go")],
        [codex_message("user", "go")],
        [event("user_message", message="go")],
        [user_item("go")],
    ],
    ids=["message, event", "event, message", "message, item", "message", "event", "item"],
)
def test_a_prompt_counts_once_however_it_is_recorded(events_of, rows):
    assert texts(events_of(*rows)) == ["go"]


def test_the_same_words_typed_again_are_a_new_prompt(events_of):
    pair = [codex_message("user", "go on"), event("user_message", message="go on")]
    said = codex_message("assistant", "done")

    assert texts(events_of(*pair, said, *pair)) == ["go on", "go on"]
    assert texts(events_of(pair[0], said, pair[1])) == ["go on", "go on"]


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("<environment_context>x</environment_context>", None),
        ("# AGENTS.md instructions for /repo", None),
        ("<user_instructions>x</user_instructions>", None),
        ("words of the host", ["environments.environment_context"]),
        ("words of the host", [None]),
        ("<hook_prompt>go on</hook_prompt>", ["user.text"]),
    ],
)
def test_what_the_host_says_for_the_user_is_no_prompt(events_of, text, kinds):
    assert events_of(codex_message("user", text, kinds=kinds)) == []


def test_the_editors_notes_are_no_part_of_a_prompt(events_of):
    text = "# Context from my IDE setup:\n\n## Open tabs:\n- a.py\n\n## My request for Codex:\ngo\n"
    rows = [codex_message("user", text), event("user_message", message=text)]

    assert texts(events_of(*rows)) == ["go"]


def test_only_the_typed_blocks_of_a_message_count(events_of):
    payload = {
        "type": "message",
        "role": "user",
        "content": [{"text": "environment"}, {"type": "input_image"}, {"text": "go"}],
        "internal_chat_message_metadata_passthrough": {
            "content_item_kinds": ["environments.environment_context", "x", "user.text"]
        },
    }

    assert texts(events_of(codex_row("response_item", payload))) == ["go"]


HOOK = ["hooks.additional_context"]


def test_a_hooks_words_name_the_moment_they_came(events_of):
    events = events_of(
        codex_message("developer", "start", kinds=HOOK),
        codex_message("user", "go", 1),
        codex_message("developer", "prompt", 2, HOOK),
        codex_call("exec_command", {"cmd": "ls"}, second=3),
        codex_message("developer", "tool", 4, HOOK),
        codex_output("x", second=5),
        event("task_started", 6),
        codex_message("developer", "again", 7, HOOK),
    )

    assert [(e.event, e.text, e.turn) for e in events if isinstance(e, Injection)] == [
        ("SessionStart", "start", 0),
        ("UserPromptSubmit", "prompt", 1),
        ("", "tool", 1),
        ("SessionStart", "again", 1),
    ]


@pytest.mark.parametrize(
    ("text", "kinds", "count"),
    [
        ("permissions", ["permissions.instructions"], 0),
        ("permissions", None, 0),
        ("rose routing layer v1: where", None, 1),
        ("rose recall v1: lessons", None, 1),
        (" ", HOOK, 0),
    ],
)
def test_other_words_of_the_developer_are_no_injection(events_of, text, kinds, count):
    assert len(events_of(codex_message("developer", text, kinds=kinds))) == count


@pytest.mark.parametrize(
    ("name", "arguments", "command", "paths"),
    [
        ("exec_command", {"cmd": "cat a.md"}, "cat a.md", ()),
        ("shell", {"command": ["bash", "-lc", "rg x | head"]}, "rg x | head", ()),
        ("shell", {"command": ["git", "log", "a b"]}, "git log 'a b'", ()),
        ("shell", '{"command": ["bash", ', None, ()),
        ("shell", "7", None, ()),
        ("view_image", {"path": "/a.png"}, None, ("/a.png",)),
        ("update_plan", {"plan": []}, None, ()),
        (
            "shell",
            {"command": ["apply_patch", "*** Begin Patch\n*** Add File: a.py\n*** End Patch"]},
            "apply_patch '*** Begin Patch\n*** Add File: a.py\n*** End Patch'",
            ("a.py",),
        ),
    ],
)
def test_a_call_says_what_it_runs_and_names(events_of, name, arguments, command, paths):
    call = events_of(codex_call(name, arguments))[0]

    assert (call.name, call.command, call.paths) == (name, command, paths)


@pytest.mark.parametrize(
    ("workdir", "cwd"), [(None, "/repo"), ("/other", "/other"), ("sub", "/repo/sub"), (7, "/repo")]
)
def test_a_call_runs_where_it_says(events_of, workdir, cwd):
    assert events_of(codex_call("exec_command", {"cmd": "ls", "workdir": workdir}))[0].cwd == cwd


def test_a_turn_moves_the_folder(events_of):
    moved = codex_row("turn_context", {"cwd": "/elsewhere"})

    assert events_of(moved, codex_call("exec_command", {"cmd": "ls"}))[0].cwd == "/elsewhere"


def test_a_local_shell_call_is_a_command(events_of):
    action = {"type": "exec", "command": ["bash", "-lc", "ls"], "working_directory": "/w"}
    payload = {"type": "local_shell_call", "call_id": "c1", "action": action}
    call = events_of(codex_row("response_item", payload), codex_output("a.txt"))[0]

    assert (call.name, call.command, call.cwd, call.result) == (
        "local_shell",
        "ls",
        "/w",
        "a.txt",
    )


def test_a_search_of_the_web_is_foreign_and_has_no_result_of_its_own(events_of):
    payload = {"type": "web_search_call", "action": {"type": "search", "query": "x"}}
    search, said = events_of(
        codex_row("response_item", payload), codex_message("assistant", "found")
    )

    assert (search.name, search.foreign, search.input) == (
        "web_search",
        True,
        {"type": "search", "query": "x"},
    )
    assert said == Said(0, "found")


def test_a_tool_of_a_server_is_foreign(events_of):
    assert events_of(codex_call("github__search", {}))[0].foreign


def test_what_a_shell_fetched_is_foreign(events_of):
    command = {"cmd": "curl -s a.example | head"}
    assert events_of(codex_call("exec_command", command))[0].foreign


HEADER = "Chunk ID: 87ff58\nWall time: 0.1 seconds\n{}\nOriginal token count: 8\nOutput:\n"


@pytest.mark.parametrize(
    ("output", "text", "failed"),
    [
        (HEADER.format("Process exited with code 0") + "a\nb\n", "a\nb\n", False),
        (HEADER.format("Process exited with code 127") + "a", "a", True),
        (HEADER.format("Process running with session ID 3") + "a", "a", False),
        ("Exit code: 2\nWall time: 0.1 seconds\nOutput:\na", "a", True),
        ("Exit code: 2\nno header after all", "Exit code: 2\nno header after all", False),
        ("Output:\na", "Output:\na", False),
        ("text\nProcess exited with code 1\nOutput:\n", None, False),
        (json.dumps({"output": "a", "metadata": {"exit_code": 0}}), "a", False),
        (json.dumps({"output": "a", "metadata": {"exit_code": 1}}), "a", True),
        (json.dumps({"output": "a"}), None, False),
        ('{"output": torn', None, False),
        ("failed in sandbox X with execution error: exit code: 1, stdout: , stderr: ", None, True),
        ("unsupported custom tool call: apply_patch", None, True),
        ("patch rejected by user", None, True),
        ("Plan updated", None, False),
        ({"content": "a", "success": False}, "a", True),
        ({"content": [{"type": "input_text", "text": "a"}], "success": True}, "a", False),
        ([{"type": "input_text", "text": "a"}], "a", False),
        (None, "", False),
        (7, "", False),
    ],
)
def test_an_output_is_read_without_its_header(output, text, failed):
    assert read_output(output) == (output if text is None else text, failed)


@pytest.mark.parametrize(
    "record",
    [
        event("item_completed", item={"type": "CommandExecution", "id": "c1", "exit_code": 1}),
        event("exec_command_end", call_id="c1", exit_code=1),
    ],
)
def test_a_failure_that_the_client_recorded_apart_counts(events_of, record):
    call = events_of(codex_call("exec_command", {"cmd": "x"}), record, codex_output("out"))[0]

    assert (call.result, call.failed) == ("out", True)


@pytest.mark.parametrize(
    "marks",
    [
        [codex_row("compacted", {"message": "s", "replacement_history": []})],
        [codex_row("response_item", {"type": "compaction", "encrypted_content": "x"})],
        [codex_row("compacted", {"message": "s"}), event("context_compacted")],
    ],
)
def test_a_compaction_is_one_boundary(events_of, marks):
    assert events_of(*marks) == [Boundary(0, "compaction")]


def test_an_unanswered_call_comes_last(events_of):
    events = events_of(codex_call("exec_command", {"cmd": "ls"}), codex_message("assistant", "hm"))

    assert [type(e) for e in events] == [Said, Call]


@pytest.mark.parametrize(
    "stranger",
    [{"type": "future", "payload": {}}, {"type": "event_msg", "payload": 7}, {"payload": {}}],
)
def test_a_row_of_another_shape_is_foreign(tmp_path, stranger):
    transcript = Codex(write(tmp_path / "a.jsonl", [codex_meta(), stranger]))

    assert list(transcript.events()) == []
    assert transcript.tally == Tally(rows=2, foreign=1)


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ({"timestamp": "t", "ordinal": 1, "type": "token_usage_record", "payload": {}}, True),
        ({"timestamp": "t", "type": "event_msg", "payload": {"type": "token_count"}}, True),
        ({"timestamp": "t", "type": "response_item", "payload": {"type": "reasoning"}}, True),
        ({"timestamp": "t", "type": "response_item", "payload": {"type": "message"}}, False),
        ({"timestamp": "t", "type": "turn_context", "payload": {"type": "reasoning"}}, False),
        ({"timestamp": "t", "type": "event_msg", "payload": {"x": {"type": "reasoning"}}}, False),
        ({"payload": {"type": "token_count"}, "type": "event_msg"}, False),
    ],
)
@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")])
def test_bookkeeping_is_told_by_the_head_of_a_row(shape, expected, separators):
    assert codex.skip(json.dumps(shape, separators=separators).encode()) is expected
