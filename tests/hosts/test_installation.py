from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys

import pytest

from rose.errors import RoseError, UsageError
from rose.findings import Refused
from rose.hosts import installation, plugin, receipt, wire, wiring
from rose.routing import layer

PYTHON = sys.executable


@pytest.fixture
def place(tmp_path):
    return str(tmp_path / "state" / "install.json")


def aim(tmp_path, host, scope="project", **options):
    environ = {"HOME": str(tmp_path / "home")}
    return installation.target(host, scope, str(tmp_path / "re po"), environ, **options)


def install(target, place, python=PYTHON):
    return installation.apply(target, place, python)


def uninstall(target, place):
    return installation.apply(target, place, PYTHON, remove=True)


def written(target):
    with open(target.path, encoding="utf-8") as stream:
        return json.load(stream)


@pytest.mark.parametrize("scope", installation.SCOPES)
@pytest.mark.parametrize("host", installation.HOSTS)
def test_a_file_and_its_folders_are_made_and_taken_away_again(tmp_path, place, host, scope):
    (tmp_path / "re po").mkdir()
    target = aim(tmp_path, host, scope)
    assert install(target, place).is_change
    assert os.path.isfile(target.path)
    assert not install(target, place).is_change
    uninstall(target, place)
    assert not os.path.lexists(place)
    assert os.listdir(tmp_path / "re po") == []
    assert os.listdir(tmp_path / "home") == []


@pytest.mark.parametrize("host", [name for name in installation.HOSTS if name != "opencode"])
def test_each_host_gets_its_own_events_by_an_absolute_isolated_command(tmp_path, place, host):
    target = aim(tmp_path, host)
    install(target, place)
    for event, entries in written(target)["hooks"].items():
        handler = entries[0]["hooks"][0] if target.host.grouped else entries[0]
        words = shlex.split(handler["command"])
        assert words == [PYTHON, "-IS", installation.LAUNCH, event, "--host", host]
        assert wire.event_named(event, host) in wire.EVENTS
    assert tuple(written(target)["hooks"]) == target.host.events


def test_timeouts_are_inside_each_hosts_limits(tmp_path, place):
    hosts = {host: aim(tmp_path, host) for host in ("claude-code", "codex", "gemini")}
    found = {}
    for host, target in hosts.items():
        install(target, place)
        found[host] = {
            event: entries[0]["hooks"][0] for event, entries in written(target)["hooks"].items()
        }
    assert found["claude-code"]["SessionEnd"]["timeout"] == 10
    assert found["codex"]["SessionEnd"]["timeout"] == 3
    assert found["codex"]["UserPromptSubmit"]["additionalContextLimit"] == 4000
    assert found["gemini"]["BeforeAgent"]["timeout"] == 10_000


def test_codex_lets_the_largest_layer_pass_where_it_is_sent(tmp_path, place):
    target = aim(tmp_path, "codex")
    install(target, place)
    limits = {
        event: entries[0]["hooks"][0].get("additionalContextLimit")
        for event, entries in written(target)["hooks"].items()
    }
    sent = {event: limit for event, limit in limits.items() if limit is not None}
    assert set(sent) == {"SessionStart", "UserPromptSubmit", "SubagentStart"}
    # Codex counts a token for every four bytes.
    assert min(sent.values()) * 4 > layer.MAX_BYTES


def test_the_shared_file_names_no_path_and_does_nothing_without_rose(tmp_path, place):
    target = aim(tmp_path, "claude-code", shared=True)
    assert target.path.endswith(os.path.join(".claude", "settings.json"))
    install(target, place)
    handler = written(target)["hooks"]["UserPromptSubmit"][0]["hooks"][0]
    assert "/rose/" not in handler["command"]
    done = subprocess.run(
        ["sh", "-c", handler["command"]],
        env={"PATH": "/nonexistent"},
        executable=shutil.which("sh"),
        capture_output=True,
        check=True,
    )
    assert (done.stdout, done.stderr) == (b"", b"")


