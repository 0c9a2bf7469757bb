from __future__ import annotations

import json
import os
import subprocess

import pytest

from tests.clirun import run
from tests.fakes import a_program

HOSTS = ("claude-code", "codex", "gemini", "cursor", "opencode")


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "home" / "a project's folder"
    folder.mkdir()
    run("init", cwd=folder)
    run("add", "One", "--body", "x", "--folder", "testing", cwd=folder)
    run("route", "--when", "the task runs the tests", "--then", "read nodes/testing/", cwd=folder)
    return folder


def tree(folder) -> dict[str, bytes]:
    found = {}
    for base, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(base, name)
            with open(path, "rb") as stream:
                found[os.path.relpath(path, folder)] = stream.read()
    return found


def outside(folder) -> dict[str, bytes]:
    """Return every file but those that are rose's own."""
    return {path: data for path, data in tree(folder).items() if ".rose" not in path}


def options(hosts):
    return [word for host in hosts for word in ("--host", host)]


def test_every_file_and_key_is_printed_and_an_uninstall_leaves_no_trace(project):
    before = outside(project)
    result = run("install", *options(HOSTS), cwd=project)
    assert result.code == 0
    assert ".claude/settings.local.json: written" in result.out
    assert "hooks.UserPromptSubmit" in result.out
    assert "/hooks" in result.err
    assert result.err.count("By document, not run") == 3
    assert len(outside(project)) == len(before) + len(HOSTS)
    assert "nothing to change" in run("install", *options(HOSTS), cwd=project).out
    done = run("uninstall", cwd=project)
    assert (done.code, done.out.count("deleted")) == (0, len(HOSTS))
    assert outside(project) == before
    assert "Nothing of rose" in run("uninstall", cwd=project).err


def test_a_dry_run_prints_the_difference_and_writes_nothing(project):
    settings = project / ".claude" / "settings.local.json"
    settings.parent.mkdir()
    settings.write_text('{\n  "model": "opus"\n}\n')
    before = tree(project)
    result = run("install", "--host", "claude-code", "--dry-run", cwd=project)
    assert "would be changed" in result.out
    assert '+  "hooks": {' in result.out
    assert tree(project) == before
    run("install", "--host", "claude-code", cwd=project)
    result = run("uninstall", "--dry-run", cwd=project)
    assert '-  "hooks": {' in result.out
    assert "rose" in settings.read_text()


def test_a_file_that_cannot_be_read_is_refused_and_the_others_are_written(project):
    settings = project / ".claude" / "settings.local.json"
    settings.parent.mkdir()
    settings.write_text('{\n  "model": oops\n}\n')
    result = run("install", "--host", "claude-code", "--host", "cursor", cwd=project)
    assert result.code == 1
    assert f"refused: {settings}:2: settings-unreadable" in result.err
    assert '"UserPromptSubmit"' in result.err
    assert settings.read_text() == '{\n  "model": oops\n}\n'
    assert (project / ".cursor" / "hooks.json").is_file()


def test_without_a_host_the_programs_that_are_found_are_wired(project):
    result = run("install", cwd=project, env={"PATH": "/nonexistent"})
    assert result.code == 1
    assert "--host" in result.err
    (project / ".cursor").mkdir()
    result = run("install", "--json", cwd=project, env={"PATH": "/nonexistent"})
    assert [each["host"] for each in result.json["files"]] == ["cursor"]
    assert result.json["files"][0]["changed"] is True


def test_a_project_needs_a_store_and_a_person_does_not(tmp_path):
    result = run("install", "--host", "codex", cwd=tmp_path)
    assert (result.code, "rose init" in result.err) == (1, True)
    assert run("install", "--host", "codex", "--scope", "user", cwd=tmp_path).code == 0
    home = tmp_path / "home"
    assert not (home / ".rose").exists()
    assert (home / ".codex" / "hooks.json").is_file()
    run("uninstall", "--scope", "user", cwd=tmp_path)
    assert [path for path in tree(home) if not path.endswith(".lock")] == []


