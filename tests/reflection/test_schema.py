"""The shape of the answer."""

from __future__ import annotations

import json

import pytest

from rose.reflection import schema

# What OpenAI's strict mode, Azure's or a grammar of llama.cpp refuses in a schema.
REFUSED = {
    *("minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum", "pattern"),
    *("format", "default", "$ref", "oneOf", "allOf", "not", "uniqueItems", "patternProperties"),
}


def parts(one):
    """Yield a schema and every schema inside it."""
    yield one
    for inner in one.get("properties", {}).values():
        yield from parts(inner)
    if "items" in one:
        yield from parts(one["items"])


SENT = list(parts(schema.SCHEMA))


def test_the_schema_is_json():
    assert json.loads(json.dumps(schema.SCHEMA)) == schema.SCHEMA


@pytest.mark.parametrize("one", SENT)
def test_the_schema_holds_nothing_that_a_server_refuses(one):
    assert not REFUSED & set(one)
    assert isinstance(one["type"], str)


@pytest.mark.parametrize("one", [one for one in SENT if one["type"] == "object"])
def test_every_object_is_closed_and_asks_for_all_of_its_fields(one):
    assert one["additionalProperties"] is False
    assert one["required"] == list(one["properties"])


def test_every_text_and_list_that_is_read_is_bounded():
    read = list(parts(schema.BOUNDED))
    assert all("maxItems" in one for one in read if one["type"] == "array")
    assert all("maxLength" in one or "enum" in one for one in read if one["type"] == "string")


def test_what_is_sent_has_the_same_fields_as_what_is_read():
    assert [sorted(one.get("properties", ())) for one in SENT] == [
        sorted(one.get("properties", ())) for one in parts(schema.BOUNDED)
    ]


@pytest.mark.parametrize(
    ("value", "rules"),
    [
        ([], ["field-type"]),
        ({}, ["field-missing", "field-missing"]),
        ({"lesson": "x", "why": "", "more": 1}, ["field-unknown"]),
        ({"lesson": 3, "why": None}, ["field-type", "field-type"]),
        ({"lesson": " ", "why": ""}, ["field-empty"]),
        ({"lesson": "x" * 501, "why": ""}, ["too-long"]),
        ({"lesson": "x", "why": ""}, []),
    ],
)
def test_what_breaks_the_shape_is_named(value, rules):
    part = schema.PARTS["used"]["items"]
    assert [finding.rule for finding in schema.faults(part, value, "used 1")] == rules


@pytest.mark.parametrize(
    ("value", "rules"),
    [(True, ["field-type"]), (1.0, ["field-type"]), (-1, ["field-value"]), (7, [])],
)
def test_a_number_is_whole_and_counts_from_nought(value, rules):
    part = schema.PARTS["operations"]["items"]["properties"]["quotes"]["items"]
    quote = {"quote": "x", "region": value, "lines": []}
    assert [finding.rule for finding in schema.faults(part, quote, "q")] == rules


def test_a_word_outside_of_a_closed_set_is_answered_with_the_set():
    part = schema.PARTS["rules"]["items"]
    claim = {"rule": "r_1", "applied": "maybe", "followed": "no", "paid": "no", "why": ""}
    (finding,) = schema.faults(part, claim, "rules 1")
    assert (finding.where, finding.expected) == ("rules 1: applied", "yes or no or unknown")


def test_every_finding_has_a_repair():
    part = schema.PARTS["operations"]["items"]
    wrong = [{}, [], {"quotes": 3, "others": [1] * 30, "effect": "x", "when": "y" * 9_999}]
    found = [fault for value in wrong for fault in schema.faults(part, value, "operations 1")]
    assert all(finding.repair and finding.message for finding in found)