@pytest.mark.parametrize("host", ["codex", "gemini", "cursor", "opencode"])
def test_only_claude_code_has_a_shared_file(tmp_path, host):
    with pytest.raises(UsageError):
        aim(tmp_path, host, shared=True)


@pytest.mark.parametrize(("host", "scope"), [("vim", "project"), ("codex", "world")])
def test_an_unknown_host_or_scope_is_named(tmp_path, host, scope):
    with pytest.raises(UsageError, match=r"unknown (host: vim|scope: world)"):
        aim(tmp_path, host, scope)


def test_a_hosts_own_variable_moves_its_folder(tmp_path):
    environ = {"HOME": "/h", "CODEX_HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": str(tmp_path)}
    for name, file in (("codex", "hooks.json"), ("claude-code", "settings.json")):
        found = installation.target(name, "user", "", environ)
        assert found.path == str(tmp_path / file)


def test_a_host_is_present_by_its_program_or_its_folder(tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "codex").write_text("#!/bin/sh\n")
    (tmp_path / "bin" / "codex").chmod(0o755)
    (tmp_path / "bin" / "gemini").write_text("not executable")
    (tmp_path / "repo" / ".cursor").mkdir(parents=True)
    (tmp_path / "home" / ".claude").mkdir()
    environ = {"HOME": str(tmp_path / "home"), "PATH": f"/none:{tmp_path / 'bin'}"}
    found = installation.present(str(tmp_path / "repo"), environ)
    assert found == ["claude-code", "codex", "cursor"]


@pytest.mark.parametrize(
    ("scope", "folder"), [("user", "."), ("user", "re po"), ("project", "re po")]
)
def test_a_link_stays_a_link_and_a_mode_stays(tmp_path, place, scope, folder):
    target = aim(tmp_path, "claude-code", scope)
    os.makedirs(os.path.dirname(target.path))
    (tmp_path / folder).mkdir(exist_ok=True)
    real = tmp_path / folder / "dotfiles.json"
    real.write_bytes(b'{"a": 1}\n')
    real.chmod(0o600)
    os.symlink(real, target.path)
    install(target, place)
    assert os.path.islink(target.path)
    assert real.stat().st_mode & 0o777 == 0o600
    assert "UserPromptSubmit" in json.loads(real.read_text())["hooks"]
    uninstall(target, place)
    assert os.path.islink(target.path)
    assert real.read_bytes() == b'{"a": 1}\n'


@pytest.mark.parametrize("host", installation.HOSTS)
@pytest.mark.parametrize("text", [None, "{}\n"])
def test_a_project_s_link_leads_no_hook_into_a_person_s_own_settings(tmp_path, place, host, text):
    """A hook there must pass over stores that came with a clone; one for a project does not."""
    target = aim(tmp_path, host)
    (tmp_path / "re po").mkdir()
    (tmp_path / "home" / target.host.folder).mkdir()
    os.symlink(f"../home/{target.host.folder}", tmp_path / "re po" / target.host.folder)
    if text is not None and host != "opencode":
        (tmp_path / "home" / target.host.folder / target.host.file).write_text(text)
    before = sorted(str(path) for path in (tmp_path / "home").rglob("*"))
    with pytest.raises(Refused, match="outside of the project") as refused:
        install(target, place)
    if host != "opencode":
        assert "--if-trusted" in str(refused.value)
    assert sorted(str(path) for path in (tmp_path / "home").rglob("*")) == before
    assert not os.path.lexists(place)


def test_an_uninstallation_leaves_alone_what_lies_outside_of_the_project(tmp_path, place):
    mine = aim(tmp_path, "gemini", "user")
    install(mine, place)
    (tmp_path / "re po").mkdir()
    os.symlink("../home/.gemini", tmp_path / "re po" / ".gemini")
    with open(mine.path, encoding="utf-8") as stream:
        before = stream.read()
    assert not uninstall(aim(tmp_path, "gemini"), place + "-of-project").is_change
    with open(mine.path, encoding="utf-8") as stream:
        assert stream.read() == before


