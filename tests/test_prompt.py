"""The hook as a host runs it: a fresh process, a payload on standard input, the real captures."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import pytest

from rose import files, layout, refresh, session
from rose.reflection import queue
from tests.factories import a_rule_file, a_served_store

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LAUNCH = os.path.join(ROOT, "rose", "launch.py")
PAYLOADS = os.path.join(ROOT, "tests", "captures", "payloads")


@pytest.fixture
def store(tmp_path):
    return a_served_store(tmp_path)


def payload(name: str, store, **changes) -> dict[str, object]:
    """Return a captured payload, moved into the store."""
    with open(os.path.join(PAYLOADS, f"{name}.json"), encoding="utf-8") as stream:
        captured = json.load(stream)
    return {**captured, "cwd": store.base, **changes}


def hook(event: str, body, host: str = "claude-code", **environ):
    """Run the hook as a host does; it must always leave with 0."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    done = subprocess.run(
        [sys.executable, "-IS", LAUNCH, event, "--host", host],
        input=raw,
        capture_output=True,
        env={**os.environ, **environ},
        check=False,
        timeout=30,
        cwd=os.environ["HOME"],
    )
    assert done.returncode == 0
    assert done.stderr == b""
    return done.stdout.decode()


def block(printed: str, event: str = "UserPromptSubmit") -> str:
    """Return the injected text of exactly one document, for the event it answers."""
    document = json.loads(printed)
    assert set(document) == {"hookSpecificOutput"}
    assert document["hookSpecificOutput"]["hookEventName"] == event
    return document["hookSpecificOutput"]["additionalContext"]


def log(store) -> list[dict[str, object]]:
    return [line for _, line in files.read_jsonl(store.log)]


@pytest.mark.parametrize("host", ["claude", "codex"])
def test_a_captured_prompt_gets_the_layer_byte_for_byte(store, host):
    name = "claude-code" if host == "claude" else host
    printed = hook("UserPromptSubmit", payload(f"{host}.UserPromptSubmit", store), name)
    assert block(printed) == (
        "rose routing layer v1: where knowledge lies for the request at hand. Background from "
        "earlier sessions, not instructions; no reply is wanted.\n"
        f"Store: {store.base} (lessons in nodes/, one line each in .rose/index.md)\n"
        "- When the task runs the tests: read nodes/testing/"
    )
    assert printed.endswith("}}\n")
    assert not log(store)


SILENT = sorted(
    name[: -len(".json")]
    for name in os.listdir(PAYLOADS)
    if name.endswith(".json")
    and name.split(".")[1] not in ("UserPromptSubmit", "SubagentStart", "SessionEnd")
    and ".compact." not in name
    and not name.endswith("result.json")
)


@pytest.mark.parametrize("name", SILENT)
def test_every_other_captured_event_prints_nothing(store, name):
    host = "codex" if name.startswith("codex") else "claude-code"
    assert hook(name.split(".")[1], payload(name, store), host) == ""


def test_thirty_prompts_of_one_session_cost_one_block(store):
    body = payload("claude.UserPromptSubmit", store)
    printed = [hook("UserPromptSubmit", body) for _ in range(30)]
    assert block(printed[0])
    assert printed[1:] == [""] * 29


def told(store, event: str, **changes) -> dict[str, object]:
    """Return what either host tells of an event in one and the same session."""
    return {"session_id": "s", "cwd": store.base, "hook_event_name": event, **changes}


def test_after_a_clear_the_next_prompt_brings_the_block_once(store):
    prompt = told(store, "UserPromptSubmit")
    first = hook("UserPromptSubmit", prompt)
    assert hook("SessionStart", told(store, "SessionStart", source="clear")) == ""
    assert [hook("UserPromptSubmit", prompt) for _ in range(2)] == [first, ""]


# In the order in which the real clients tell them, between two turns and in the middle of one.
COMPACTION = {
    "claude-code": ("SessionStart", "PostCompact"),
    "codex": ("PostCompact", "SessionStart"),
}


@pytest.mark.parametrize("host", COMPACTION)
def test_after_a_compaction_the_new_start_brings_the_block_and_no_prompt_a_second(store, host):
    prompt = told(store, "UserPromptSubmit")
    first = block(hook("UserPromptSubmit", prompt, host))
    for _ in range(2):
        printed = {
            event: hook(event, told(store, event, source="compact"), host)
            for event in COMPACTION[host]
        }
        assert block(printed["SessionStart"], "SessionStart") == first
        assert printed["PostCompact"] == ""
        assert [hook("UserPromptSubmit", prompt, host) for _ in range(2)] == ["", ""]


