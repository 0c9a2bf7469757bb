"""Claude Code's transcripts read into events."""

from __future__ import annotations

import json

import pytest

from rose.hosts import claude_code
from rose.hosts.base import RESULT_CHARS, Boundary, Call, Head, Injection, Prompt, Said, Tally
from rose.hosts.claude_code import ClaudeCode
from tests.hosts.making import (
    SESSION,
    assistant,
    at,
    attachment,
    call,
    capture,
    result,
    row,
    said,
    user,
    write,
)


@pytest.fixture
def events_of(tmp_path):
    """Return a function from rows to events."""

    def read(*rows: object):
        return list(ClaudeCode(write(tmp_path / "a.jsonl", rows)).events())

    return read


def prompts(events):
    """Return the texts of the prompts."""
    return [event.text for event in events if isinstance(event, Prompt)]


def test_a_session_is_read_in_order():
    transcript = ClaudeCode(capture("claude/work-1.jsonl"))
    pytest_red, grep, read, pytest_green = [
        event for event in transcript.events() if isinstance(event, Call)
    ]

    assert transcript.head() == Head(
        session="10000000-0000-4000-8000-0000000000a1",
        host="claude-code",
        cwd="/repo",
        started="2026-11-30T20:17:47.498Z",
        version="2.1.332",
    )
    assert (pytest_red.command, pytest_red.failed) == ("pytest tests/integration", True)
    assert (grep.paths, grep.result) == (
        ("/repo/nodes",),
        "Found 1 file\nnodes/testing/integration-db.md",
    )
    assert read.paths == ("/repo/nodes/testing/integration-db.md",)
    assert read.result.startswith("---\ntitle: Integration tests need a database URL\n")
    assert (pytest_green.turn, pytest_green.order, pytest_green.failed) == (1, 3, False)
    assert transcript.tally == Tally(rows=42)


def test_the_block_that_arrived_is_an_injection_word_for_word():
    events = list(ClaudeCode(capture("claude/work-routed.jsonl")).events())
    injection = next(event for event in events if isinstance(event, Injection))

    assert (injection.turn, injection.event, injection.agent) == (1, "UserPromptSubmit", None)
    assert injection.text.startswith("rose routing layer v1: where knowledge lies")
    assert injection.text.endswith(
        "\n- When the task is a docs change: nothing in nodes/deploy/ applies, skip it"
    )


def test_a_block_that_the_host_cut_is_the_hosts_stub():
    events = list(ClaudeCode(capture("claude/work-cut.jsonl")).events())
    injection = next(event for event in events if isinstance(event, Injection))

    assert injection.text.startswith("<persisted-output>\nOutput too large (14.5KB).")


def test_a_compaction_is_a_boundary_and_nothing_around_it_is_a_prompt():
    events = list(ClaudeCode(capture("claude/compacted.jsonl")).events())

    assert prompts(events) == ["delegate it"]
    assert events[-1] == Boundary(1, "compaction")


@pytest.mark.parametrize("seen", [frozenset(), None], ids=["by time", "by id"])
def test_a_fork_says_nothing_of_its_parents_rows(tmp_path, seen):
    parent = ClaudeCode(capture("claude/session.jsonl"))
    path = capture("claude/fork.jsonl")
    if seen is None:
        # Without the rows that are stamped with its start, a fork begins like its parent.
        with open(path, encoding="utf-8") as stream:
            copied = [line.rstrip("\n") for line in stream if "T19:05:16.25" not in line]
        path = write(tmp_path / "fork.jsonl", copied)
        seen = frozenset(parent.uuids())
    fork = ClaudeCode(path)

    events = list(fork.events(seen))

    assert fork.head().parent == parent.head().session
    assert prompts(events) == ["Reflect on how lessons were selected in this session."]
    assert [event.name for event in events if isinstance(event, Call)] == ["StructuredOutput"]
    assert fork.tally.copied == 23


def test_two_rows_with_one_uuid_that_say_different_things_are_not_the_same(events_of, tmp_path):
    other = ClaudeCode(write(tmp_path / "b.jsonl", [user("one thing", uuid="u1")]))
    mine = ClaudeCode(write(tmp_path / "a.jsonl", [user("another", uuid="u1")]))

    assert prompts(mine.events(frozenset(other.uuids()))) == ["another"]


