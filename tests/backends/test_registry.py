from __future__ import annotations

import pytest

from rose.backends import registry
from rose.config import KEYS
from rose.errors import UsageError
from tests.fakes import a_program, some_options


def chosen(name, host, options, environ):
    backend = registry.choose(name, host, options, environ)
    return None if backend is None else backend.name


def configured(**values: str):
    pytest.importorskip("openai", reason="the package openai is not installed")
    return some_options(openai_model="m", openai_base_url="http://127.0.0.1:1/v1", **values)


@pytest.mark.parametrize(("host", "name"), [("claude-code", "claude"), ("codex", "codex")])
def test_auto_is_the_session_s_own_program(tmp_path, host, name):
    environ = a_program(tmp_path, "claude", "")
    a_program(tmp_path, "codex", "")
    assert chosen("auto", host, some_options(), environ) == name


def test_auto_is_never_the_program_of_another_host(tmp_path):
    environ = a_program(tmp_path, "claude", "")
    assert chosen("auto", "codex", some_options(), environ) is None


@pytest.mark.parametrize("host", ["codex", "gemini", ""])
def test_auto_is_openai_where_the_host_s_program_is_not_there_and_it_is_set_up(host):
    assert chosen("auto", host, configured(), {"PATH": "/nowhere"}) == "openai"


def test_auto_is_nobody_where_nothing_is_set_up_or_this_runs_in_a_reflection(tmp_path):
    environ = {**a_program(tmp_path, "claude", ""), "ROSE_CHILD": "1"}
    assert chosen("auto", "claude-code", configured(), environ) is None
    assert chosen("auto", "claude-code", some_options(), {"PATH": "/nowhere"}) is None


def test_auto_is_never_a_command():
    options = some_options(reflection_command="/bin/cat")
    assert chosen("auto", "codex", options, {"PATH": "/bin"}) is None


def test_offline_asks_nobody(tmp_path):
    environ = a_program(tmp_path, "claude", "")
    assert chosen("offline", "claude-code", configured(), environ) is None


@pytest.mark.parametrize("name", ["claude", "codex", "openai", "command"])
def test_a_backend_that_was_named_is_given_even_where_it_cannot_run(name):
    backend = registry.choose(name, "", some_options(), {"PATH": "/nowhere"})
    assert backend.name == name
    assert backend.hindrance()


def test_a_name_that_is_none_is_refused():
    with pytest.raises(UsageError, match="auto, offline, claude"):
        registry.choose("gpt", "codex", some_options(), {})


def test_the_survey_says_of_each_why_it_cannot_run(tmp_path):
    environ = a_program(tmp_path, "codex", "")
    found = dict(registry.survey(some_options(reflection_command="codex"), environ))
    assert (found["codex"], found["command"], found["offline"]) == ("", "", "")
    assert "not on PATH" in found["claude"]
    assert "`openai.model` is not set" in found["openai"]
    assert {"auto", *found} == set(registry.NAMES)


def test_the_setting_takes_every_name():
    assert [KEYS["reflection.backend"].read(name) for name in registry.NAMES] == [*registry.NAMES]