def test_a_compaction_of_codex_that_no_start_follows_leaves_the_block_to_the_next_prompt(store):
    prompt = told(store, "UserPromptSubmit")
    first = hook("UserPromptSubmit", prompt, "codex")
    hook("PostCompact", told(store, "PostCompact"), "codex")
    hook("SessionStart", told(store, "SessionStart", source="resume"), "codex")
    assert [hook("UserPromptSubmit", prompt, "codex") for _ in range(2)] == [first, ""]


@pytest.mark.parametrize("host", COMPACTION)
def test_a_subagent_that_is_compacted_gets_its_own_block_again_and_nobody_else(store, host):
    agents: list[dict[str, str]] = [{"agent_id": "a1"}, {"agent_id": "a2"}]
    hook("UserPromptSubmit", told(store, "UserPromptSubmit"), host)
    for agent in agents:
        hook("SubagentStart", told(store, "SubagentStart", **agent), host)
    printed = {
        event: hook(event, told(store, event, source="compact", **agents[0]), host)
        for event in COMPACTION[host]
    }
    assert block(printed["SessionStart"], "SessionStart")
    assert printed["PostCompact"] == ""
    for agent in ({}, *agents):
        assert hook("UserPromptSubmit", told(store, "UserPromptSubmit", **agent), host) == ""


def test_a_subagent_of_codex_whose_compaction_no_start_follows_gets_it_with_its_prompt(store):
    prompt, agent = told(store, "UserPromptSubmit"), {"agent_id": "a1"}
    hook("UserPromptSubmit", prompt, "codex")
    hook("SubagentStart", told(store, "SubagentStart", **agent), "codex")
    hook("PostCompact", told(store, "PostCompact", **agent), "codex")
    assert hook("UserPromptSubmit", prompt, "codex") == ""
    assert block(hook("UserPromptSubmit", {**prompt, **agent}, "codex"))


def test_a_fork_gets_its_own_block(store):
    hook("UserPromptSubmit", payload("claude.UserPromptSubmit", store))
    start = payload("claude.SessionStart.fork", store)
    hook("SessionStart", start)
    fork = payload("claude.UserPromptSubmit", store, session_id=start["session_id"])
    assert block(hook("UserPromptSubmit", fork))


def test_a_resumed_session_keeps_what_it_was_sent(store):
    prompt = payload("claude.UserPromptSubmit", store)
    hook("UserPromptSubmit", prompt)
    hook("SessionStart", payload("claude.SessionStart.resume", store))
    assert hook("UserPromptSubmit", prompt) == ""


@pytest.mark.parametrize(("holds", "sent"), [(True, False), (False, True)])
def test_a_resumed_session_without_a_note_is_judged_by_its_transcript(store, tmp_path, holds, sent):
    layer = refresh.layer(layout.Stores(store, None, ""), exact=True)
    transcript = tmp_path / "t.jsonl"
    text = str(layer["block"]) if holds else "something else"
    transcript.write_text(json.dumps({"attachment": {"content": [text]}}) + "\n")
    start = payload("claude.SessionStart.resume", store, transcript_path=str(transcript))
    hook("SessionStart", start)
    assert bool(hook("UserPromptSubmit", payload("claude.UserPromptSubmit", store))) is sent


def test_each_subagent_gets_the_block_once(store):
    body = payload("claude.SubagentStart", store)
    first = hook("SubagentStart", body)
    assert block(first, "SubagentStart")
    assert hook("SubagentStart", body) == ""
    assert block(hook("SubagentStart", {**body, "agent_id": "b2"}), "SubagentStart")


def test_a_changed_rule_is_sent_again_and_a_changed_choice_is_not(store):
    body = payload("claude.UserPromptSubmit", store)
    first = hook("UserPromptSubmit", body)
    a_rule_file(store, id="r_0000aa", when="the task runs all tests", then="read nodes/testing/")
    second = hook("UserPromptSubmit", body)
    assert "all tests" in block(second)
    assert first != second
    with open(store.config, "w", encoding="utf-8") as stream:
        stream.write("routing: {max_tokens: 75}\n")
    assert hook("UserPromptSubmit", body) == ""


def test_a_rule_that_is_written_by_hand_reaches_the_next_prompt(store):
    a_rule_file(store, id="r_0000bb", when="the task adds a migration", then="see nodes/testing/")
    printed = hook("UserPromptSubmit", payload("claude.UserPromptSubmit", store))
    assert "the task adds a migration" in block(printed)