def test_a_forged_receipt_deletes_no_folder_but_those_above_the_settings(tmp_path, place):
    target = aim(tmp_path, "claude-code")
    install(target, place)
    for name in ("mine", "re po/mine", "re po/.claude/mine"):
        (tmp_path / name).mkdir()
    with open(place, encoding="utf-8") as stream:
        held = json.load(stream)
    held["files"][target.path]["folders"] += [
        str(tmp_path / "mine"),
        str(tmp_path / "re po" / "mine"),
        str(tmp_path / "re po" / ".claude" / "mine"),
        str(tmp_path / "re po" / ".claude" / ".." / "mine"),
    ]
    with open(place, "w", encoding="utf-8") as stream:
        json.dump(held, stream)
    uninstall(target, place)
    assert not os.path.lexists(target.path)
    for name in ("mine", "re po/mine", "re po/.claude/mine"):
        assert (tmp_path / name).is_dir()


def test_a_forged_receipt_does_not_delete_the_project_s_own_folder(tmp_path, place):
    target = aim(tmp_path, "claude-code")
    install(target, place)
    with open(place, encoding="utf-8") as stream:
        held = json.load(stream)
    held["files"][target.path]["folders"] += [str(tmp_path / "re po")]
    with open(place, "w", encoding="utf-8") as stream:
        json.dump(held, stream)
    uninstall(target, place)
    assert os.listdir(tmp_path / "re po") == []


def test_a_link_that_leads_nowhere_is_left_alone(tmp_path, place):
    target = aim(tmp_path, "claude-code")
    os.makedirs(os.path.dirname(target.path))
    os.symlink(tmp_path / "gone", target.path)
    with pytest.raises(RoseError, match="leads nowhere"):
        install(target, place)


def test_the_receipt_holds_nothing_of_a_persons_file(tmp_path, place):
    target = aim(tmp_path, "claude-code")
    os.makedirs(os.path.dirname(target.path))
    with open(target.path, "w") as stream:
        stream.write('{"env": {"KEY": "hunter2"}, "hooks": {}}')
    install(target, place)
    with open(place) as stream:
        assert "hunter2" not in stream.read()
        assert "KEY" not in stream.read()


def test_a_right_file_is_not_written_again(tmp_path, place):
    target = aim(tmp_path, "codex")
    install(target, place)
    before = os.stat(target.path), os.stat(place)
    install(target, place)
    after = os.stat(target.path), os.stat(place)
    assert [(s.st_ino, s.st_mtime_ns) for s in after] == [(s.st_ino, s.st_mtime_ns) for s in before]


def test_a_file_that_is_no_text_is_refused_and_left(tmp_path, place):
    target = aim(tmp_path, "claude-code")
    os.makedirs(os.path.dirname(target.path))
    with open(target.path, "wb") as stream:
        stream.write('{\n"a": "x"}'.encode("utf-16"))
    with pytest.raises(Refused, match="no UTF-8"):
        install(target, place)
    assert not os.path.lexists(place)


def test_a_torn_receipt_counts_as_none(tmp_path, place):
    target = aim(tmp_path, "claude-code")
    install(target, place)
    with open(place, "w") as stream:
        stream.write('{"files": {"x": 1, ')
    uninstall(target, place)
    assert written(target) == {}


@pytest.mark.parametrize("tail", ["x", "\n}", 1, None])
def test_a_forged_receipt_takes_nothing_but_white_space(tmp_path, place, tail):
    target = aim(tmp_path, "claude-code")
    install(target, place)
    with open(place) as stream:
        held = json.load(stream)
    held["files"][target.path].update(tails={"": tail}, created=["hooks", 1], file=1, folders=2)
    with open(place, "w") as stream:
        json.dump(held, stream)
    uninstall(target, place)
    assert written(target).keys() <= {"hooks"}


@pytest.mark.parametrize("python", ["", "python3"])
def test_a_python_without_its_path_is_never_written(tmp_path, place, python):
    with pytest.raises(RoseError, match="not known"):
        install(aim(tmp_path, "codex"), place, python)


