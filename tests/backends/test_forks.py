from __future__ import annotations

import json
from dataclasses import replace

import pytest

from rose.backends import registry
from rose.backends.base import BackendFailure
from tests.fakes import a_program, a_question, some_options

HOSTS = {"claude": "claude-code", "codex": "codex"}


def failure(name, environ, question):
    backend = registry.choose(name, question.subject.host, some_options(), environ)
    with pytest.raises(BackendFailure) as caught:
        backend.ask(question, 60)
    assert caught.value.kind == "unavailable"
    assert caught.value.usage.calls == 0
    return str(caught.value)


@pytest.fixture(params=sorted(HOSTS))
def name(request):
    return request.param


@pytest.mark.parametrize(
    "session",
    [
        "",
        "-p",
        "--dangerously-skip-permissions",
        "../x",
        "a b",
        "a\nb",
        "a\0b",
        "ä",
        "a" * 129,
        "a\n",
    ],
)
def test_an_id_that_is_none_is_never_put_on_a_command_line(tmp_path, name, session):
    environ = a_program(tmp_path, name, f"open({str(tmp_path / 'ran')!r}, 'w')")
    said = failure(name, environ, a_question(tmp_path, HOSTS[name], session=session))
    assert "no id of a session" in said
    assert said.isprintable()
    assert not (tmp_path / "ran").exists()


def test_a_session_of_another_program_is_not_forked(tmp_path, name):
    other = HOSTS["codex" if name == "claude" else "claude"]
    said = failure(name, a_program(tmp_path, name, ""), a_question(tmp_path, other))
    assert other in said
    assert "reflection.backend" in said


def test_a_program_that_is_not_there_is_named(tmp_path, name):
    said = failure(name, {"PATH": "/nowhere"}, a_question(tmp_path, HOSTS[name]))
    assert f"`{name}` is not on PATH" in said


def test_a_folder_that_is_gone_is_named(tmp_path, name):
    question = a_question(tmp_path, HOSTS[name], cwd="/nowhere/at/all")
    assert "/nowhere/at/all" in failure(name, a_program(tmp_path, name, ""), question)


KEEPING = """
import json, sys
sys.stdin.read()
json.dump(sys.argv[1:], open({!r}, "w"))
"""


def test_a_question_that_stands_alone_is_put_to_no_session(tmp_path, name):
    seen = tmp_path / "seen"
    environ = a_program(tmp_path, name, KEEPING.format(str(seen)))
    backend = registry.choose(name, "", some_options(), environ)
    question = replace(a_question(tmp_path, "", session=""), alone=True)
    with pytest.raises(BackendFailure, match="Ask again, or another model") as caught:
        backend.ask(question, 60)
    assert caught.value.kind == "no-answer"
    words = json.loads(seen.read_text())
    assert not {"--resume", "--fork-session", "fork"} & {*words}
    if name == "claude":
        assert words[words.index("--tools") + 1] == ""
        assert "--no-session-persistence" in words
    else:
        assert words[-2:] == [words[words.index("-o") + 1], "-"]
        assert "--ephemeral" in words


def test_a_fork_needs_no_digest_and_says_what_hinders_it(tmp_path, name):
    environ = a_program(tmp_path, name, "")
    backend = registry.choose(name, "", some_options(), environ)
    assert backend.forks
    assert backend.hindrance() == ""
    nested = registry.choose(name, "", some_options(), {**environ, "ROSE_CHILD": "1"})
    assert "ROSE_CHILD" in nested.hindrance()
