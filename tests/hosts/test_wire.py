"""What each host is told, event by event: one document in its own form, or nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from rose.hosts import installation, registry, wire
from tests.factories import a_served_store

PAYLOADS = os.path.join(os.path.dirname(os.path.dirname(__file__)), "captures", "payloads")
CAPTURED = sorted(
    name
    for name in os.listdir(PAYLOADS)
    if name.endswith(".json") and not name.endswith("result.json")
)
LAYER = '"rose \\u00e9 \\" layer"'


@pytest.fixture
def store(tmp_path):
    return a_served_store(tmp_path)


def hook(event, payload, host):
    done = subprocess.run(
        [sys.executable, "-IS", installation.LAUNCH, event, "--host", host],
        input=json.dumps(payload).encode(),
        capture_output=True,
        check=True,
    )
    assert done.stderr == b""
    return done.stdout.decode()


@pytest.mark.parametrize("name", CAPTURED)
def test_each_captured_payload_gets_one_document_for_its_own_event_or_nothing(store, name):
    with open(os.path.join(PAYLOADS, name), encoding="utf-8") as stream:
        payload = {**json.load(stream), "cwd": store.base}
    host = "codex" if name.startswith("codex") else "claude-code"
    event = payload["hook_event_name"]
    printed = hook(event, payload, host)
    if event in ("UserPromptSubmit", "SubagentStart"):
        document = json.loads(printed)
        assert list(document) == ["hookSpecificOutput"]
        assert document["hookSpecificOutput"]["hookEventName"] == event
        assert len(document["hookSpecificOutput"]["additionalContext"]) < 10_000
    else:
        assert printed == ""


@pytest.mark.parametrize(
    ("host", "event"),
    [(host.name, event) for host in installation.HOSTS.values() for event in host.events],
)
def test_each_event_that_is_installed_is_one_that_rose_knows(host, event):
    known = wire.event_named(event, host)
    assert known in wire.EVENTS
    assert wire.name_of(known, host) == event


@pytest.mark.parametrize(
    ("word", "host", "event"),
    [
        ("user-prompt-submit", "claude-code", "UserPromptSubmit"),
        ("BeforeAgent", "gemini", "UserPromptSubmit"),
        ("UserPromptSubmit", "gemini", "UserPromptSubmit"),
        ("before-submit-prompt", "cursor", "UserPromptSubmit"),
        ("BeforeAgent", "codex", "BeforeAgent"),
        ("SubagentStart", "cursor", "SubagentStart"),
        ("x", "vim", "x"),
    ],
)
def test_an_event_is_known_by_its_hosts_name_and_by_roses(word, host, event):
    assert wire.event_named(word, host) == event


@pytest.mark.parametrize(
    ("host", "event", "expected"),
    [
        ("claude-code", "SubagentStart", {"hookEventName": "SubagentStart"}),
        ("codex", "UserPromptSubmit", {"hookEventName": "UserPromptSubmit"}),
        ("gemini", "UserPromptSubmit", {"hookEventName": "BeforeAgent"}),
        ("opencode", "UserPromptSubmit", {"hookEventName": "chat.message"}),
    ],
)
def test_a_document_names_the_event_as_its_host_does(host, event, expected):
    document = json.loads(wire.document(event, LAYER, host))
    text = {"additionalContext": json.loads(LAYER)}
    assert document == {"hookSpecificOutput": {**expected, **text}}


@pytest.mark.parametrize(
    ("event", "also"), [("SessionStart", {}), ("UserPromptSubmit", {"continue": True})]
)
def test_cursors_document_has_its_own_form(event, also):
    document = json.loads(wire.document(event, LAYER, "cursor"))
    assert document == {**also, "additional_context": json.loads(LAYER)}


def test_the_sessions_of_exactly_those_hosts_are_queued_whose_transcripts_can_be_read():
    assert set(wire.READABLE) == set(registry.HOSTS)
    assert set(wire.HOSTS) == set(installation.HOSTS)


@pytest.mark.parametrize(
    ("payload", "folder"),
    [
        ({"cwd": "/a", "workspace_roots": ["/b"]}, "/a"),
        ({"workspace_roots": ["/b", "/c"]}, "/b"),
        ({"workspace_roots": []}, ""),
        ({"workspace_roots": [1]}, ""),
        ({"workspace_roots": "/b"}, ""),
        ({}, ""),
    ],
)
def test_a_session_works_where_its_payload_says(payload, folder):
    assert wire.folder_of(payload) == folder
