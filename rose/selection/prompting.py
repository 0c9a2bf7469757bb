"""The wording of a question in prompts/, with data in its slots.

Data stands in a question as JSON, one value a line, so that no text can end its section
(docs/decisions/016), and without secrets.
"""

from __future__ import annotations

import functools
import json
import os
import re
from typing import TYPE_CHECKING

from rose import files, redact

if TYPE_CHECKING:
    from collections.abc import Mapping

_PROMPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "prompts")
_SLOT = re.compile(r"\{\{([a-z]+)\}\}")
# What ends a line for some readers and is no escape in JSON.
_LINE_ENDS = {0x85: "\\u0085", 0x2028: "\\u2028", 0x2029: "\\u2029"}


def fill(name: str, filled: Mapping[str, str]) -> str:
    """Return a wording with its slots filled."""
    return _SLOT.sub(lambda slot: filled[slot[1]], wording(name))


@functools.cache
def wording(name: str) -> str:
    return files.read_text(os.path.join(_PROMPTS, f"{name}.md"))


def clean(text: str) -> str:
    """Return a text without secrets and without what is no UTF-8."""
    return redact.redact(text).encode("utf-8", "replace").decode("utf-8")


def line(value: object) -> str:
    """Return a value as JSON on one line, whatever its reader takes for a line's end."""
    return json.dumps(value, ensure_ascii=False).translate(_LINE_ENDS)