def test_every_prompt_is_the_other_value_of_repeat(store):
    with open(store.config, "w", encoding="utf-8") as stream:
        stream.write("routing: {repeat: every-prompt}\n")
    body = payload("claude.UserPromptSubmit", store)
    printed = [hook("UserPromptSubmit", body) for _ in range(3)]
    assert printed == [printed[0]] * 3


@pytest.mark.parametrize("config", ["routing: {enabled: false}\n", "routing: {max_tokens: 0}\n"])
def test_routing_that_is_off_prints_nothing_and_notes_nothing(store, config):
    with open(store.config, "w", encoding="utf-8") as stream:
        stream.write(config)
    assert hook("UserPromptSubmit", payload("claude.UserPromptSubmit", store)) == ""
    assert not os.path.exists(store.sessions)


@pytest.mark.parametrize("event", ["UserPromptSubmit", "SessionEnd"])
@pytest.mark.parametrize("name", ["ROSE_OFF", "ROSE_CHILD"])
def test_a_child_and_a_session_that_is_off_touch_nothing(store, name, event):
    before = sorted(os.walk(store.dot))
    assert hook(event, payload(f"claude.{event}", store), **{name: "1"}) == ""
    assert sorted(os.walk(store.dot)) == before


@pytest.mark.parametrize(
    "raw",
    [b"", b"{", b"[]", b"null", b"\xff\xfe{}", b'{"session_id": 5, "cwd": []}', b"x" * 10_000_000],
    ids=["empty", "torn", "list", "null", "utf16", "types", "ten-megabytes"],
)
def test_a_broken_payload_still_gets_the_layer_of_the_working_directory(store, raw):
    done = subprocess.run(
        [sys.executable, "-IS", LAUNCH, "UserPromptSubmit"],
        input=raw,
        capture_output=True,
        check=True,
        cwd=store.base,
        timeout=30,
    )
    assert block(done.stdout.decode())


def test_a_prompt_of_ten_megabytes_and_lone_surrogates_is_only_a_prompt(store):
    body = payload("claude.UserPromptSubmit", store, prompt="\ud800 }" * 1_500_000)
    assert block(hook("UserPromptSubmit", body))
    assert "d800" not in files.read_text(session_note(store, body))


def session_note(store, body) -> str:
    name = layout.session_name("claude-code", str(body["session_id"]))
    return session.note_path(store.sessions, name)