def test_rows_of_another_session_in_a_file_named_after_its_own_are_copies(tmp_path):
    path = write(tmp_path / f"{SESSION}.jsonl", [user("old", sessionId="other"), user("new", 1)])
    transcript = ClaudeCode(path)

    assert prompts(transcript.events()) == ["new"]
    assert transcript.tally.copied == 1
    assert transcript.head().parent == "other"
    assert len(transcript.uuids()) == 1


def test_rows_of_one_moment_may_be_out_of_order(events_of):
    late = user("first", timestamp="2026-11-30T10:00:00.065Z")
    early = call("Bash", {"command": "ls"}, timestamp="2026-11-30T10:00:00.001Z")

    assert len(events_of(late, early)) == 2


def test_a_transcript_can_be_read_twice(tmp_path):
    transcript = ClaudeCode(
        write(tmp_path / "a.jsonl", [user("a"), call("Bash", {"command": "ls"}), "torn {"])
    )

    first, tally = list(transcript.events()), transcript.tally
    again = list(transcript.events())

    assert first == again
    assert transcript.tally == tally == Tally(rows=3, torn=1)


def test_the_file_name_stands_in_for_a_missing_session_id(tmp_path):
    path = write(tmp_path / "abc.jsonl", [{"type": "user", "message": {"content": "hi"}}])

    assert ClaudeCode(path).head() == Head("abc", "claude-code")
    assert prompts(ClaudeCode(path).events()) == ["hi"]


@pytest.mark.parametrize(
    "mark",
    [
        {"isMeta": True},
        {"isCompactSummary": True},
        {"isVisibleInTranscriptOnly": True},
        {"rowSource": "harness"},
        {"origin": {"kind": "task-notification"}},
    ],
    ids=lambda mark: next(iter(mark)),
)
def test_a_row_that_the_host_marked_as_its_own_is_no_prompt(events_of, mark):
    assert events_of(user("words", **mark)) == []


@pytest.mark.parametrize(
    "mark",
    [{"isMeta": False}, {"origin": {"kind": "human"}}, {"promptSource": "sdk"}, {"isMeta": 1}],
)
def test_any_other_mark_leaves_the_prompt(events_of, mark):
    assert events_of(user("words", **mark)) == [Prompt(1, "words", at(0))]


def test_a_slash_command_with_arguments_is_what_was_typed_and_its_expansion_is_not(events_of):
    command = user(
        "<command-message>plan</command-message>\n<command-name>/plan</command-name>\n"
        "<command-args>the login page</command-args>",
        uuid="c1",
    )
    expansion = user([{"type": "text", "text": "Make a plan. Arguments: x"}], 1, parentUuid="c1")
    typed = user("and now?", 3)

    events = events_of(command, expansion, said("done", 2), typed)

    assert prompts(events) == ["/plan the login page", "and now?"]


@pytest.mark.parametrize(
    "caveat",
    [
        user("Caveat: The messages below were generated by the user while running local commands."),
        user("<local-command-caveat>Caveat: ...</local-command-caveat>", isMeta=True),
    ],
)
def test_a_command_below_a_caveat_never_reached_the_model(events_of, caveat):
    command = user("<command-name>/x</command-name><command-args>a b</command-args>", 1)
    output = user("<local-command-stdout>done</local-command-stdout>", 2)

    assert prompts(events_of(caveat, command, output, user("go on", 3))) == ["go on"]


@pytest.mark.parametrize(
    "cleared",
    [
        user("<command-name>/clear</command-name>\n<command-args></command-args>"),
        row("system", subtype="local_command", content="<command-name>/clear</command-name>"),
    ],
    ids=["user row", "system row"],
)
def test_a_clear_is_a_boundary(events_of, cleared):
    assert events_of(cleared) == [Boundary(0, "clear")]


def test_two_marks_of_one_compaction_are_one_boundary(events_of):
    mark = row("system", subtype="compact_boundary")

    assert events_of(mark, mark, user("a", 1), mark) == [
        Boundary(0, "compaction"),
        Prompt(1, "a", at(1)),
        Boundary(1, "compaction"),
    ]


def test_only_the_text_blocks_of_a_prompt_count(events_of):
    blocks = [
        {"type": "image", "source": {"data": "iVBOR"}},
        {"type": "text", "text": "<ide_opened_file>a.py</ide_opened_file>"},
        {"type": "text", "text": "what is this?"},
        "stray",
        {"type": "text", "text": "and that?"},
    ]

    assert prompts(events_of(user(blocks))) == ["what is this?\nand that?"]


