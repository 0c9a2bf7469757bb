"""What a fresh prompt loads, in a fresh process: modules are counted, never milliseconds."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from rose import layout, refresh, trust
from tests.factories import a_rule_file

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LAUNCH = os.path.join(ROOT, "rose", "launch.py")
OURS = {
    "rose",
    "rose.errors",
    "rose.files",
    "rose.hosts",
    "rose.hosts.wire",
    "rose.layout",
    "rose.prompt",
    "rose.routing",
    "rose.routing.compiled",
    "rose.session",
}
STANDARD = {"__future__", "_json", "_signal", "stat", "_stat"}
BY_VERSION = {"_sha2", "_sha256"}


def _probe(tmp_path) -> str:
    """Write a launcher that reports what was loaded, and return its path."""
    path = tmp_path / "probe.py"
    path.write_text(
        "import os, sys\n"
        "bare = set(sys.modules)\n"
        "leave = os._exit\n"
        "def report(code):\n"
        "    os.write(2, repr(sorted(set(sys.modules) - bare)).encode())\n"
        "    leave(code)\n"
        "os._exit = report\n"
        f"sys.argv[0] = {LAUNCH!r}\n"
        f"__file__ = {LAUNCH!r}\n"
        f"exec(compile(open({LAUNCH!r}).read(), {LAUNCH!r}, 'exec'))\n"
    )
    return str(path)


@pytest.fixture
def store(tmp_path):
    made = layout.project_store(str(tmp_path / "repo"))
    os.makedirs(os.path.join(made.base, "nodes", "testing"))
    with open(os.path.join(made.base, "nodes", "testing", "a.md"), "w") as stream:
        stream.write("# A\n\nUse `--a`.\n")
    a_rule_file(made, when="the task runs the tests", then="read nodes/testing/ first")
    refresh.everything(layout.Stores(made, None, ""))
    trust.add(made, os.environ)
    return made


def _payload(store, session) -> str:
    return json.dumps({"session_id": session, "cwd": store.base, "prompt": "run"})


def test_a_fresh_prompt_loads_a_handful_of_built_in_modules(tmp_path, store):
    done = subprocess.run(
        [sys.executable, "-IS", _probe(tmp_path), "UserPromptSubmit", "--host", "claude-code"],
        input=_payload(store, "s1"),
        capture_output=True,
        text=True,
        check=True,
    )
    assert "nodes/testing/" in done.stdout
    loaded = set(json.loads(done.stderr.replace("'", '"')))
    assert loaded - STANDARD - BY_VERSION == OURS


def test_a_user_wide_hook_loads_one_module_more(tmp_path, store):
    done = subprocess.run(
        [sys.executable, "-IS", _probe(tmp_path), "UserPromptSubmit", "--if-trusted"],
        input=_payload(store, "s3"),
        capture_output=True,
        text=True,
        check=True,
    )
    assert "nodes/testing/" in done.stdout
    loaded = set(json.loads(done.stderr.replace("'", '"')))
    assert loaded - STANDARD - BY_VERSION == {*OURS, "rose.trust"}


def test_a_prompt_that_was_served_already_prints_nothing_and_loads_no_more(tmp_path, store):
    command = [sys.executable, "-IS", _probe(tmp_path), "UserPromptSubmit"]
    for _ in range(2):
        done = subprocess.run(
            command, input=_payload(store, "s2"), capture_output=True, text=True, check=True
        )
    assert done.stdout == ""
    loaded = set(json.loads(done.stderr.replace("'", '"')))
    assert loaded - STANDARD - BY_VERSION == OURS
