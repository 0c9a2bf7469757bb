from __future__ import annotations

import json

import pytest

from rose.backends import base
from rose.backends.base import BackendFailure, Usage
from tests.fakes import ANSWER, a_question

COST = Usage(1, 10, 2, 0.5)


def read(tmp_path, text):
    return base.read(text, a_question(tmp_path), name="it", usage=COST, model="m")


def kind_of(tmp_path, text):
    with pytest.raises(BackendFailure) as caught:
        read(tmp_path, text)
    assert caught.value.usage == COST
    return caught.value.kind


def test_costs_add_up():
    assert Usage(1, 10, 2, 0.5) + Usage(2, 1, 1, 1.5) == Usage(3, 11, 3, 2.0)


@pytest.mark.parametrize(
    "text",
    [
        '{"rules":["read nodes/testing/"]}',
        '\n {"rules": ["read nodes/testing/"]}\n',
        '```json\n{"rules": ["read nodes/testing/"]}\n```',
    ],
)
def test_an_answer_in_json_is_read(tmp_path, text):
    answer = read(tmp_path, text)
    assert (answer.value, answer.usage, answer.model) == (ANSWER, COST, "m")


@pytest.mark.parametrize(
    "value",
    [{"rules": [3, {}]}, {"rules": [], "more": 1}, {"used": []}, {"rules": 3, "used": []}],
)
def test_an_answer_with_a_part_that_was_asked_for_is_left_to_its_reader(tmp_path, value):
    assert read(tmp_path, json.dumps(value)).value == value


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", "no-answer"),
        (" \n", "no-answer"),
        ("I read nodes/testing/.", "plain-text"),
        ('Sure! {"rules": []}', "plain-text"),
        ('{"rules": ["cut', "plain-text"),
        ("[" * 5000, "plain-text"),
        ("[]", "schema"),
        ("null", "schema"),
        ("{}", "schema"),
        ('{"rules": null}', "schema"),
        ('{"rules": {}, "more": 1}', "schema"),
    ],
)
def test_what_is_no_answer_is_one_kind_of_failure(tmp_path, text, kind):
    assert kind_of(tmp_path, text) == kind


def test_a_failure_names_the_session_to_ask_again(tmp_path):
    with pytest.raises(BackendFailure, match="rose reflect --session 0b6c1d2e-"):
        read(tmp_path, "words")


def test_what_a_model_said_is_shown_on_one_line_short_and_without_secrets(tmp_path):
    said = "the key is sk-ant-api03-" + "A1b2C3d4" * 12 + "\n\x1b[2Jand " + "more " * 100
    with pytest.raises(BackendFailure) as caught:
        read(tmp_path, said)
    shown = str(caught.value)
    assert "A1b2C3d4" not in shown
    assert shown.isprintable()
    assert len(shown) < 300


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[]", "it is no object"),
        ("{}", "it has none of the parts used, rules, operations, lessons"),
        ('{"rules": "read", "used": null}', "it has none of the parts used, rules"),
        (f'{{"rules": {"[" * 99}{"]" * 99}}}', "it is nested more than 50 deep"),
    ],
)
def test_a_value_that_is_no_answer_at_all_says_what_it_lacks(tmp_path, text, fault):
    with pytest.raises(BackendFailure, match=fault):
        read(tmp_path, text)


@pytest.mark.parametrize(
    ("told", "counted"), [(3, 3), (0, 0), (-1, 0), (True, 0), ("3", 0), (2.0, 0), (10**13, 0)]
)
def test_only_a_count_is_counted(told, counted):
    assert base.count(told) == counted


@pytest.mark.parametrize("part", [5, 20, 35])
def test_what_is_quoted_of_a_program_is_no_half_of_a_secret(part):
    said = base.quoted("so" + " " * (20 * base.QUOTED_CHARS - 2 - part) + "ghp_" + "a1B2" * 10)
    assert '"so [redacted:github-token]'.startswith(said.removesuffix('".'))
