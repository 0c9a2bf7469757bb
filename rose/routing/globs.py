"""Globs: the files that an editor rule says it is for, as the condition of a selection rule.

They come from files of other people, so what is not plainly a glob is none, and nothing of it
reaches a rule.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rose.routing import features

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MOST_CHARS = 200
# Of all globs of a file together; it bounds the search for separators.
MOST_CHARS_IN_ALL = 4_000
# A comma inside braces separates no globs: `*.{ts,tsx}`.
_SEPARATOR = re.compile(r",(?![^{}]*\})")
_GLOB = re.compile(r"[\w.*?/{},\[\]@+!()-]+")
_WHOLE_FOLDER = re.compile(r"([^*?{}\[\]]+/)(?:\*\*(?:/\*{1,2})?)?")
_NAMING = re.compile(r"\w")


def split(value: object) -> tuple[str, ...]:
    """Return the texts in a field of globs, a list or one line of them, each once."""
    items = value if isinstance(value, list) else [value]
    # A list that was read line by line may have been cut inside braces, so it is joined first.
    line = ",".join(item for item in items if isinstance(item, str))
    if len(line) > MOST_CHARS_IN_ALL:
        return (line,)
    parts = (part.strip().strip("\"'").removeprefix("./") for part in _SEPARATOR.split(line))
    return tuple(dict.fromkeys(filter(None, parts)))


def is_glob(text: str) -> bool:
    """Tell whether a text is a glob: one word of a path's characters."""
    return len(text) <= MOST_CHARS and _GLOB.fullmatch(text) is not None


def match_all(globs: Iterable[str]) -> bool:
    """Tell whether one of the globs is met by every file."""
    return any(_NAMING.search(glob) is None for glob in globs)


def match_of(globs: Sequence[str]) -> tuple[str, ...]:
    """Return the features that say exactly what the globs say; none where there are none such.

    A whole folder is all that a feature can say; a kind of file is not.
    """
    folders = [_WHOLE_FOLDER.fullmatch(glob) for glob in globs]
    found = tuple(features.FOLDER + folder[1] for folder in folders if folder is not None)
    is_sound = len(found) == len(globs) and all(features.fault(each) is None for each in found)
    return found if is_sound else ()


def condition(globs: Sequence[str]) -> str:
    """Return the condition of the globs in words."""
    return f"the task touches files that match {features.either([f'`{g}`' for g in globs])}"
