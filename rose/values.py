"""How a setting's text becomes its value; ValueError or TypeError where it is wrong."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from rose import links

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_TOKENS_LIMIT = 100_000
MAX_SECONDS = 3_600
MOST = 1_000_000_000
# As many lines as the reading of the record looks back (rose.backends.spend).
MOST_CALLS = 10_000
MOST_CHARS = 1_000

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
# No `user:password@`: a key does not belong into a file that is committed.
_URL = re.compile(r"https?://[^\s/@?#]+(/[^\s@?#]*)?")


def flag(value: Any) -> bool:
    words = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
    try:
        return words[str(value).lower()]
    except KeyError as error:
        raise ValueError(value) from error


def tokens(value: Any) -> int:
    return number(MAX_TOKENS_LIMIT)(value)


def number(most: int, least: int = 0) -> Callable[[Any], int]:
    def read_number(value: Any) -> int:
        found = int(str(value))
        if not least <= found <= most:
            raise ValueError(value)
        return found

    return read_number


def choice(*allowed: str) -> Callable[[Any], str]:
    def read_choice(value: Any) -> str:
        if value not in allowed:
            raise ValueError(value)
        return str(value)

    return read_choice


def line(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    if not value.isprintable() or len(value) > MOST_CHARS:
        raise ValueError(value)
    return value.strip()


def url(value: Any) -> str:
    found = line(value)
    if found and not _URL.fullmatch(found):
        raise ValueError(value)
    return found


def variable(value: Any) -> str:
    found = line(value)
    if not _VARIABLE.fullmatch(found):
        raise ValueError(value)
    return found


def folders(value: Any) -> tuple[str, ...]:
    named = [value] if isinstance(value, str) else list(value)
    cleaned = []
    for folder in named:
        if not isinstance(folder, str):
            raise TypeError(value)
        normal = os.path.normpath(folder.strip()).replace(os.sep, "/")
        first = normal.split("/")[0]
        if os.path.isabs(normal) or first in (".", "..", ".rose") or first.startswith("~"):
            raise ValueError(value)
        if not normal.isprintable() or links.is_git(normal):
            raise ValueError(value)
        cleaned.append(normal)
    if not cleaned:
        raise ValueError(value)
    return tuple(dict.fromkeys(cleaned))
