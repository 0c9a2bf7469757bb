from __future__ import annotations

import pytest

from rose.errors import UsageError
from rose.selection import judge_choice
from rose.selection.judge import JudgeFailure
from tests.fakes import a_program, some_options

BARE = {"PATH": "/nowhere"}


def chosen(name, environ, **values):
    options = some_options(**values)
    return judge_choice.model(name, options, environ, cwd="/", purse=None).name


def test_the_program_of_a_host_judges_where_nobody_is_named(tmp_path):
    assert chosen("auto", a_program(tmp_path, "codex", "")) == "codex"
    assert chosen("auto", a_program(tmp_path, "claude", "")) == "claude"


def test_an_endpoint_judges_where_no_program_is_there():
    pytest.importorskip("openai", reason="the package openai is not installed")
    environ = {**BARE, "OPENAI_API_KEY": "k"}
    assert chosen("auto", environ, openai_model="m") == "openai"


@pytest.mark.parametrize("name", ["auto", "offline"])
def test_without_a_model_there_is_no_judge_and_none_stands_in(name):
    with pytest.raises(JudgeFailure, match="No judge") as caught:
        chosen(name, BARE)
    assert "--judge-cmd" in str(caught.value)


def test_a_program_of_the_persons_own_is_taken_where_it_is_named_alone(tmp_path):
    environ = a_program(tmp_path, "mine", "")
    assert chosen("command", environ, reflection_command="mine") == "command"
    with pytest.raises(JudgeFailure):
        chosen("auto", environ, reflection_command="mine")


def test_a_model_that_was_named_is_there_to_say_why_it_cannot_run():
    assert chosen("claude", BARE) == "claude"


def test_a_name_that_no_judge_has_is_refused():
    with pytest.raises(UsageError, match="local, auto, claude, codex, openai or command"):
        judge_choice.check("offline")
    judge_choice.check("local")