def test_roses_own_words_in_a_users_row_are_no_prompt(events_of):
    block = "rose routing layer v1: where\nStore: /r\n- When the task is x: read y"

    events = events_of(
        user(block), user(f"look:\n{block}", 1), user('<rose-reflection v="1">\nx', 2)
    )

    assert prompts(events) == ["look:"]


def test_a_queued_message_is_the_prompt_of_its_moment(events_of):
    def queue(operation, second, **fields):
        return row("queue-operation", second, operation=operation, **fields)

    events = events_of(
        queue("enqueue", 0, content="go"),
        queue("dequeue", 0),
        user("go", 1),
        queue("enqueue", 2, content="check again"),
        queue("remove", 3),
        said("checking", 4),
        queue("enqueue", 5, content="and push"),
        attachment("queued_command", 6, prompt="and push", commandMode="prompt"),
        queue("remove", 6),
    )

    assert [(e.text, e.at) for e in events if isinstance(e, Prompt)] == [
        ("go", at(1)),
        ("check again", at(3)),
        ("and push", at(6)),
    ]
    assert [event.turn for event in events if isinstance(event, Said)] == [2]


def test_calls_are_paired_across_rows_and_come_with_their_result(events_of):
    events = events_of(
        call("Read", {"file_path": "/a"}, "t1", 1),
        call("Bash", {"command": "ls"}, "t2", 2),
        result("files", "t2", 3),
        result("     1→one\n     2→\n    10→ten", "t1", 4),
        call("Write", {"file_path": "/b", "content": "x"}, "t3", 5),
    )

    assert [(e.order, e.name, e.result) for e in events] == [
        (1, "Bash", "files"),
        (0, "Read", "one\n\nten"),
        (2, "Write", ""),
    ]


@pytest.mark.parametrize(
    ("content", "note", "text"),
    [
        ("1\tone\n2\ttwo", None, "one\ntwo"),
        ("1\tone\n<system-reminder>x</system-reminder>", {"file": {"content": "one"}}, "one"),
        ("1\tone", {"file": {"content": 7}}, "one"),
        ([{"type": "text", "text": "a"}, {"type": "image"}], None, "a"),
        ([{"type": "image"}], {"type": "image", "file": {"base64": "x"}}, ""),
        (None, None, ""),
        ("x" * (RESULT_CHARS + 5), None, "x" * RESULT_CHARS),
    ],
    ids=["tabs", "the host's copy", "no copy", "blocks", "image", "nothing", "cut"],
)
def test_what_was_read_is_plain_text(events_of, content, note, text):
    events = events_of(call("Read", {"file_path": "/a"}), result(content, toolUseResult=note))

    assert [event.result for event in events] == [text]


@pytest.mark.parametrize(
    ("is_error", "note", "failed"),
    [
        (True, None, True),
        (None, "Error: Exit code 2", True),
        (False, {"stdout": "Error: no"}, False),
        (None, None, False),
        ("true", None, False),
    ],
)
def test_a_failure_is_what_the_host_marked(events_of, is_error, note, failed):
    events = events_of(
        call("Bash", {"command": "x"}), result("out", is_error=is_error, toolUseResult=note)
    )

    assert [event.failed for event in events] == [failed]


@pytest.mark.parametrize(
    ("name", "foreign"),
    [("WebFetch", True), ("WebSearch", True), ("mcp__db__query", True), ("Bash", False)],
)
def test_results_from_outside_the_repository_are_marked(events_of, name, foreign):
    assert [e.foreign for e in events_of(call(name, {"url": "x"}))] == [foreign]


def test_what_a_shell_fetched_is_foreign(events_of):
    [fetched] = events_of(call("Bash", {"command": "curl -s a.example | head"}))
    assert fetched.foreign


def test_a_result_whose_call_is_missing_still_says_what_was_read(events_of):
    note = {"type": "text", "file": {"filePath": "/a.md", "content": "words"}}

    assert events_of(result("1\twords", "gone", toolUseResult=note)) == [
        Call(0, 0, "", {}, paths=("/a.md",), cwd="/repo", result="words", answered=1)
    ]


def test_a_patch_in_a_shell_command_names_its_files(events_of):
    command = "apply_patch <<'X'\n*** Begin Patch\n*** Update File: a.py\n*** End Patch\nX"

    assert [e.paths for e in events_of(call("Bash", {"command": command}))] == [("a.py",)]


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"content": ["a", "b"]}, "a\nb"),
        ({"content": "a"}, "a"),
        ({"content": [{"type": "text", "text": "a"}]}, "a"),
        ({"content": []}, None),
        ({"content": 3}, None),
        ({}, None),
    ],
)
def test_a_hooks_context_is_an_injection(events_of, fields, text):
    events = events_of(attachment("hook_additional_context", hookName="PostToolUse:Bash", **fields))

    assert events == ([Injection(0, "PostToolUse", text)] if text else [])


