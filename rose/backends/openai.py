"""Asks an OpenAI-compatible endpoint, hosted or local: the only door to the `openai` package.

Servers differ in which form of an answer they can be held to, so the forms are tried from the
strictest on, each once, where the one before was refused as a bad request.
"""

from __future__ import annotations

import importlib.util
import os
import threading
import time
from concurrent import futures
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rose import files
from rose.backends import base, process
from rose.backends.base import BackendFailure, Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from rose.backends.base import Answer, Question
    from rose.backends.options import Options

HOSTED = "https://api.openai.com/v1"
# What a server gets that asks for no key; the package insists on one.
NO_KEY = "none"
REFUSED = (400, 422)
FAULTY = 500
PROMPT = os.path.join(os.path.dirname(__file__), "openai.md")


def _package() -> Any:
    """Return the package; raises ImportError where it is not installed."""
    import openai

    return openai


@dataclass(frozen=True, slots=True)
class _Said:
    """What a server said: an HTTP status with its text, or one of the two below."""

    status: int
    text: str = ""


OVERDUE = -1
UNREACHED = 0


class OpenAI:
    """The backend `openai`."""

    name = "openai"
    forks = False

    def __init__(self, options: Options, environ: Mapping[str, str]) -> None:
        self._options = options
        self._environ = environ

    def hindrance(self) -> str:
        settings, key = self._options.settings, self._key()
        if not settings.openai_model:
            return self._options.why_withheld("openai.") or "`openai.model` is not set."
        if reason := process.nested(self._environ):
            return reason
        if importlib.util.find_spec("openai") is None:
            return "The package openai is not installed. Install rose with its extra `openai`."
        if not (key or settings.openai_base_url):
            return f"${settings.openai_key_env} holds no key, and `openai.base_url` is not set."
        if not (key.isascii() and key.isprintable()):
            return f"${settings.openai_key_env} holds what cannot be a key. Set it anew."
        return ""

    def ask(self, question: Question, timeout_s: float) -> Answer:
        if reason := self.hindrance():
            raise BackendFailure("unavailable", reason)
        began, calls = time.monotonic(), 0
        said = _Said(OVERDUE)
        for form in _forms(question):
            left_s = began + timeout_s - time.monotonic()
            said = self._say(question, form, left_s) if left_s > 0 else _Said(OVERDUE)
            calls += said.status != UNREACHED
            if not _refuses_form(said):
                break
        usage = Usage(calls, seconds=time.monotonic() - began)
        return self._answer(said, question, usage, timeout_s)

    def _key(self) -> str:
        return self._environ.get(self._options.settings.openai_key_env, "").strip()

    def _address(self) -> str:
        return self._options.settings.openai_base_url or HOSTED

    def _say(self, question: Question, form: Mapping[str, Any], timeout_s: float) -> _Said:
        """Make one request, given up at the deadline whatever the server does meanwhile."""
        package = _package()
        body = {"model": self._options.settings.openai_model, **form}
        client = package.OpenAI(
            base_url=self._address(),
            api_key=self._key() or NO_KEY,
            timeout=timeout_s,
            max_retries=0,
            # A digest goes where the settings say, and nowhere on from there.
            http_client=package.DefaultHttpxClient(follow_redirects=False),
        )

        def request() -> _Said:
            try:
                made = client.chat.completions.with_raw_response.create(
                    messages=_messages(question), **body
                )
            except package.APITimeoutError:
                return _Said(OVERDUE)
            except package.APIStatusError as error:
                return _Said(error.status_code, error.message)
            except package.OpenAIError as error:
                return _Said(UNREACHED, str(error.__cause__ or error))
            return _Said(made.status_code, made.text)

        with client:
            return _within(timeout_s, request)

    def _answer(self, said: _Said, question: Question, usage: Usage, timeout_s: float) -> Answer:
        key = self._key()
        words = base.quoted(said.text.replace(key, "[key]") if key else said.text)
        if said.status == OVERDUE:
            message = f"{self._address()} gave no answer in {timeout_s:.3g} s."
            raise BackendFailure("timeout", message, usage)
        if said.status == UNREACHED:
            message = f"{self._address()} cannot be reached: {words} Is the server running?"
            raise BackendFailure("unavailable", message, usage)
        if said.status not in range(200, 300):
            message = f"{self._address()} refused with status {said.status}: {words}"
            raise BackendFailure("exit", f"{message} See `openai.` in `rose config`.", usage)
        return _completion(said.text, question, usage)


def _within(timeout_s: float, request: Callable[[], _Said]) -> _Said:
    """Return what a request gives, or that it is overdue.

    The package's own timeout starts anew with every byte, and some servers send blanks while
    they are busy; so the request runs in a thread, which ends when its client is closed.
    """
    made: futures.Future[_Said] = futures.Future()

    def work() -> None:
        try:
            made.set_result(request())
        except Exception as error:  # noqa: BLE001 - it is raised again where it is waited for
            made.set_exception(error)

    threading.Thread(target=work, daemon=True).start()
    try:
        return made.result(timeout_s)
    except futures.TimeoutError:
        return _Said(OVERDUE)


def _refuses_form(said: _Said) -> bool:
    # llama-cpp-python's server has an error of its own where it does not know the form.
    return said.status in REFUSED or (said.status >= FAULTY and "response_format" in said.text)


def _forms(question: Question) -> Iterator[Mapping[str, Any]]:
    """Yield the ways to ask for JSON, the strictest first."""
    named = {"name": "answer", "schema": dict(question.schema), "strict": True}
    yield {"response_format": {"type": "json_schema", "json_schema": named}}
    # Not OpenAI's: llama.cpp and its relatives take the schema here.
    yield {"response_format": {"type": "json_object", "schema": dict(question.schema)}}
    yield {}


def _messages(question: Question) -> list[dict[str, str]]:
    system = f"{files.read_text(PROMPT)}\n{files.dump_json(question.schema)}\n"
    return [{"role": "system", "content": system}, {"role": "user", "content": question.text}]


def _completion(text: str, question: Question, usage: Usage) -> Answer:
    """Return the answer in a completion; raises BackendFailure."""
    try:
        body = files.parse_json(text)
    except ValueError:
        # Such as the page of a web server that is no model's.
        return base.read(text, question, name=OpenAI.name, usage=usage, model="")
    told = body if isinstance(body, dict) else {}
    spent = told.get("usage")
    if isinstance(spent, dict):
        read, written = (base.count(spent.get(f"{of}_tokens")) for of in ("prompt", "completion"))
        usage += Usage(0, read, written)
    choices = told.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(choice, dict) and choice.get("finish_reason") == "length":
        message = "The model's answer was cut at its limit of tokens. Ask one that may write more."
        raise BackendFailure("no-answer", message, usage)
    said = content if isinstance(content, str) else ""
    model = told.get("model")
    named = model if isinstance(model, str) else ""
    return base.read(said, question, name=OpenAI.name, usage=usage, model=named)
