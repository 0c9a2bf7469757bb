"""The shape of the answer that a model is asked for, and what of an answer breaks it.

One table says both what is sent and what is read. Bounds of length and number are read only:
OpenAI's strict mode refuses them, and llama.cpp fails on large ones (docs/decisions/016).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rose import redact
from rose.findings import Finding
from rose.reflection.offline import MOST_FEATURES
from rose.routing.rules import EFFECTS
from rose.routing.wording import MOST_CHARS

ANSWERS = ("yes", "no", "unknown")
KINDS = ("add", "reword", "merge", "retire")
MOST_OPERATIONS = 20
MOST_QUOTES = 6
MOST_LESSONS = 5
MOST_USED = 50
MOST_CLAIMS = 100
MOST_IDS = 20
ID_CHARS = 500
WHY_CHARS = 2_000
BODY_CHARS = 20_000
MOST_NUMBER = 1_000_000_000
AGAIN = "Answer in the shape of the schema."


def _text(most: int, least: int = 0) -> dict[str, Any]:
    return {"type": "string", "minLength": least, "maxLength": most}


def _one_of(words: tuple[str, ...]) -> dict[str, Any]:
    return {"type": "string", "enum": list(words)}


def _list(items: dict[str, Any], most: int) -> dict[str, Any]:
    return {"type": "array", "items": items, "maxItems": most}


def _object(**properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


_NUMBER = {"type": "integer", "minimum": 0, "maximum": MOST_NUMBER}
_USED = _object(lesson=_text(ID_CHARS, 1), why=_text(WHY_CHARS))
_RULE = _object(
    rule=_text(ID_CHARS, 1),
    applied=_one_of(ANSWERS),
    followed=_one_of(ANSWERS),
    paid=_one_of(ANSWERS),
    why=_text(WHY_CHARS),
)
_QUOTE = _object(quote=_text(MOST_CHARS, 1), region=_NUMBER, lines=_list(_NUMBER, 2))
_OPERATION = _object(
    kind=_one_of(KINDS),
    rule=_text(ID_CHARS),
    others=_list(_text(ID_CHARS, 1), MOST_IDS),
    when=_text(MOST_CHARS),
    then=_text(MOST_CHARS),
    effect=_one_of(EFFECTS),
    match=_list(_text(ID_CHARS, 1), MOST_FEATURES),
    quotes=_list(_QUOTE, MOST_QUOTES),
    restates=_text(ID_CHARS),
    why=_text(WHY_CHARS),
)
_LESSON = _object(title=_text(MOST_CHARS, 1), body=_text(BODY_CHARS, 1), quote=_text(MOST_CHARS, 1))
BOUNDED = _object(
    used=_list(_USED, MOST_USED),
    rules=_list(_RULE, MOST_CLAIMS),
    operations=_list(_OPERATION, MOST_OPERATIONS),
    lessons=_list(_LESSON, MOST_LESSONS),
)
PARTS: Mapping[str, dict[str, Any]] = BOUNDED["properties"]
BOUNDS = ("minLength", "maxLength", "maxItems", "minimum", "maximum")


def _unbounded(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {key: _unbounded(part) for key, part in schema.items() if key not in BOUNDS}
    return schema


# What is sent: within what every server takes for a strict schema.
SCHEMA: dict[str, Any] = _unbounded(BOUNDED)


def faults(schema: Mapping[str, Any], value: object, where: str) -> Iterator[Finding]:
    """Yield where a value breaks a schema of this module; `where` names the value."""
    kind = schema["type"]
    if kind == "object":
        yield from _object_faults(schema, value, where)
    elif kind == "array":
        if not isinstance(value, list):
            yield Finding("field-type", where, "This is no list.", AGAIN)
        elif len(value) > schema["maxItems"]:
            message = f"There are {len(value)} items, and {schema['maxItems']} are read."
            yield Finding("too-many", where, message, "Keep those that matter most.")
        else:
            for number, item in enumerate(value, 1):
                yield from faults(schema["items"], item, f"{where} {number}")
    elif kind == "integer":
        # A bool is an int to Python, and none to JSON.
        if type(value) is not int:
            yield Finding("field-type", where, "This is no whole number.", AGAIN)
        elif not schema["minimum"] <= value <= schema["maximum"]:
            yield Finding("field-value", where, "There is no such place.", "Write 0 if unsure.")
    else:
        yield from _text_faults(schema, value, where)


def _object_faults(schema: Mapping[str, Any], value: object, where: str) -> Iterator[Finding]:
    if not isinstance(value, Mapping):
        yield Finding("field-type", where, "This is no object.", AGAIN)
        return
    parts = schema["properties"]
    unknown = sum(name not in parts for name in value)
    if unknown:
        yield Finding("field-unknown", where, f"{unknown} fields are unknown.", AGAIN)
    for name, part in parts.items():
        if name in value:
            yield from faults(part, value[name], f"{where}: {name}")
        else:
            yield Finding("field-missing", f"{where}: {name}", "The field is missing.", AGAIN)


def _text_faults(schema: Mapping[str, Any], value: object, where: str) -> Iterator[Finding]:
    if not isinstance(value, str):
        yield Finding("field-type", where, "This is no text.", AGAIN)
    elif "enum" in schema:
        if value not in schema["enum"]:
            expected = " or ".join(schema["enum"])
            message = f"This is {redact.beginning(value, 20)!r}."
            yield Finding("field-value", where, message, f"Write {expected}.", expected=expected)
    elif not value.strip() and schema["minLength"]:
        yield Finding("field-empty", where, "The text is empty.", "Fill it, or drop the item.")
    elif len(value) > schema["maxLength"]:
        message = f"The text has more than {schema['maxLength']} characters."
        yield Finding("too-long", where, message, "Shorten it.")
