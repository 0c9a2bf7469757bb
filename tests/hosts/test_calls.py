"""What a tool call names, and the pairing of calls with their results."""

from __future__ import annotations

import pytest

from rose.hosts import calls
from rose.hosts.base import RESULT_CHARS, Call


def a_call(order=0, name="Bash", **fields):
    """Return a call that waits for its result."""
    return Call(1, order, name, {}, **fields)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["bash", "-lc", "rg x | head"], "rg x | head"),
        (["/bin/zsh", "-c", "ls"], "ls"),
        (["bash", "-lc", "ls", "name"], "ls"),
        (["bash", "script.sh", "-c"], "bash script.sh -c"),
        (["bash", "--norc", "x"], "bash --norc x"),
        (["grep", "-c", "a b", "f"], "grep -c 'a b' f"),
        (["ls"], "ls"),
        ([], ""),
    ],
)
def test_an_argument_vector_is_read_as_shell_text(words, text):
    assert calls.script(words) == text


@pytest.mark.parametrize(
    ("tool_input", "command"),
    [
        ({"command": "ls"}, "ls"),
        ({"cmd": "ls"}, "ls"),
        ({"command": ["bash", "-lc", "ls"]}, "ls"),
        ({"command": ["ls", 3]}, "ls"),
        ({"command": 3}, None),
        ({}, None),
    ],
)
def test_a_shell_tools_command_is_found(tool_input, command):
    assert calls.command_of(tool_input) == command


@pytest.mark.parametrize(
    ("tool_input", "paths"),
    [
        ({"file_path": "/a.md"}, ("/a.md",)),
        ({"path": "nodes", "pattern": "x"}, ("nodes",)),
        ({"notebook_path": "/a.ipynb"}, ("/a.ipynb",)),
        ({"filePath": "/a", "file_path": "/a"}, ("/a",)),
        ({"paths": ["/a", "/b", 3]}, ("/a", "/b")),
        ({"path": " "}, ()),
        ({"path": {"x": 1}}, ()),
        ({"file": "def f():\n    pass"}, ()),
        ({"command": "cat /a"}, ()),
    ],
)
def test_paths_come_from_structured_inputs_alone(tool_input, paths):
    assert calls.paths_of(tool_input) == paths


def test_a_patch_names_its_files_in_its_headers():
    patch = (
        "apply_patch <<'X'\n*** Begin Patch\n*** Update File: a.py\n*** Move to: b.py\n"
        "+*** Add File: no.py\n*** Add File: c.py\n+x\n*** Delete File: d.py\n*** End Patch\nX"
    )

    assert calls.patch_paths(patch) == ("a.py", "b.py", "c.py", "d.py")
    assert calls.patch_paths("*** Update File: a.py") == ()


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("words", "words"),
        ([{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}], "a\nb"),
        ([3, None, "x", {"text": 4}], ""),
        (None, ""),
        ({"text": "a"}, ""),
    ],
)
def test_the_text_of_a_content_is_its_text_blocks(content, text):
    assert calls.text_of(content) == text


def test_an_input_is_cut_in_all_its_depths():
    deep = {"x": "leaf"}
    for _ in range(2000):
        deep = {"x": deep}

    kept = calls.bounded({"a": "x" * 400_000, "b": [1, {"c": "y"}]})

    assert sum(len(part) for part in map(str, kept.values())) <= RESULT_CHARS
    assert calls.bounded({"b": [1, {"c": "y"}], "d": None}) == {"b": [1, {"c": "y"}], "d": None}
    assert len(str(calls.bounded(deep))) < 500
    assert calls.bounded("text") == {"value": "text"}
    assert calls.bounded(None) == {}


def test_calls_are_answered_by_id_in_any_order():
    pairing = calls.Pairing()
    assert list(pairing.wait("a", a_call(0))) == []
    assert list(pairing.wait("b", a_call(1))) == []

    second = list(pairing.answer("b", a_call(), "out b", failed=True))
    first = list(pairing.answer("a", a_call(), "out a", failed=False))

    assert second == [a_call(1, result="out b", failed=True, answered=1)]
    assert first == [a_call(0, result="out a", answered=2)]
    assert list(pairing.rest()) == []


