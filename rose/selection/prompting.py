"""What a question of selection is made of: the wordings in prompts/, and data.

Data stands in a question as JSON, one value a line, so that no text can end its section
(docs/decisions/016), and without secrets.
"""

from __future__ import annotations

import json

from rose import redact
from rose.backends.prompts import Prompts

PROMPTS = Prompts(__file__)
# What ends a line for some readers and is no escape in JSON.
_LINE_ENDS = {0x85: "\\u0085", 0x2028: "\\u2028", 0x2029: "\\u2029"}


def clean(text: str) -> str:
    """Return a text without secrets and without what is no UTF-8."""
    return redact.redact(text).encode("utf-8", "replace").decode("utf-8")


def line(value: object) -> str:
    """Return a value as JSON on one line, whatever its reader takes for a line's end."""
    return json.dumps(value, ensure_ascii=False).translate(_LINE_ENDS)
