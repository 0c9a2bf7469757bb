from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rose.backends.strict import strict, without_nulls
from tests.fakes import SCHEMA

LEAVES = st.sampled_from(
    [{"type": "string", "maxLength": 4}, {"type": "integer"}, {"type": "string", "enum": ["a"]}]
)


def _object(properties, draw_required):
    return {"type": "object", "properties": properties, "required": draw_required}


SCHEMAS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(lambda items: {"type": "array", "items": items}, inner),
        st.builds(
            _object, st.dictionaries(st.sampled_from("xyz"), inner), st.lists(st.sampled_from("x"))
        ).map(
            lambda made: {
                **made,
                "required": [n for n in made["required"] if n in made["properties"]],
            }
        ),
    ),
    max_leaves=6,
)


def _absent(schema):
    """Return a value of a schema's strict form in which all that may be null is null."""
    if schema["type"] == "array":
        return [_absent(schema["items"])]
    if schema["type"] == "object":
        inner = schema["properties"]
        return {n: _absent(inner[n]) if n in schema["required"] else None for n in inner}
    return "a" if schema["type"] == "string" else 1


def _lean(schema):
    """Return the same value without what may be absent."""
    if schema["type"] == "array":
        return [_lean(schema["items"])]
    if schema["type"] == "object":
        return {n: _lean(schema["properties"][n]) for n in schema["required"]}
    return _absent(schema)


def test_every_key_is_required_and_one_that_may_be_absent_may_be_null():
    made = strict(SCHEMA)
    assert made["required"] == ["rules", "note"]
    assert made["additionalProperties"] is False
    assert made["properties"]["note"]["type"] == ["string", "null"]
    assert made["properties"]["rules"] == {
        "type": "array",
        "items": {"type": "string"},
        "maxItems": 3,
    }


def test_the_given_schema_stays_as_it_was():
    strict(SCHEMA)
    assert SCHEMA["required"] == ["rules"]
    assert SCHEMA["properties"]["rules"]["items"]["maxLength"] == 100


def test_a_null_that_the_schema_does_not_know_is_kept_for_the_check_to_refuse():
    assert without_nulls({"rules": None, "more": None}, SCHEMA) == {"rules": None, "more": None}


@given(SCHEMAS)
def test_a_strict_answer_without_its_nulls_has_what_the_schema_requires(schema):
    answer = _absent(schema)
    assert without_nulls(answer, schema) == _lean(schema)
