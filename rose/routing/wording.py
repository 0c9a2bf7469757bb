"""The wording of a rule: the clause a person typed, and the one safe line it becomes.

What a rule says reaches the model as part of rose's own block. Whatever could end that block,
start another line or hide text is taken out when the line is made, and refused at acceptance.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rose import text as texts
from rose.routing import targets as target

if TYPE_CHECKING:
    from collections.abc import Sequence

# Far above what a quarter of any sensible cap holds; it bounds what hostile nesting can cost.
MOST_CHARS = 2000
_LEADING_WHEN = re.compile(r"when(\s+|\s*:\s*)(?=\S)", re.IGNORECASE)
_TAG_END = re.compile(r"<\s*/\s*[\w:.-]*\s*>?")
_TAG = re.compile(r"<([A-Za-z?!_][^<>]*)>")
_TAG_START = re.compile(r"<(?=[A-Za-z/?!_])")
_MARKS = re.compile(r"<!--|--!?>|<!\[CDATA\[|\]\]>|`{3,}|~{3,}")


def clause(text: str) -> str:
    """Return a `when` or `then` as it is kept: trimmed, without one trailing full stop."""
    trimmed = text.strip()
    if trimmed.endswith(".") and not trimmed.endswith(".."):
        return trimmed[:-1].rstrip()
    return trimmed


def condition(when: str) -> str:
    """Return a `when` as it is kept: a leading "when" that a person typed is dropped too."""
    return clause(_LEADING_WHEN.sub("", when.strip(), count=1))


def safe(text: str) -> str:
    """Return one line without control characters or markup that could close the block.

    What is longer than MOST_CHARS is cut here, and refused wherever a rule is read or checked.
    """
    line = texts.clean_line(text[:MOST_CHARS])
    while (stripped := _without_markup(line)) != line:
        # Taking one mark out can leave another: `<</a>/b>`.
        line = texts.clean_line(stripped)
    return line


def _without_markup(line: str) -> str:
    line = _TAG_END.sub("", _MARKS.sub("", line))
    return _TAG_START.sub("", _TAG.sub(r"\1", line))


def markup(text: str) -> str | None:
    """Return the first mark in a text that could close the block, None where there is none."""
    found = [
        match for match in (p.search(text) for p in (_TAG_END, _TAG, _MARKS)) if match is not None
    ]
    return min(found, key=lambda match: match.start())[0] if found else None


def line(when: str, then: str) -> str:
    """Return the one line of a rule, exactly `- When <when>: <then>`."""
    return f"- When {safe(condition(when))}: {safe(clause(then))}"


def absolute(then: str, targets: Sequence[str], base: str) -> str:
    """Return a `then` whose targets are absolute paths below a base."""
    known = frozenset(targets)

    def put(token: re.Match[str]) -> str:
        core = target.strip(token[0])
        if core not in known:
            return token[0]
        at = token[0].index(core)
        start = at - 2 if token[0][:at].endswith("./") else at
        return f"{token[0][:start]}{base.rstrip('/')}/{core}{token[0][at + len(core) :]}"

    return re.sub(r"\S+", put, then)
