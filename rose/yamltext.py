"""Writes YAML text: one style for everything that rose puts into a header.

Strings are plain only where no reader could take them for another type; all else is quoted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

LAST_OF_FIRST_PLANE = 0xFFFF
_PLAIN = re.compile(
    r"[A-Za-z_][\w/.-]*(?: [\w/.()-]+)*"  # words and paths
    r"|[a-z]+:[\w/.-]*[\w/]"  # features, such as command:pytest
    r"|0|[1-9][0-9]{0,8}"
    r"|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"
)
# Words that a reader with types takes for something else than text.
_TYPED = frozenset(["true", "false", "yes", "no", "on", "off", "null", "y", "n"])


def dump(fields: Mapping[str, Any]) -> str:
    """Return the YAML lines of a mapping; `frontmatter.load` gives back equal fields."""
    return "".join(entry(key, value, "\n") for key, value in fields.items())


def entry(key: str, value: Any, newline: str) -> str:
    """Return the lines of one top-level key."""
    if isinstance(value, str):
        lines = [f"{key}: {_scalar(value)}"]
    elif isinstance(value, Mapping):
        lines = [f"{key}:", *(f"  {_scalar(name)}: {_flow(item)}" for name, item in value.items())]
    elif all(isinstance(item, str) for item in value):
        lines = [f"{key}: [{', '.join(_scalar(item) for item in value)}]"]
    else:
        lines = [f"{key}:", *(f"  - {_flow(item)}" for item in value)]
    return "".join(line + newline for line in lines)


def _flow(value: Any) -> str:
    if isinstance(value, str):
        return _scalar(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_scalar(k)}: {_flow(v)}" for k, v in value.items()) + "}"
    return "[" + ", ".join(_flow(item) for item in value) + "]"


def _scalar(value: str) -> str:
    """Return a scalar plain where that is beyond doubt, else in double quotes."""
    if _PLAIN.fullmatch(value) and value.isascii() and value.lower() not in _TYPED:
        return value
    quoted = []
    for char in value:
        if char in '"\\':
            quoted.append("\\" + char)
        elif char.isprintable() and ord(char) <= LAST_OF_FIRST_PLANE:
            quoted.append(char)
        elif char == "\n":
            quoted.append("\\n")
        elif char == "\t":
            quoted.append("\\t")
        elif ord(char) <= LAST_OF_FIRST_PLANE:
            quoted.append(f"\\u{ord(char):04x}")
        else:
            quoted.append(f"\\U{ord(char):08x}")
    return '"' + "".join(quoted) + '"'
