"""The openai backend against a server on loopback that speaks Chat Completions."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from rose.backends.base import BackendFailure
from rose.backends.openai import OpenAI
from tests.fakes import ANSWER, SCHEMA, a_question, some_options

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KEY = "sk-test-0123456789abcdef"


def completion(content, **fields):
    choice = {"message": {"role": "assistant", "content": content}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 120, "completion_tokens": 9, "total_tokens": 129}
    return {"model": "small-1", "choices": [{**choice, **fields}], "usage": usage}


class Server(ThreadingHTTPServer):
    """Answers by a script: (status, body) pairs, the last one again and again."""

    daemon_threads = True

    def __init__(self, replies) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.replies = list(replies)
        self.seen = []
        self.over = threading.Event()
        self.url = f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.seen.append((self.path, self.headers.get("authorization"), body))
        replies = self.server.replies
        status, made = replies.pop(0) if len(replies) > 1 else replies[0]
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            if status == "dribble":
                self._dribble()
            else:
                self._send(status, made)

    def _send(self, status, made):
        raw = made if isinstance(made, bytes) else json.dumps(made).encode()
        self.send_response(status)
        if status == 302:
            self.send_header("location", f"{self.server.url}/elsewhere")
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def _dribble(self):
        """Send a blank now and then, as servers do that keep a waiting client's connection."""
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.end_headers()
        while not self.server.over.wait(0.05):
            self.wfile.write(b" \n")
            self.wfile.flush()


@contextlib.contextmanager
def serving(*replies: tuple):
    server = Server(replies)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield server
    finally:
        server.over.set()
        server.shutdown()
        server.server_close()


@pytest.fixture(autouse=True)
def _package():
    pytest.importorskip("openai", reason="the package openai is not installed")


def backend(url, key=KEY, **values: str):
    options = some_options(openai_base_url=url, openai_model="small", **values)
    return OpenAI(options, {"OPENAI_API_KEY": key} if key else {})


def ask(tmp_path, url, timeout_s=60, key=KEY):
    return backend(url, key).ask(a_question(tmp_path), timeout_s)


def failure(tmp_path, *replies: tuple, timeout_s=60):
    with serving(*replies) as server, pytest.raises(BackendFailure) as caught:
        ask(tmp_path, server.url, timeout_s)
    return caught.value


GOOD = (200, completion(json.dumps(ANSWER)))


def test_the_question_goes_to_the_address_with_the_model_the_key_and_the_strict_schema(tmp_path):
    with serving(GOOD) as server:
        answer = ask(tmp_path, server.url)
    ((path, authorization, body),) = server.seen
    assert (path, authorization) == ("/v1/chat/completions", f"Bearer {KEY}")
    assert body["model"] == "small"
    assert body["messages"][1] == {"role": "user", "content": "Which lesson was used?"}
    assert (
        json.dumps(SCHEMA, separators=(",", ":"), sort_keys=True) in body["messages"][0]["content"]
    )
    assert body["response_format"]["json_schema"]["schema"] == SCHEMA
    assert (answer.value, answer.model) == (ANSWER, "small-1")
    assert (answer.usage.calls, answer.usage.input_tokens, answer.usage.output_tokens) == (
        1,
        120,
        9,
    )


def test_a_server_that_asks_for_no_key_is_given_none_of_this_person_s(tmp_path):
    with serving(GOOD) as server:
        ask(tmp_path, server.url, key="")
    assert server.seen[0][1] == "Bearer none"


@pytest.mark.parametrize("status", [400, 422, 500])
@pytest.mark.parametrize("refusals", [1, 2])
def test_a_server_that_cannot_be_held_to_the_schema_is_asked_in_a_plainer_form(
    tmp_path, status, refusals
):
    fenced = (200, completion(f"```json\n{json.dumps(ANSWER)}\n```"))
    refusal = {"error": {"message": "('body', 'response_format', 'type'): unknown"}}
    with serving(*[(status, refusal)] * refusals, fenced) as server:
        answer = ask(tmp_path, server.url)
    forms = [body.get("response_format", {}).get("type") for _, _, body in server.seen]
    assert forms == ["json_schema", "json_object", None][: refusals + 1]
    assert (answer.value, answer.usage.calls) == (ANSWER, refusals + 1)


def test_an_object_is_asked_for_by_its_schema_where_the_server_knows_that(tmp_path):
    with serving((400, {}), GOOD) as server:
        ask(tmp_path, server.url)
    assert server.seen[1][2]["response_format"] == {"type": "json_object", "schema": SCHEMA}


def test_a_server_that_refuses_every_form_is_asked_three_times_and_quoted(tmp_path):
    failed = failure(tmp_path, (400, {"error": {"message": "context too long"}}))
    assert (failed.kind, failed.usage.calls) == ("exit", 3)
    assert "context too long" in str(failed)


