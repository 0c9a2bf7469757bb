"""The openai backend against a real local server with a real small model (tests/local_model.py)."""

from __future__ import annotations

import pytest

from rose.backends.base import Answer, BackendFailure, Question
from rose.backends.openai import OpenAI
from tests.fakes import a_question, some_options
from tests.local_model import serving_model

pytestmark = pytest.mark.model

ANSWER_S = 300
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
    with serving_model(tmp_path_factory.mktemp("model"), 4096) as address:
        yield address


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
