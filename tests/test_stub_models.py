"""The model that the end-to-end tests script: its turns, and the two interfaces it speaks."""

from __future__ import annotations

import contextlib
import http.client
import json

import pytest

from tests.stub_models import DEFAULT_TEXT, SIDE_TEXT, Script, serving

TOOLS = {"tools": [{"name": "Bash"}]}


def said(text):
    return {"model": "m", "messages": [{"role": "user", "content": text}], **TOOLS}


def ask(stub, path, body):
    connection = http.client.HTTPConnection(stub.url.removeprefix("http://"), timeout=10)
    with contextlib.closing(connection):
        connection.request("POST", path, json.dumps(body))
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


def events(text):
    return [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: ")]


def test_turns_are_used_in_order_and_then_the_default():
    script = Script(["one", "two"])
    texts = [script.take(said("x"), is_main=True)["text"] for _ in range(3)]
    assert texts == ["one", "two", DEFAULT_TEXT]


def test_a_turn_whose_pattern_is_not_met_is_passed_over_and_kept():
    script = Script([{"when": "sub", "text": "child"}, "parent"])
    texts = [script.take(said(text), is_main=True)["text"] for text in ("top", "a sub task")]
    assert texts == ["parent", "child"]


def test_a_request_without_tools_uses_up_no_turn_of_the_others():
    script = Script(["main", {"side": True, "text": "title"}])
    taken = [script.take(said("x"), is_main=is_main)["text"] for is_main in (False, False, True)]
    assert taken == ["title", SIDE_TEXT, "main"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/messages", said("hello")),
        ("/v1/responses", {"model": "m", "input": [{"role": "user", "content": "hello"}], **TOOLS}),
    ],
)
def test_a_streamed_reply_ends_in_the_reply_that_is_not_streamed(path, body):
    turn = {"text": "I look.", "tool": "Bash", "input": {"command": "ls"}}
    with serving([turn, turn]) as stub:
        whole = json.loads(ask(stub, path, body)[1])
        parts = events(ask(stub, path, {**body, "stream": True})[1])
        assert [seen["model"] for seen in stub.main_bodies] == ["m", "m"]
    assert "I look." in json.dumps(whole)
    assert any("I look." in json.dumps(part) for part in parts)
    assert any("ls" in json.dumps(part) for part in parts)
    assert parts[-1]["type"] in ("message_stop", "response.completed")


def test_a_path_that_no_model_has_is_refused():
    with serving() as stub:
        assert ask(stub, "/v1/files", {})[0] == 404