@pytest.mark.parametrize(
    ("reply", "kind", "said"),
    [
        ((401, {"error": {"message": f"wrong key {KEY}"}}), "exit", "wrong key"),
        ((404, {"error": {"message": "no such model"}}), "exit", "no such model"),
        ((429, {"error": {"message": "slow down"}}), "exit", "status 429"),
        ((500, b"<html>"), "exit", "status 500"),
        ((302, {}), "exit", "status 302"),
        ((200, b""), "no-answer", "without an answer"),
        ((200, b"<html>hello</html>"), "plain-text", "hello"),
        ((200, []), "no-answer", "without an answer"),
        ((200, {"choices": []}), "no-answer", "without an answer"),
        ((200, {"choices": ["x"]}), "no-answer", "without an answer"),
        ((200, completion(None)), "no-answer", "without an answer"),
        ((200, completion([{"type": "text"}])), "no-answer", "without an answer"),
        ((200, completion('{"rules": ["c', finish_reason="length")), "no-answer", "cut at"),
        ((200, completion("I used it.")), "plain-text", "I used it."),
        ((200, completion("{}")), "schema", "none of the parts"),
    ],
)
def test_each_way_to_fail_has_its_kind_and_its_reason(tmp_path, reply, kind, said):
    failed = failure(tmp_path, reply)
    assert (failed.kind, failed.usage.calls) == (kind, 1)
    assert said in str(failed)
    assert KEY not in str(failed)


def test_a_wrong_form_has_cost_tokens_all_the_same(tmp_path):
    assert failure(tmp_path, (200, completion("{}"))).usage.input_tokens == 120


@pytest.mark.parametrize("usage", [None, [], {"prompt_tokens": "many"}])
def test_tokens_that_are_not_told_are_none(tmp_path, usage):
    with serving((200, {**completion(json.dumps(ANSWER)), "usage": usage})) as server:
        cost = ask(tmp_path, server.url).usage
    assert (cost.calls, cost.input_tokens, cost.output_tokens) == (1, 0, 0)


def test_an_answer_that_never_comes_is_given_up(tmp_path):
    with serving(("dribble", None)) as server, pytest.raises(BackendFailure) as caught:
        ask(tmp_path, server.url, timeout_s=1)
    assert (caught.value.kind, caught.value.usage.calls) == ("timeout", 1)
    assert "gave no answer in 1 s." in str(caught.value)


def test_a_server_that_says_nothing_at_all_is_given_up(tmp_path):
    with serving(GOOD) as server:
        server.shutdown()
        with pytest.raises(BackendFailure) as caught:
            ask(tmp_path, server.url, timeout_s=1)
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    assert caught.value.kind == "timeout"


def test_a_server_that_is_not_there_has_cost_no_call(tmp_path):
    with pytest.raises(BackendFailure, match="cannot be reached") as caught:
        ask(tmp_path, "http://127.0.0.1:9/v1")
    assert (caught.value.kind, caught.value.usage.calls) == ("unavailable", 0)


def test_a_redirect_is_not_followed(tmp_path):
    with serving((302, {}), GOOD) as server, pytest.raises(BackendFailure):
        ask(tmp_path, server.url)
    assert [path for path, _, _ in server.seen] == ["/v1/chat/completions"]


@pytest.mark.parametrize(
    ("url", "key", "said"),
    [
        ("", "", "$OPENAI_API_KEY holds no key"),
        ("", "ключ", "cannot be a key"),
        ("", "a\nb", "cannot be"),
    ],
)
def test_without_an_address_a_key_is_needed_that_can_be_sent(tmp_path, url, key, said):
    asked = backend(url, key)
    assert said in asked.hindrance()
    assert not asked.forks
    with pytest.raises(BackendFailure, match="key") as caught:
        asked.ask(a_question(tmp_path), 60)
    assert (caught.value.kind, caught.value.usage.calls) == ("unavailable", 0)


def test_the_variable_of_the_key_may_be_named():
    options = some_options(openai_model="small", openai_key_env="MINE")
    assert OpenAI(options, {"MINE": "abc"}).hindrance() == ""
    assert "$MINE" in OpenAI(options, {"OPENAI_API_KEY": "abc"}).hindrance()


def test_nobody_is_asked_inside_of_a_reflection(tmp_path):
    options = some_options(openai_model="small", openai_base_url="http://127.0.0.1:9")
    asked = OpenAI(options, {"ROSE_CHILD": "1"})
    with pytest.raises(BackendFailure, match="ROSE_CHILD"):
        asked.ask(a_question(tmp_path), 60)


IMPORTS = """
import sys
sys.path.insert(0, {root!r})
from rose.backends import registry
from rose.backends.options import Options
from rose.config import Settings
"""


def printed(script, *flags: str):
    words = [sys.executable, *flags, "-c", IMPORTS.format(root=ROOT) + script]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def test_the_package_is_loaded_only_when_somebody_is_asked():
    script = (
        "registry.survey(Options(Settings(openai_model='m')), {})\nprint('openai' in sys.modules)"
    )
    assert printed(script) == "False\n"


def test_the_package_is_named_where_it_is_not_installed():
    script = "print(dict(registry.survey(Options(Settings(openai_model='m')), {}))['openai'])"
    assert "with its extra `openai`" in printed(script, "-IS")
