"""What each host is told, event by event: one document in its own form, or nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import venv

import pytest

from rose import files, layout, refresh
from rose.hosts import installation, registry, wire
from rose.routing import compiled
from tests.factories import a_rule_file, a_served_store

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# The captures, and those of the project's own notes where these are at hand.
FOLDERS = [
    folder
    for folder in (
        os.path.join(ROOT, "tests", "captures", "payloads"),
        os.path.join(ROOT, "..", "shared", "hosts", "payloads"),
    )
    if os.path.isdir(folder)
]
CAPTURED = {
    name: os.path.join(folder, name)
    for folder in reversed(FOLDERS)
    for name in sorted(os.listdir(folder))
    if name.endswith(".json") and not name.endswith("result.json")
}
CARRYING = sorted(
    name
    for name in CAPTURED
    if name.split(".")[1:3] == ["SessionStart", "compact"]
    or name.split(".")[1] in ("UserPromptSubmit", "SubagentStart")
)
LAYER = '"rose \\u00e9 \\" layer"'
# Hosts cut above it: Claude Code at 10,000 characters, Codex where rose's entry says so.
MOST_CHARS = 9_500


@pytest.fixture
def store(tmp_path):
    return a_served_store(tmp_path)


def payload_of(name, store):
    with open(CAPTURED[name], encoding="utf-8") as stream:
        return {**json.load(stream), "cwd": store.base}


def host_of(name):
    return "codex" if name.startswith("codex") else "claude-code"


def hook(event, payload, host, python=sys.executable, **environ):
    done = subprocess.run(
        [python, "-IS", installation.LAUNCH, event, "--host", host],
        input=json.dumps(payload).encode(),
        capture_output=True,
        env={**os.environ, **environ},
        check=True,
    )
    assert done.stderr == b""
    return done.stdout.decode()


def text_in(printed, event):
    """Return what a host injects of an output, which is exactly one document for its event."""
    document = json.loads(printed)
    assert list(document) == ["hookSpecificOutput"]
    assert list(document["hookSpecificOutput"]) == ["hookEventName", "additionalContext"]
    assert document["hookSpecificOutput"]["hookEventName"] == event
    return document["hookSpecificOutput"]["additionalContext"]


@pytest.mark.parametrize("name", CAPTURED)
def test_each_captured_payload_gets_one_document_for_its_own_event_or_nothing(store, name):
    payload = payload_of(name, store)
    event = payload["hook_event_name"]
    printed = hook(event, payload, host_of(name))
    if name in CARRYING:
        assert 0 < len(text_in(printed, event)) <= MOST_CHARS
    else:
        assert printed == ""


@pytest.mark.parametrize("name", CAPTURED)
def test_a_hook_below_the_wrong_event_answers_the_event_that_the_host_tells(store, name):
    payload = payload_of(name, store)
    event = payload["hook_event_name"]
    printed = hook("UserPromptSubmit", payload, host_of(name))
    assert bool(printed) == (name in CARRYING)
    if printed:
        assert text_in(printed, event)


@pytest.mark.parametrize("name", CARRYING)
@pytest.mark.parametrize("letter", ["x", "\N{GREEK SMALL LETTER OMEGA}", "\N{GRINNING FACE}"])
def test_no_number_of_rules_makes_an_output_that_a_host_would_cut(store, name, letter):
    with open(store.config, "w", encoding="utf-8") as stream:
        stream.write("routing: {max_tokens: 100000}\n")
    for number in range(200):
        when = f"the task is number {number} {letter * 20}"
        a_rule_file(store, id=f"r_{number:06x}", when=when, then="read nodes/testing/")
    refresh.everything(layout.Stores(store, None, ""))
    event = payload_of(name, store)["hook_event_name"]
    text = text_in(hook(event, payload_of(name, store), host_of(name)), event)
    assert len(text.encode()) <= MOST_CHARS
    assert len(text.splitlines()) > 30


@pytest.mark.parametrize("name", CARRYING)
def test_a_layer_file_that_somebody_made_too_long_is_not_printed(store, name):
    layer = compiled.read(store.layer)
    block = f"{layer['block']}\n" + "- When it is long: read nodes/testing/\n" * 1000
    held = {"block": block, "encoded": json.dumps(block), "digest": layout.digest(block)[:16]}
    files.replace(store.layer, files.dump_json({**layer, **held}))
    event = payload_of(name, store)["hook_event_name"]
    text = text_in(hook(event, payload_of(name, store), host_of(name)), event)
    assert text == layer["block"]


@pytest.fixture(scope="module")
def talkative(tmp_path_factory):
    """Return a Python whose site packages print, each in its own way."""
    folder = tmp_path_factory.mktemp("talkative")
    venv.create(folder, symlinks=True)
    (site_packages,) = folder.glob("lib/python*/site-packages")
    banner = "import os, sys; print('banner'); print('banner', flush=True); os.write(1, b'banner')"
    packages = sysconfig.get_path("purelib")
    (site_packages / "talk.pth").write_text(f"{packages}\n{banner}\n")
    return str(folder / "bin" / "python")


@pytest.mark.parametrize("name", CARRYING)
def test_what_site_packages_print_is_not_in_the_output(store, name, talkative):
    a_rule_file(store, id="r_0000ab", when="the layer is stale", then="read nodes/testing/ now")
    event = payload_of(name, store)["hook_event_name"]
    printed = hook(event, payload_of(name, store), host_of(name), talkative)
    assert "the layer is stale" in text_in(printed, event)


def test_what_was_printed_before_a_console_script_began_is_not_in_the_output(store):
    name = "claude.UserPromptSubmit.json"
    script = "print('banner'); import sys; sys.argv[1:] = ['hook', 'UserPromptSubmit']\n"
    script += "from rose.__main__ import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", script],
        input=json.dumps(payload_of(name, store)).encode(),
        capture_output=True,
        env={**os.environ, "PYTHONPATH": ROOT, "PYTHONUNBUFFERED": ""},
        check=True,
    )
    assert text_in(done.stdout.decode(), "UserPromptSubmit")


@pytest.mark.parametrize("name", CARRYING)
def test_the_variables_of_python_change_nothing(store, name):
    event = payload_of(name, store)["hook_event_name"]
    loud = dict.fromkeys(("PYTHONVERBOSE", "PYTHONDEVMODE", "PYTHONUNBUFFERED"), "1")
    printed = hook(
        event,
        payload_of(name, store),
        host_of(name),
        **loud,
        PYTHONWARNINGS="error",
        PYTHONSTARTUP=__file__,
    )
    assert text_in(printed, event)


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


@pytest.mark.parametrize("host", wire.HOSTS)
def test_a_line_for_the_person_goes_only_where_one_is_shown(host):
    shown = host in wire.TELLS_PERSON
    said = wire.document("UserPromptSubmit", LAYER, host, 'a "line"')
    plain = json.loads(wire.document("UserPromptSubmit", LAYER, host))
    assert json.loads(said) == {**plain, **({"systemMessage": 'a "line"'} if shown else {})}
    alone = wire.document("UserPromptSubmit", "", host, "a line")
    assert alone == ('{"systemMessage":"a line"}\n' if shown else "")
    assert wire.document("UserPromptSubmit", "", host) == ""
    long = json.loads(wire.document("UserPromptSubmit", LAYER, "codex", "x" * 9_000))
    assert len(long["systemMessage"]) == wire.MOST_SAID_CHARS


def test_the_sessions_of_exactly_those_hosts_are_queued_whose_transcripts_can_be_read():
    assert set(wire.READABLE) == set(registry.HOSTS)
    assert set(wire.HOSTS) == set(installation.HOSTS)


@pytest.mark.parametrize(
    ("named", "host", "event"),
    [
        ("SubagentStart", "codex", "SubagentStart"),
        ("BeforeAgent", "gemini", "UserPromptSubmit"),
        ("PreToolUse", "claude-code", "PreToolUse"),
        ("", "claude-code", "Stop"),
        (None, "claude-code", "Stop"),
        ("x" * 65, "claude-code", "Stop"),
    ],
)
def test_the_event_is_the_one_that_the_payload_names(named, host, event):
    payload = {"hook_event_name": named}
    assert wire.event_of(payload, "Stop", host) == event


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