def test_a_context_that_stands_only_as_rendered_is_read_from_there(events_of):
    body = "<system-reminder>\nUserPromptSubmit hook additional context: words\n</system-reminder>"
    extra = {"rendered": [{"content": body}]}

    events = events_of(
        attachment("hook_additional_context", extra=extra, hookEvent="UserPromptSubmit")
    )

    assert events == [Injection(0, "UserPromptSubmit", "words")]


@pytest.mark.parametrize(
    ("event", "content", "count"),
    [
        ("UserPromptSubmit", "plain words", 1),
        ("SessionStart", "plain words", 1),
        ("PostToolUse", "plain words", 0),
        ("UserPromptSubmit", "", 0),
    ],
)
def test_a_hooks_plain_output_is_an_injection_where_the_model_got_it(
    events_of, event, content, count
):
    assert len(events_of(attachment("hook_success", hookEvent=event, content=content))) == count


def test_a_hooks_words_in_an_older_versions_users_row_are_an_injection(events_of):
    text = "<system-reminder>\nPostToolUse:Edit hook additional context: [X]\n</system-reminder>"

    assert events_of(user([{"type": "text", "text": text}], isMeta=True)) == [
        Injection(0, "PostToolUse", "[X]")
    ]


@pytest.mark.parametrize(
    "silent",
    [
        said("API Error: 529", isApiErrorMessage=True),
        row(
            "assistant",
            message={"model": "<synthetic>", "content": [{"type": "text", "text": "x"}]},
        ),
        said(" \n"),
        assistant({"type": "thinking", "thinking": "hm"}),
    ],
    ids=["api error", "synthetic", "blank", "thinking"],
)
def test_what_the_model_did_not_say_is_not_said(events_of, silent):
    assert events_of(silent) == []


def test_a_line_of_170_kilobytes_is_a_row_like_any_other(tmp_path):
    body = "\n".join(f"line {n} of the lesson" for n in range(8000))
    path = write(
        tmp_path / "a.jsonl", [user("go"), call("Bash", {"command": "cat x"}), result(body)]
    )

    events = list(ClaudeCode(path).events())

    assert len(body) > 170_000
    assert events[1].result == body


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_line_ends_make_no_difference(tmp_path, ending):
    rows = [user("go"), "", call("Bash", {"command": "ls"}), "no json", result("out")]
    transcript = ClaudeCode(write(tmp_path / "a.jsonl", rows, ending))

    assert [type(event) for event in transcript.events()] == [Prompt, Call]
    assert transcript.tally == Tally(rows=4, torn=1)


def test_a_session_torn_in_mid_line_keeps_what_came_before(tmp_path):
    whole = capture("claude/work-1.jsonl")
    with open(whole, "rb") as stream:
        data = stream.read()
    path = tmp_path / "a.jsonl"
    path.write_bytes(data[: data.rindex(b"Integration tests need") + 5])
    transcript = ClaudeCode(str(path))

    events = list(transcript.events())

    assert events[0] == next(iter(ClaudeCode(whole).events()))
    assert transcript.tally.torn == 1
    assert [e.result for e in events if isinstance(e, Call) and e.name == "Read"] == [""]


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ({"type": "progress", "data": {}}, True),
        ({"uuid": "u", "isMeta": False, "n": 1.5, "type": "progress"}, True),
        ({"sessionId": "s", "type": "api-request-blob", "blob": "x"}, True),
        ({"uuid": None, "attachment": {"type": "prompt_snapshot"}, "type": "attachment"}, True),
        ({"attachment": {"type": "hook_success"}, "type": "attachment"}, False),
        ({"attachment": {"type": "queued_command"}, "type": "attachment"}, False),
        ({"type": "attachment", "attachment": {"type": "prompt_snapshot"}}, False),
        ({"type": "user", "message": {}}, False),
        ({"message": {"type": "progress"}, "type": "user"}, False),
        ({"cwd": '","type":"progress"', "type": "user"}, False),
        ({"kind": "progress"}, False),
    ],
)
@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")])
def test_bookkeeping_is_told_by_the_head_of_a_row(shape, expected, separators):
    head = json.dumps(shape, separators=separators).encode()

    assert claude_code.skip(head) is expected
