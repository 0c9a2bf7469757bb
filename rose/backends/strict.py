"""The strict form of a schema: what Codex and OpenAI's structured outputs accept.

There every key is required and no other is allowed; a key that may be absent is null instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

# Not taken in strict mode; the answer is checked against the full schema all the same.
LEFT_OUT = ("maxLength",)


def strict(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema in its strict form."""
    made = {name: value for name, value in schema.items() if name not in LEFT_OUT}
    if isinstance(schema.get("items"), dict):
        made["items"] = strict(schema["items"])
    if isinstance(schema.get("properties"), dict):
        required = schema.get("required", [])
        made["properties"] = {
            name: strict(inner) if name in required else _nullable(strict(inner))
            for name, inner in schema["properties"].items()
        }
        made["required"] = list(schema["properties"])
        made["additionalProperties"] = False
    return made


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    kinds = schema.get("type", [])
    made = {**schema, "type": [*([kinds] if isinstance(kinds, str) else kinds), "null"]}
    if "enum" in schema:
        made["enum"] = [*schema["enum"], None]
    return made


def without_nulls(value: Any, schema: Mapping[str, Any]) -> Any:
    """Return a strict answer in the form of its schema: what may be absent and is null, is."""
    if isinstance(value, list):
        inner = schema.get("items", {})
        return [without_nulls(item, inner) for item in value]
    if not isinstance(value, dict):
        return value
    properties, required = schema.get("properties", {}), schema.get("required", [])
    return {
        name: without_nulls(member, properties.get(name, {}))
        for name, member in value.items()
        if member is not None or name in required or name not in properties
    }
