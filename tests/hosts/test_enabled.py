"""Claude Code's switches: the narrowest file that names one decides, as the real client does."""

from __future__ import annotations

import json
import os

import pytest

from rose.hosts import enabled, wiring

ON, OFF = {"rose@rose": True}, {"rose@rose": False}


@pytest.fixture
def put(tmp_path):
    """Return a writer of the project's local settings, its committed ones, and the person's."""
    places = {
        "local": tmp_path / "re po" / ".claude" / "settings.local.json",
        "committed": tmp_path / "re po" / ".claude" / "settings.json",
        "user": tmp_path / "home" / ".claude" / "settings.json",
    }

    def write(place, content):
        path = places[place]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return str(path)

    return write


@pytest.fixture
def listed(tmp_path):
    """Return a writer of the client's own list of plugins, which by then names ours."""

    def write(content):
        path = tmp_path / "home" / ".claude" / "plugins" / "installed_plugins.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))

    write({"version": 2, "plugins": {"rose@rose": [{"scope": "user"}]}})
    return write


@pytest.fixture
def path(tmp_path):
    """Return a PATH on which a `rose` lies."""
    program = tmp_path / "bin" / "rose"
    program.parent.mkdir()
    program.write_text("")
    program.chmod(0o755)
    return str(program.parent)


def environ(tmp_path, **more):
    return {"HOME": str(tmp_path / "home"), **more}


def read(tmp_path):
    return enabled.read(str(tmp_path / "re po"), environ(tmp_path))


@pytest.mark.parametrize(
    ("switches", "deciding"),
    [
        ({"user": ON}, "user"),
        ({"committed": ON}, "committed"),
        ({"local": ON}, "local"),
        ({"local": ON, "committed": OFF, "user": OFF}, "local"),
        ({"committed": ON, "user": OFF}, "committed"),
        ({"local": OFF, "committed": ON, "user": ON}, None),
        ({"committed": OFF, "user": ON}, None),
        ({"user": {"other@rose": True, "roses@rose": True, "rose@rose": "yes"}}, None),
        ({}, None),
    ],
)
def test_the_narrowest_file_that_names_the_plugin_decides(tmp_path, put, switches, deciding):
    paths = {place: put(place, {"enabledPlugins": value}) for place, value in switches.items()}
    assert [one.path for one in read(tmp_path).plugins()] == (
        [] if deciding is None else [paths[deciding]]
    )


@pytest.mark.parametrize("content", ["{", "[]", '{"enabledPlugins": ["rose@rose"]}', ""])
def test_a_file_that_says_nothing_leaves_it_to_the_wider_one(tmp_path, put, content):
    put("local", content)
    where = put("user", {"enabledPlugins": ON})
    assert [one.path for one in read(tmp_path).plugins()] == [where]


@pytest.mark.parametrize(
    ("content", "is_installed"),
    [
        ({"plugins": {"rose@rose": [{"scope": "user"}]}}, True),
        ({"plugins": {"rose@rose": []}}, False),
        ({"plugins": {}}, False),
        ({"version": 9}, True),
        ("no json", True),
        (None, False),
    ],
)
def test_a_plugin_that_the_client_does_not_have_is_told_apart(
    tmp_path, put, listed, content, is_installed
):
    put("user", {"enabledPlugins": ON})
    if content is None:
        os.unlink(tmp_path / "home" / ".claude" / "plugins" / "installed_plugins.json")
    else:
        listed(content)
    assert [one.is_installed for one in read(tmp_path).plugins()] == [is_installed]


def wired(tmp_path, **more):
    return wiring.wired(str(tmp_path / "re po"), environ(tmp_path, **more))


@pytest.mark.usefixtures("listed")
def test_a_project_that_only_the_plugin_wires_is_wired(tmp_path, put, path):
    where = put("committed", {"enabledPlugins": ON})
    (found,) = wired(tmp_path, PATH=path)
    assert (found.host, found.path, found.plugin) == ("claude-code", where, "rose@rose")
    assert (found.fault, found.missing) == ("", ())
    assert found.removal == "`claude plugin disable rose@rose`"


@pytest.mark.usefixtures("listed")
def test_the_plugin_needs_rose_on_path(tmp_path, put):
    put("user", {"enabledPlugins": ON})
    assert [one.fault for one in wired(tmp_path)] == ["`rose` is not on PATH"]


def test_a_plugin_that_came_with_a_clone_and_is_not_installed_is_a_fault(tmp_path, put, path):
    put("committed", {"enabledPlugins": ON})
    (found,) = wired(tmp_path, PATH=path)
    assert found.fault == "the plugin rose@rose is not installed on this machine"
    assert "claude plugin install rose@rose" in found.repair


@pytest.mark.usefixtures("listed")
@pytest.mark.parametrize(
    ("switches", "fault"),
    [
        ({"user": True}, "`disableAllHooks` is on"),
        ({"local": True}, "`disableAllHooks` is on"),
        ({"local": False, "user": True}, ""),
        ({"user": "yes"}, ""),
        ({}, ""),
    ],
)
def test_hooks_that_a_file_switches_off_are_off_in_every_file(tmp_path, put, path, switches, fault):
    put("committed", {"enabledPlugins": ON})
    for place, value in switches.items():
        put(place, {"disableAllHooks": value})
    assert [one.fault for one in wired(tmp_path, PATH=path)] == [fault]


def test_without_a_home_and_a_project_nothing_is_on():
    assert enabled.read(None, {}).plugins() == []
    assert wiring.wired(None, {}) == []


@pytest.mark.parametrize(
    ("cwd", "expected"), [("main", "main"), ("main/src", "main"), ("tree/src", "tree")]
)
def test_hosts_look_in_the_worktree_that_we_are_in(tmp_path, cwd, expected):
    for folder in ("main/src", "tree/src"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "tree" / ".git").write_text("gitdir: elsewhere")
    found = wiring.folder_of(str(tmp_path / "main"), str(tmp_path / cwd))
    assert found == str(tmp_path / expected)
