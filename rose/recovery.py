"""Reads line by line a header that YAML refuses.

Editor rules are full of them: `globs: **/*.ts` starts an alias. What is sure is taken for the
header's fields; what is only likely serves to name and to describe a lesson (rose.store.parse).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

KEY_LINE = re.compile(r"([A-Za-z_][\w-]*)[ \t]*:(?:[ \t]+(.*))?$")
# What opens a value of several parts; unclosed, nobody can say where it was meant to end.
_OPENERS = {"[": "]", "{": "}", '"': '"', "'": "'", "|": "", ">": "", "&": ""}
_ITEM = re.compile(r" *-[ \t]+(.*)")
_BLOCK = re.compile(r"[|>][+-]?[0-9]?")


def recover(header: str) -> dict[str, Any] | None:
    """Return the fields of a header of plain lines, None where one leaves a doubt.

    Plain are `key: value`, taken as it stands, and `- item` below a key without a value.
    """
    fields: dict[str, Any] = {}
    for key, value, more in _entries(header):
        items = [item[1].strip() for item in map(_ITEM.fullmatch, more) if item is not None]
        is_sure = len(items) == len(more) and all(map(_is_text, items)) and not (items and value)
        if not key or key in fields or not is_sure or not _is_whole(value):
            return None
        fields[key] = [_unquoted(item) for item in items] if items else _value(value)
    return fields or None


def likely(header: str, keys: Container[str]) -> dict[str, Any]:
    """Return what some keys of a broken header seem to say, each where it stands first."""
    fields: dict[str, Any] = {}
    for key, value, more in _entries(header):
        if key in fields or key not in keys:
            continue
        items = [item[1].strip() for item in map(_ITEM.fullmatch, more) if item is not None]
        if items and not value:
            fields[key] = [_unquoted(item) for item in items]
        else:
            head = "" if _BLOCK.fullmatch(value) else value
            whole = " ".join([head, *map(str.strip, more)]).strip()
            if _is_whole(whole) or whole[0] in "\"'":
                fields[key] = _value(whole)
    return fields


def _entries(header: str) -> Iterator[tuple[str, str, list[str]]]:
    """Yield each key with its value and the lines below that belong to it.

    Lines that belong to no key come under an empty one.
    """
    key, value = "", ""
    more: list[str] = []
    for raw in header.split("\n"):
        line = raw.rstrip("\r").rstrip()
        found = KEY_LINE.fullmatch(line)
        if not line or line.lstrip().startswith("#"):
            continue
        if found is None:
            more.append(line)
            continue
        if key or more:
            yield key, value, more
        key, value, more = found[1], (found[2] or "").strip(), []
    if key or more:
        yield key, value, more


def _is_whole(value: str) -> bool:
    return value[:1] not in _OPENERS or value[-1:] == _OPENERS[value[0]]


def _is_text(item: str) -> bool:
    """Tell whether an item of a list is no list or mapping itself."""
    return item[:1] not in tuple("[{|>&") and _is_whole(item) and KEY_LINE.match(item) is None


def _value(value: str) -> Any:
    if value.startswith("[") and value.endswith("]"):
        return [item.strip().strip("\"'") for item in value[1:-1].split(",") if item.strip()]
    return _unquoted(value)


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value