def test_unanswered_calls_come_last_in_order():
    pairing = calls.Pairing()
    waited = [*pairing.wait("b", a_call(1)), *pairing.wait("a", a_call(0))]

    assert waited == []
    assert [call.order for call in pairing.rest()] == [0, 1]
    assert list(pairing.rest()) == []


def test_a_result_without_its_call_is_given_with_no_name():
    pairing = calls.Pairing()
    pairing.number()

    found = list(pairing.answer("x", a_call(name=""), "out", failed=False))

    assert found == [a_call(1, name="", result="out", answered=1)]


def test_a_call_knows_how_many_results_were_in_when_it_was_made():
    pairing = calls.Pairing()
    for call_id in ("a", "b"):
        list(pairing.wait(call_id, a_call(pairing.number())))
    [first] = pairing.answer("a", a_call(), "out", failed=False)
    list(pairing.wait("c", a_call(pairing.number())))
    [beside] = pairing.answer("b", a_call(), "out", failed=False)
    [after] = pairing.answer("c", a_call(), "out", failed=False)

    assert (first.known, first.answered) == (0, 1)
    assert beside.known < first.answered
    assert after.known >= first.answered


def test_a_second_result_is_a_copy():
    pairing = calls.Pairing()
    list(pairing.wait("a", a_call()))
    list(pairing.answer("a", a_call(), "out", failed=False))

    assert list(pairing.answer("a", a_call(), "out", failed=False)) == []


def test_a_call_id_that_is_used_again_gives_up_the_first_call():
    pairing = calls.Pairing()
    list(pairing.wait("a", a_call(0)))

    assert list(pairing.wait("a", a_call(1))) == [a_call(0)]


def test_a_host_that_answers_nothing_does_not_fill_the_memory():
    pairing = calls.Pairing()
    given = [call for n in range(1000) for call in pairing.wait(f"id{n}", a_call(n))]
    rest = list(pairing.rest())

    assert [call.order for call in [*given, *rest]] == list(range(1000))
    assert len(rest) < 300


def test_a_failure_noted_before_the_result_counts():
    pairing = calls.Pairing()
    list(pairing.wait("a", a_call()))
    pairing.mark_failed("a")
    pairing.mark_failed("unknown")

    assert [c.failed for c in pairing.answer("a", a_call(), "out", failed=False)] == [True]


def test_a_result_is_cut():
    found = list(calls.Pairing().answer("x", a_call(), "x" * (RESULT_CHARS + 1), failed=False))

    assert len(found[0].result) == RESULT_CHARS


@pytest.mark.parametrize(
    "command",
    [
        "curl https://a.example/x",
        "cd /x && curl -s a.example | head",
        "cat notes.md; wget -qO- https://a.example",
        "PAGE=$(curl a.example)",
        "bash -lc 'curl a.example'",
        "TOKEN=x http GET a.example",
        "sudo -E curl a.example",
        "timeout 30 curl a.example",
        "if true; then /usr/bin/curl a.example; fi",
        "gh issue view 4",
        "lynx -dump a.example",
        "echo x | xargs curl",
        "git clone https://a.example/x.git",
        "git -C /x ls-remote origin",
        "iwr https://a.example",
        "curl -x localhost:8080 https://a.example",
        "curl localhost:1; curl a.example",
    ],
)
def test_a_command_that_fetches_from_outside_is_known_by_its_head(command):
    assert calls.fetches(command)


@pytest.mark.parametrize(
    "command",
    [
        "",
        "pytest -q",
        "grep -rn curl src/",
        "cat docs/curl.md",
        "pip install curl-cffi",
        "git clone-x",
        "git status && git log",
        "curl http://localhost:8000/health",
        "curl -s 127.0.0.1:8000 | jq .",
        "man wget",
        "./gh-pages.sh",
    ],
)
def test_a_command_that_only_names_such_a_program_is_not_taken_for_one(command):
    assert not calls.fetches(command)