def test_standard_input_that_is_never_closed_is_answered(store):
    body = json.dumps(payload("claude.UserPromptSubmit", store)).encode()
    with subprocess.Popen(
        [sys.executable, "-IS", LAUNCH, "UserPromptSubmit"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        running.stdin.write(body)
        running.stdin.flush()
        printed = running.stdout.read()
        assert running.wait(timeout=20) == 0
    assert block(printed.decode())


def test_standard_input_that_says_nothing_is_answered_at_the_deadline(store):
    with subprocess.Popen(
        [sys.executable, "-IS", LAUNCH, "UserPromptSubmit"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=store.base,
    ) as running:
        assert running.stdout is not None
        printed = running.stdout.read()
        assert running.wait(timeout=20) == 0
    assert block(printed.decode())
    assert "not closed" in str(log(store)[0]["problem"])


def test_a_note_that_cannot_be_written_means_that_the_layer_is_sent_every_time(store):
    with open(store.sessions, "w", encoding="utf-8") as stream:
        stream.write("a file in place of the folder")
    body = payload("claude.UserPromptSubmit", store)
    printed = [hook("UserPromptSubmit", body) for _ in range(2)]
    assert block(printed[0])
    assert printed[0] == printed[1]
    assert log(store)


def test_a_held_lock_does_not_hold_the_prompt(store):
    a_rule_file(store, id="r_0000cc", when="the task is held", then="read nodes/testing/ now")
    with files.lock(store.lock, 1):
        printed = hook("UserPromptSubmit", payload("claude.UserPromptSubmit", store))
    assert "the task is held" in block(printed)


def test_a_layer_file_that_is_garbage_is_made_anew(store):
    with open(store.layer, "w", encoding="utf-8") as stream:
        stream.write('{"v": 1, "block"')
    assert block(hook("UserPromptSubmit", payload("claude.UserPromptSubmit", store)))


def test_without_a_store_nothing_is_printed_and_nothing_is_made(tmp_path):
    assert hook("UserPromptSubmit", {"session_id": "s", "cwd": str(tmp_path)}) == ""
    assert sorted(os.listdir(tmp_path)) == ["home"]


def test_a_target_that_vanished_takes_its_rule_out_of_the_layer(store):
    os.rename(os.path.join(store.base, "nodes"), os.path.join(store.base, "moved"))
    assert hook("UserPromptSubmit", payload("claude.UserPromptSubmit", store)) == ""


def test_home_may_be_unset(store):
    raw = json.dumps(payload("claude.UserPromptSubmit", store)).encode()
    command = [sys.executable, "-IS", LAUNCH, "UserPromptSubmit"]
    done = subprocess.run(command, input=raw, capture_output=True, check=True, env={})
    assert block(done.stdout.decode())


def test_a_json_module_in_the_working_directory_is_not_loaded(store):
    for name in ("json", "os", "rose", "_json", "stat"):
        with open(os.path.join(store.base, f"{name}.py"), "w", encoding="utf-8") as stream:
            stream.write("raise SystemExit('loaded from the project')")
    raw = json.dumps(payload("claude.UserPromptSubmit", store)).encode()
    command = [sys.executable, "-IS", LAUNCH, "UserPromptSubmit"]
    done = subprocess.run(command, input=raw, capture_output=True, check=True, cwd=store.base)
    assert block(done.stdout.decode())
    assert done.stderr == b""


def test_rose_hook_on_the_command_line_does_the_same(store):
    done = subprocess.run(
        [sys.executable, "-m", "rose", "hook", "user-prompt-submit", "--host=codex"],
        input=json.dumps(payload("codex.UserPromptSubmit", store)).encode(),
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONPATH": ROOT},
        cwd=store.base,
    )
    assert block(done.stdout.decode())


def test_a_session_end_leaves_one_entry_and_a_worker_that_finishes_it(store):
    transcript = os.path.join(ROOT, "tests", "captures", "transcripts", "claude", "session.jsonl")
    body = payload("claude.SessionEnd", store, transcript_path=transcript)
    assert hook("SessionEnd", body) == ""
    deadline = time.monotonic() + 30
    while queue.entries(store) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert queue.entries(store) == []
    assert not log(store)


def test_the_hook_s_log_does_not_grow_for_ever(store):
    os.makedirs(os.path.dirname(store.log))
    with open(store.log, "w", encoding="utf-8") as stream:
        stream.write('{"v": 1}\n' * 150_000)
    subprocess.run(
        [sys.executable, "-IS", LAUNCH, "UserPromptSubmit"], input=b"", cwd=store.base, check=True
    )
    assert os.path.getsize(store.log) < 1 << 20
    assert "empty" in str(log(store)[-1]["problem"])


@pytest.mark.parametrize("name", ["layer", "config", "note", "rules", "ledger"])
def test_a_pipe_in_the_place_of_a_file_does_not_hold_the_prompt(store, name):
    body = payload("claude.UserPromptSubmit", store)
    place = {
        "layer": store.layer,
        "config": store.config,
        "note": session_note(store, body),
        "rules": os.path.join(store.local, "rules.json"),
        "ledger": os.path.join(store.local, "ledger", "0123456789ab.jsonl"),
    }[name]
    os.makedirs(os.path.dirname(place), exist_ok=True)
    if os.path.exists(place):
        os.unlink(place)
    os.mkfifo(place)
    a_rule_file(store, id="r_0000ff", when="the task is stale", then="read nodes/testing/ again")
    assert "the task is stale" in block(hook("UserPromptSubmit", body))


@pytest.mark.parametrize("name", ["index.md", "local/layer.json", "local/rules.json"])
def test_a_link_in_a_cloned_store_leads_no_write_to_a_file_of_the_user(store, tmp_path, name):
    victim = tmp_path / "victim"
    victim.write_text("mine\n")
    place = os.path.join(store.dot, name)
    os.unlink(place)
    os.symlink(victim, place)
    hook("SessionStart", payload("claude.SessionStart.startup", store))
    hook("UserPromptSubmit", payload("claude.UserPromptSubmit", store))
    assert victim.read_text() == "mine\n"


@pytest.mark.parametrize("cwd", ["/a" * 100_000, "/\0", "/\udcff", "relative", "/no/such/folder"])
def test_a_directory_that_cannot_be_is_no_reason_to_hang(store, cwd):
    hook("UserPromptSubmit", payload("claude.UserPromptSubmit", store, cwd=cwd))


def test_a_byte_order_mark_before_the_payload_is_passed_over(store):
    body = json.dumps(payload("claude.UserPromptSubmit", store)).encode()
    assert block(hook("UserPromptSubmit", b"\xef\xbb\xbf" + body))
    assert hook("UserPromptSubmit", body) == ""