@pytest.mark.parametrize(
    "words",
    [
        ("--host", "vim"),
        ("--scope", "world"),
        ("--shared", "--host", "codex"),
        ("--shared", "--scope", "user"),
        ("--agents-md", "--host", "claude-code"),
        ("--agents-md", "--host", "codex", "--host", "cursor"),
        ("--agents-md", "--scope", "user"),
        ("--agents-md", "--shared"),
    ],
)
def test_words_that_are_off_are_usage(project, words):
    assert run("install", *words, cwd=project).code == 2
    assert run("uninstall", *words, cwd=project).code == 2


def test_the_shared_file_is_told_from_a_persons_own(project):
    run("install", "--shared", cwd=project)
    text = (project / ".claude" / "settings.json").read_text()
    assert "command -v rose" in text
    assert str(project) not in text
    result = run("install", "--host", "claude-code", cwd=project)
    assert "calls rose too" in result.err
    run("uninstall", cwd=project)
    assert (project / ".claude" / "settings.json").read_text() == text
    run("uninstall", "--shared", cwd=project)
    assert not (project / ".claude").exists()


def test_the_block_of_agents_md_comes_and_goes_without_a_hook(project):
    before = outside(project)
    (project / "AGENTS.md").write_text("# Mine")
    for words in (("--host", "codex"), (), ()):
        result = run("install", "--agents-md", *words, cwd=project)
        assert (result.code, "/hooks" in result.err) == (0, False)
    assert "nothing to change" in result.out
    after = outside(project)
    text = after.pop("AGENTS.md").decode()
    assert after == before
    assert text.startswith("# Mine\n")
    assert text.count("rose: begin") == 1
    assert str(project) not in text
    run("uninstall", cwd=project)
    assert (project / "AGENTS.md").read_text() == text
    run("uninstall", "--agents-md", cwd=project)
    assert (project / "AGENTS.md").read_text() == "# Mine"


def test_a_dry_run_of_the_block_prints_it_and_writes_nothing(project):
    before = tree(project)
    result = run("install", "--agents-md", "--dry-run", cwd=project)
    assert "AGENTS.md: would be written" in result.out
    assert "+<!-- rose: begin -->" in result.out
    assert tree(project) == before


def test_an_agents_md_that_leads_out_of_the_project_is_refused(project, tmp_path):
    (tmp_path / "profile").write_text("mine")
    (project / "AGENTS.md").symlink_to(tmp_path / "profile")
    result = run("install", "--agents-md", cwd=project)
    assert result.code == 1
    assert "agents-md-unreadable" in result.err
    assert "<!-- rose: begin -->" in result.err
    assert (tmp_path / "profile").read_text() == "mine"


def test_nothing_else_of_a_hosts_settings_changes(project):
    """The host's own memory stays as it is."""
    settings = project / ".claude" / "settings.local.json"
    settings.parent.mkdir()
    settings.write_text('{"autoMemoryEnabled": true, "env": {"A": "b"}}')
    run("install", "--host", "claude-code", cwd=project)
    after = json.loads(settings.read_text())
    del after["hooks"]
    assert after == {"autoMemoryEnabled": True, "env": {"A": "b"}}


def answer(project, path, event, payload, flat=False):
    """Let `sh` run the command that stands in a settings file."""
    held = json.loads((project / path).read_text())["hooks"][event][0]
    command = (held if flat else held["hooks"][0])["command"]
    done = subprocess.run(
        ["sh", "-c", command],
        input=json.dumps(payload).encode(),
        capture_output=True,
        check=True,
        cwd="/",
    )
    assert done.stderr == b""
    return json.loads(done.stdout) if done.stdout else None


def test_sh_runs_what_was_written_and_gets_the_layer(project):
    run("install", *options(HOSTS), cwd=project)
    payload = {"session_id": "s", "cwd": str(project), "prompt": "x"}
    for path in (".claude/settings.local.json", ".codex/hooks.json"):
        printed = answer(project, path, "UserPromptSubmit", payload)["hookSpecificOutput"]
        assert printed["hookEventName"] == "UserPromptSubmit"
        assert "nodes/testing/" in printed["additionalContext"]


