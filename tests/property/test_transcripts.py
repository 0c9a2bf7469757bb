"""No row, however wrong, stops the reading of a transcript."""

from __future__ import annotations

import json
import os
import tempfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rose.hosts import registry
from rose.hosts.base import RESULT_CHARS, Prompt, Said, Tally, regions
from tests.hosts.making import attachment, capture, codex, codex_call, codex_output, row


def _rows_of(*names: str) -> list[dict[str, object]]:
    rows = []
    for name in names:
        with open(capture(name), encoding="utf-8") as stream:
            rows += [json.loads(line) for line in stream]
    return rows


CLAUDE = [
    *_rows_of("claude/session.jsonl", "claude/compacted.jsonl", "claude/subagent.jsonl"),
    attachment("queued_command", prompt="go", commandMode="prompt", origin={"kind": "human"}),
    attachment("hook_success", hookEvent="SessionStart", content="x"),
    row("system", subtype="local_command", content="<command-name>/clear</command-name>"),
    row("queue-operation", operation="remove"),
]
CODEX = [
    *_rows_of("codex/rollout.jsonl", "codex/fork.jsonl"),
    codex("response_item", {"type": "local_shell_call", "action": {"command": ["ls"]}}),
    codex("event_msg", {"type": "user_message", "message": "go"}),
    codex_call("shell", {"command": ["bash", "-lc", "ls"], "workdir": "x"}),
    codex_output({"content": [{"text": "x"}], "success": False, "metadata": {"exit_code": 1}}),
    codex_output(json.dumps({"output": "x", "metadata": {"exit_code": 1}})),
]

words = st.sampled_from(
    [
        "",
        "user",
        "assistant",
        "text",
        "tool_use",
        "hook_success",
        "/clear",
        "\ud83d",
        "<command-name>",
    ]
)
junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | words | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=5,
)


def _places(value: object, place: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
    found = [place] if place else []
    items = value.items() if isinstance(value, dict) else ()
    items = enumerate(value) if isinstance(value, list) else items
    for key, item in items:
        found += _places(item, (*place, key))
    return found


@st.composite
def mutated(draw: st.DrawFn, rows: list[dict[str, object]]) -> dict[str, object]:
    """Return a real row with something else in one to three places."""
    value = json.loads(json.dumps(draw(st.sampled_from(rows))))
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.sampled_from(_places(value)))
        holder = value
        for key in place[:-1]:
            holder = holder[key]
        holder[place[-1]] = draw(junk)
    return value


def _read(rows: list[dict[str, object]], host: str | None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.jsonl")
        with open(path, "w", encoding="utf-8") as stream:
            stream.writelines(json.dumps(value) + "\n" for value in rows)
        transcript = registry.open_transcript(path, host)
        events = list(transcript.events())
        tally = transcript.tally
        assert events == list(transcript.events())
        assert transcript.tally == tally
        assert tally.rows == len(rows)
        assert isinstance(tally, Tally)
        assert all(len(e.text) <= RESULT_CHARS for e in events if isinstance(e, (Prompt, Said)))
        "".join(map(repr, events)).encode()
        list(regions(transcript))
        list(transcript.events(frozenset(transcript.uuids())))
        transcript.head()


@pytest.mark.parametrize(("host", "rows"), [("claude-code", CLAUDE), ("codex", CODEX)])
def test_any_field_may_be_missing_or_of_another_type(host, rows):
    @settings(max_examples=300, deadline=None)
    @given(st.lists(mutated(rows), min_size=1, max_size=8))
    def holds(values: list[dict[str, object]]) -> None:
        _read(values, host)

    holds()


@settings(max_examples=150, deadline=None)
@given(st.lists(st.dictionaries(words, junk, max_size=4), max_size=6))
def test_any_objects_at_all_can_be_opened(values):
    _read(values, None)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_bytes_at_all_can_be_opened(data):
    with open(capture("claude/work-1.jsonl"), "rb") as stream:
        lines = stream.read().splitlines(keepends=True)
    chosen = data.draw(st.lists(st.sampled_from(lines) | st.binary(max_size=40), max_size=6))
    whole = b"".join(chosen)
    cut = whole[: data.draw(st.integers(0, len(whole)))]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.jsonl")
        with open(path, "wb") as stream:
            stream.write(cut)
        transcript = registry.open_transcript(path, None)
        assert list(transcript.events()) == list(transcript.events())
