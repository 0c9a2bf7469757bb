"""What doctor says of hooks and of delivery, from the evidence of the last sessions."""

from __future__ import annotations

import json
import os
import re
import stat
import sys

import pytest

from rose import files, layout, session
from rose.hosts import agents_md, installation, receipt
from rose.report import reach
from rose.report.diagnosis import Around
from tests import factories


@pytest.fixture
def store(tmp_path):
    return factories.a_store(tmp_path)


def checks(store, section, **environ):
    around = Around(
        stores=layout.Stores(store, None, "test"),
        environ={"HOME": os.environ["HOME"], **environ},
        cwd=store.base,
        python=sys.executable,
        now=0.0,
        short=lambda path: os.path.relpath(path, store.base),
    )
    return [one for one in reach.checks(around) if one.section == section]


def install(store, host, scope="project"):
    environ = {"HOME": os.environ["HOME"]}
    target = installation.target(host, scope, store.base, environ)
    place = receipt.place(store.local if scope == "project" else None, environ)
    installation.apply(target, place, sys.executable)


def reflected(store, *ends: str, host="codex"):
    """Append a session to the log for each end of one block, oldest first."""
    for number, end in enumerate(ends):
        listed = [{"event": "UserPromptSubmit", end: 1}]
        line = {"v": 1, "session": f"s{number}", "host": host, "arrivals": listed}
        files.append_line(store.trace, files.dump_json(line))


@pytest.mark.parametrize(
    ("ends", "state", "said"),
    [
        (["whole"] * 3, "ok", "codex UserPromptSubmit: whole 3"),
        (["cut", "whole"], "ok", "codex UserPromptSubmit: whole 1, cut 1"),
        (["whole", "cut"], "problem", "whole 1, cut 1; the latest was cut"),
        (["whole", "cut", "unknown"], "problem", "; the latest was cut"),
        (["none", "none"], "problem", "none 2; never delivered on this host"),
        (["whole", *["none"] * 5], "problem", "whole 1, none 5; not in the last 5 sessions"),
        (["whole", *["none"] * 4], "ok", "whole 1, none 4"),
        (["none"], "note", "none 1; one session says little"),
        (["unknown"] * 9, "note", "unknown 9"),
    ],
)
def test_the_last_sessions_say_how_the_layer_arrives(store, ends, state, said):
    reflected(store, *ends)
    (found,) = checks(store, "delivery")
    assert found.state == state
    assert said in found.text
    assert bool(found.repair) == (state == "problem" or "little" in said)


@pytest.mark.parametrize(
    ("host", "word"),
    [
        ("codex", "additionalContextLimit"),
        ("claude-code", "10,000 characters"),
        ("cursor", "routing.max_tokens"),
    ],
)
def test_what_to_do_about_a_cut_is_said_by_host(store, host, word):
    reflected(store, "cut", host=host)
    assert word in checks(store, "delivery")[0].repair


def test_a_wired_host_of_which_nothing_is_known_is_named(store):
    install(store, "cursor")
    install(store, "claude-code")
    assert [(one.state, one.text) for one in checks(store, "delivery")] == [
        ("note", "claude-code: no session that was sent rules is recorded yet"),
        ("note", "cursor: unknown, rose reads no transcript of it"),
    ]
    reflected(store, "whole", host="claude-code")
    assert [one.state for one in checks(store, "delivery")] == ["ok", "note"]


def enable(store, name="settings.json"):
    path = os.path.join(store.base, ".claude", name)
    files.replace(path, json.dumps({"enabledPlugins": {"rose@rose": True}}))
    listed = os.path.join(os.environ["HOME"], ".claude", "plugins", "installed_plugins.json")
    files.replace(listed, '{"version": 2, "plugins": {"rose@rose": [{"scope": "project"}]}}')
    program = os.path.join(os.environ["HOME"], "bin", "rose")
    files.replace(program, "")
    os.chmod(program, stat.S_IRWXU)
    return {"PATH": os.path.dirname(program)}


def test_a_project_that_only_the_plugin_wires_is_seen(store):
    environ = enable(store)
    (found,) = checks(store, "hosts", **environ)
    assert (found.state, found.repair) == ("ok", "")
    assert found.text.startswith(
        "claude-code calls rose from .claude/settings.json by the plugin rose@rose: "
    )


def test_a_project_that_only_the_block_of_agents_md_reaches_is_seen(store):
    assert [one.text for one in checks(store, "hosts")] == ["no agent program calls rose here"]
    agents_md.change(agents_md.target(store.base))
    (found,) = checks(store, "hosts")
    assert (found.state, found.repair) == ("ok", "")
    assert found.text.startswith("AGENTS.md holds rose's block")
    assert checks(store, "hook") == []


def test_what_is_amiss_with_the_block_of_agents_md_is_a_note_beside_the_hooks(store):
    install(store, "codex")
    agents_md.change(agents_md.target(store.base))
    files.replace(os.path.join(store.base, agents_md.INSTEAD), "x")
    found = checks(store, "hosts")
    assert [one.text.partition(" ")[0] for one in found] == ["codex", "AGENTS.md"]
    assert "Codex reads AGENTS.override.md in its place." in found[1].text
    assert (found[1].state, bool(found[1].repair)) == ("note", True)


@pytest.mark.parametrize(
    ("age", "state", "words"),
    [(5, "note", "was changed after Codex last"), (-5, "ok", "Codex compares the hash itself")],
)
def test_a_trust_of_codex_is_told_as_what_it_was_once(store, age, state, words):
    install(store, "codex")
    target = installation.target("codex", "project", store.base, {"HOME": os.environ["HOME"]})
    tables = [f'[projects."{store.base}"]\ntrust_level = "trusted"\n']
    for event in target.host.events:
        name = re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()
        tables.append(f'[hooks.state."{target.path}:{name}:0:0"]\ntrusted_hash = "sha256:1"\n')
    config = os.path.join(os.environ["HOME"], ".codex", "config.toml")
    files.replace(config, "".join(tables))
    written = os.stat(target.path).st_mtime
    os.utime(config, (written - age, written - age))
    (found,) = checks(store, "hosts")
    assert (found.state, words in found.text) == (state, True)


def test_two_wirings_of_one_host_are_a_note_that_says_how_to_take_one_out(store):
    environ = enable(store, "settings.local.json")
    install(store, "claude-code")
    install(store, "codex")
    doubled = [one for one in checks(store, "hosts", **environ) if "times" in one.text]
    assert [one.text for one in doubled] == [
        "claude-code calls rose 2 times, so a session may get a copy from each"
    ]
    assert "`rose uninstall --host claude-code`" in doubled[0].repair
    assert "`claude plugin disable rose@rose`" in doubled[0].repair


def test_a_wiring_that_cannot_run_is_no_second_one(store):
    enable(store)
    install(store, "claude-code", "user")
    found = checks(store, "hosts", PATH="/nowhere")
    assert [one.state for one in found] == ["ok", "problem"]


@pytest.mark.parametrize(
    ("is_called", "state", "said"),
    [(True, "ok", "has been called here"), (False, "note", "nothing was sent to a session")],
)
def test_a_hook_that_never_ran_here_is_told_from_one_that_did(store, is_called, state, said):
    install(store, "claude-code")
    if is_called:
        path = session.note_path(store.sessions, layout.session_name("claude-code", "s"))
        files.append_line(path, session.reset_line("clear"))
    (found,) = checks(store, "hook")
    assert found.state == state
    assert said in found.text