def test_gemini_gets_the_layer_with_every_prompt_since_it_holds_for_one_turn(project):
    run("install", "--host", "gemini", cwd=project)
    payload = {"session_id": "s", "cwd": str(project), "prompt": "x"}
    path = ".gemini/settings.json"
    first, second = (answer(project, path, "BeforeAgent", payload) for _ in range(2))
    assert first == second
    assert first["hookSpecificOutput"]["hookEventName"] == "BeforeAgent"
    assert answer(project, path, "SessionStart", payload) is None
    assert answer(project, path, "PreCompress", payload) is None


def test_cursor_gets_the_layer_at_the_start_of_a_session(project):
    run("install", "--host", "cursor", cwd=project)
    payload = {"conversation_id": "c", "workspace_roots": [str(project)], "transcript_path": "/t"}
    path = ".cursor/hooks.json"
    first = answer(project, path, "sessionStart", payload, flat=True)
    assert list(first) == ["additional_context"]
    assert "nodes/testing/" in first["additional_context"]
    assert answer(project, path, "beforeSubmitPrompt", payload, flat=True) is None
    other = answer(project, path, "beforeSubmitPrompt", {**payload, "conversation_id": "d"}, True)
    assert other["continue"] is True
    assert answer(project, path, "sessionEnd", payload, flat=True) is None
    assert not (project / ".rose" / "local" / "queue").exists()


@pytest.mark.parametrize("name", ["settings.local.json", "settings.json"])
def test_an_install_beside_the_plugin_says_that_both_run(project, name):
    settings = project / ".claude" / name
    settings.parent.mkdir()
    settings.write_text('{"enabledPlugins": {"rose@rose": true}}')
    result = run("install", "--host", "claude-code", "--host", "codex", cwd=project)
    note = f".claude/{name} (plugin rose@rose) calls rose too, so both run."
    assert result.err.count(note) == 1
    assert "`claude plugin disable rose@rose` takes one out." in result.err
    settings.write_text('{"enabledPlugins": {"rose@rose": false}}')
    assert "both run" not in run("install", "--host", "claude-code", cwd=project).err


def test_doctor_says_who_calls_rose_and_what_is_wrong_with_it(project):
    def hosts(**options: object):
        found = run("doctor", "--json", cwd=project, **options)
        return found.code, [
            (c["state"], c["text"]) for c in found.json["checks"] if c["section"] == "hosts"
        ]

    assert hosts() == (0, [("note", "no agent program calls rose here")])
    run("install", "--host", "claude-code", "--host", "codex", cwd=project)
    code, found = hosts()
    assert (code, [state for state, _ in found]) == (0, ["ok", "note"])
    assert "not trusted yet" in found[1][1]
    settings = project / ".claude" / "settings.local.json"
    settings.write_text(settings.read_text().replace("/launch.py", "/gone/rose/launch.py"))
    code, found = hosts()
    assert (code, found[0][0]) == (1, "problem")


def test_an_uninstall_names_what_of_rose_is_left_elsewhere(project):
    run("install", "--host", "claude-code", "--scope", "user", cwd=project)
    run("install", "--agents-md", cwd=project)
    result = run("uninstall", cwd=project)
    assert "Nothing of rose was found there." in result.err
    assert "rose uninstall --host claude-code --scope user" in result.err
    assert "rose uninstall --agents-md" in result.err


def test_an_install_says_who_is_asked_after_a_session(project, tmp_path, monkeypatch):
    monkeypatch.delenv("ROSE_BACKEND")
    environ = a_program(tmp_path, "claude", "")
    monkeypatch.setenv("PATH", environ["PATH"])
    result = run("install", "--host", "claude-code", cwd=project)
    assert "claude is asked" in result.err
    assert "rose config reflection.backend offline" in result.err


def test_an_install_that_wires_nothing_leaves_a_store_as_untrusted_as_it_was(project):
    run("trust", "--revoke", cwd=project)
    for wrong in (("--host", "nosuch"), ("--host", "codex", "--shared")):
        assert run("install", *wrong, cwd=project).code == 2
    settings = project / ".claude" / "settings.local.json"
    settings.parent.mkdir()
    settings.write_text("{ no JSON")
    result = run("install", "--host", "claude-code", cwd=project)
    assert (result.code, "is trusted from now on" in result.err) == (1, False)
    assert "is trusted from now on" in run("install", "--host", "codex", cwd=project).err
