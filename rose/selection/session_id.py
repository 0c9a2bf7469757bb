"""The id of a session as it is kept in traces and rejections: one line, short, without secrets."""

from __future__ import annotations

import functools
import re

from rose import layout, redact
from rose import text as texts

MOST_CHARS = 300
_DIGITS = 16
# A mark that a cut has parted.
_PARTED = re.compile(r"\[[^\]]*\Z")


@functools.lru_cache(maxsize=64)
def kept(session: str) -> str:
    """Return the id by which a session is known; what is kept already comes back as it is.

    Where a secret or the length took something away, a digest of the whole keeps two apart.
    """
    line = texts.clean_line(session)
    if len(line) <= MOST_CHARS and not redact.holds_secret(line):
        return line
    own = f"~{layout.digest(line)[:_DIGITS]}"
    start = _PARTED.sub("", redact.redact(line)[: MOST_CHARS - len(own)]).rstrip()
    # What a cut leaves may look like a secret itself.
    return own if redact.holds_secret(start + own) else start + own