def test_a_path_that_is_no_text_is_never_written(tmp_path, place):
    with pytest.raises(RoseError, match="UTF-8"):
        install(aim(tmp_path, "codex"), place, "/a\udcff/python")


def test_a_plugin_that_rose_did_not_write_is_left_alone(tmp_path, place):
    target = aim(tmp_path, "opencode")
    os.makedirs(os.path.dirname(target.path))
    with open(target.path, "w") as stream:
        stream.write("export const Rose = 1\n")
    with pytest.raises(Refused, match="plugin-foreign"):
        install(target, place)
    assert not uninstall(target, place).is_change


def test_an_uninstall_passes_over_a_broken_file_that_does_not_name_rose(tmp_path, place):
    target = aim(tmp_path, "gemini")
    os.makedirs(os.path.dirname(target.path))
    with open(target.path, "w") as stream:
        stream.write("{oops")
    assert not uninstall(target, place).is_change
    with open(target.path, "w") as stream:
        stream.write("{oops: 'rose hook Stop'")
    with pytest.raises(Refused, match="settings-unreadable"):
        uninstall(target, place)


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not here")
def test_the_plugin_adds_what_the_command_prints(tmp_path):
    printed = {"hookSpecificOutput": {"hookEventName": "chat.message", "additionalContext": "L"}}
    script = tmp_path / "answer.sh"
    script.write_text(f"cat > '{tmp_path}/in'; echo \"$@\" > '{tmp_path}/words'\n")
    with open(script, "a") as stream:
        stream.write(f"echo '{json.dumps(printed)}'\n")
    (tmp_path / "rose.mjs").write_text(plugin.text(["/bin/sh", str(script)]))
    (tmp_path / "run.mjs").write_text(
        'import { Rose } from "./rose.mjs"\n'
        'const hooks = await Rose({ directory: "/repo" })\n'
        'const output = { parts: [{ type: "text", id: "prt_1", text: "hello" }] }\n'
        'await hooks["chat.message"]({ sessionID: "s" }, output)\n'
        'await hooks.event({ event: { type: "session.idle", properties: {} } })\n'
        "console.log(JSON.stringify(output.parts))\n"
    )
    done = subprocess.run(
        ["node", "run.mjs"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout)[1] == {
        "type": "text",
        "id": "prt_1r",
        "text": "L",
        "synthetic": True,
    }
    assert json.loads((tmp_path / "in").read_text()) == {"session_id": "s", "cwd": "/repo"}
    assert (tmp_path / "words").read_text() == "chat.message --host opencode\n"


def test_the_receipt_of_a_person_never_makes_a_home_store(tmp_path):
    home = str(tmp_path / "home")
    assert receipt.place(None, {"HOME": home}) == os.path.join(
        home, ".local", "state", "rose", "install.json"
    )
    assert receipt.place(None, {"HOME": home, "XDG_STATE_HOME": "/s"}) == "/s/rose/install.json"
    assert receipt.place("/p/.rose/local", {}) == "/p/.rose/local/install.json"
    with pytest.raises(RoseError):
        receipt.place(None, {})


def wired(tmp_path, **environ):
    return wiring.wired(str(tmp_path / "re po"), {"HOME": str(tmp_path / "home"), **environ})


@pytest.mark.parametrize("host", [name for name in installation.HOSTS if name != "codex"])
def test_a_wired_host_is_found_with_its_command(tmp_path, place, host):
    install(aim(tmp_path, host), place)
    (found,) = wired(tmp_path)
    assert (found.host, found.fault, found.missing) == (host, "", ())
    assert shlex.split(found.command)[:3] == [PYTHON, "-IS", installation.LAUNCH]


@pytest.mark.parametrize("host", ["claude-code", "opencode"])
def test_a_python_that_is_gone_is_a_fault(tmp_path, place, host):
    install(aim(tmp_path, host), place, "/gone/python")
    assert [found.fault for found in wired(tmp_path)] == ["/gone/python is gone"]


def test_a_script_that_is_gone_is_a_fault(tmp_path, place):
    target = aim(tmp_path, "claude-code")
    install(target, place)
    with open(target.path) as stream:
        text = stream.read()
    with open(target.path, "w") as stream:
        stream.write(text.replace(installation.LAUNCH, "/gone/rose/launch.py"))
    assert [found.fault for found in wired(tmp_path)] == ["/gone/rose/launch.py is gone"]


def test_hooks_that_are_switched_off_are_a_fault(tmp_path, place):
    target = aim(tmp_path, "claude-code")
    os.makedirs(os.path.dirname(target.path))
    with open(target.path, "w") as stream:
        stream.write('{"disableAllHooks": true}')
    install(target, place)
    assert [found.fault for found in wired(tmp_path)] == ["`disableAllHooks` is on"]


def test_a_shared_file_needs_rose_on_path(tmp_path, place):
    install(aim(tmp_path, "claude-code", shared=True), place)
    assert [found.fault for found in wired(tmp_path)] == ["`rose` is not on PATH"]
    (tmp_path / "rose").write_text("")
    (tmp_path / "rose").chmod(0o755)
    assert [found.fault for found in wired(tmp_path, PATH=str(tmp_path))] == [""]


def test_events_that_are_missing_are_named(tmp_path, place):
    target = aim(tmp_path, "claude-code")
    install(target, place)
    held = written(target)
    del held["hooks"]["SessionEnd"]
    with open(target.path, "w") as stream:
        json.dump(held, stream)
    assert [found.missing for found in wired(tmp_path)] == [("SessionEnd",)]


def trust(tmp_path, target, *, project=True, quote='"{}"'):
    events = {"SessionStart": "session_start", "UserPromptSubmit": "user_prompt_submit"}
    tables = [
        f'[hooks.state.{quote.format(f"{target.path}:{event}:0:0")}]\ntrusted_hash = "sha256:1"\n'
        for event in events.values()
    ]
    if project:
        tables.append(f'[projects."{tmp_path / "re po"}"]\ntrust_level = "trusted"\n')
    folder = tmp_path / "home" / ".codex"
    folder.mkdir(exist_ok=True)
    (folder / "config.toml").write_text(
        'model = "x"\n\n' + "\n".join(tables) + "\n[other]\na = 1\n"
    )


UNTRUSTED = ("SubagentStart", "PostCompact", "Stop", "SessionEnd")


@pytest.mark.parametrize("quote", ['"{}"', "'{}'"])
@pytest.mark.parametrize("scope", installation.SCOPES)
def test_the_hooks_that_codex_does_not_trust_yet_are_named(tmp_path, place, scope, quote):
    target = aim(tmp_path, "codex", scope)
    install(target, place)
    assert [found.untrusted for found in wired(tmp_path)] == [target.host.events]
    trust(tmp_path, target, quote=quote)
    assert [found.untrusted for found in wired(tmp_path)] == [UNTRUSTED]


def test_a_trust_that_is_older_than_the_entry_is_told_apart(tmp_path, place):
    target = aim(tmp_path, "codex")
    install(target, place)
    assert [found.is_older for found in wired(tmp_path)] == [False]
    trust(tmp_path, target)
    config = tmp_path / "home" / ".codex" / "config.toml"
    changed = os.stat(target.path).st_mtime
    for moved, older in ((changed + 5, False), (changed - 5, True)):
        os.utime(config, (moved, moved))
        assert [found.is_older for found in wired(tmp_path)] == [older]


def test_in_a_project_that_codex_does_not_trust_no_hook_is(tmp_path, place):
    target = aim(tmp_path, "codex")
    install(target, place)
    trust(tmp_path, target, project=False)
    assert [found.untrusted for found in wired(tmp_path)] == [target.host.events]


def test_a_broken_settings_file_is_no_wiring(tmp_path):
    target = aim(tmp_path, "claude-code")
    os.makedirs(os.path.dirname(target.path))
    with open(target.path, "w") as stream:
        stream.write('{"hooks": rose/launch.py')
    assert wired(tmp_path) == []
