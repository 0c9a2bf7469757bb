"""Features: what a machine can observe of a task, and test a rule's `match` against.

`word:` a content word of the prompt, `command:` a command's head, `folder:` a folder touched.
A folder is met by every folder below it, a word by every identifier that it is a part of and by
its plural. Any one feature of a `match` suffices.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from rose import redact
from rose import text as texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

KINDS = ("word", "command", "folder")
MAX_CHARS = 200
FOLDER = "folder:"
WORD = "word:"
# Shorter words are names and abbreviations: `aws`, `ies`.
SHORT_NOUN = 4


def fault(feature: str) -> str | None:
    """Return what is wrong with a feature, None where it is sound."""
    kind, _, value = feature.partition(":")
    if kind not in KINDS or not value:
        return f"`{redact.beginning(feature, MAX_CHARS)}` is none of word:…, command:…, folder:…/"
    if len(value) > MAX_CHARS:
        return f"`{redact.beginning(feature, 40)}…` is longer than {MAX_CHARS} characters"
    hidden = not value.isprintable() or texts.hostile_characters(value)
    if hidden or value != value.strip() or "`" in value:
        return f"`{feature}` holds a character that no feature has"
    if kind == "word" and (" " in value or value != value.casefold()):
        return f"`{feature}` is not one word in lower case"
    return _folder_fault(value) if kind == "folder" else None


def _folder_fault(folder: str) -> str | None:
    if folder.startswith("/") or ".." in folder.split("/"):
        return f"`{FOLDER}{folder}` is not a folder below the project"
    return None if folder.endswith("/") else f"`{FOLDER}{folder}` does not end with a slash"


def widened(kinds: Iterable[str]) -> Iterator[str]:
    """Yield observed features, each with those that it meets besides."""
    for kind in kinds:
        yield slashed(kind)
        if kind.startswith(WORD):
            yield from _wider_words(kind)
        if kind.startswith(FOLDER):
            parts = kind[len(FOLDER) :].rstrip("/").split("/")
            for end in range(1, len(parts)):
                yield f"{FOLDER}{'/'.join(parts[:end])}/"


@functools.lru_cache(maxsize=1 << 14)
def _wider_words(kind: str) -> tuple[str, ...]:
    """Return the parts of an identifier and the singular of each word, without the word itself."""
    whole = kind[len(WORD) :]
    parts = [word for word in texts.words(whole) if texts.tells(word)]
    forms = dict.fromkeys([*parts, singular(whole), *map(singular, parts)])
    return tuple(WORD + form for form in forms if form != whole)


def singular(word: str) -> str:
    """Return an English noun in its singular; other words stay as they are."""
    if len(word) > SHORT_NOUN and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > SHORT_NOUN and word.endswith(("ches", "shes", "sses", "xes")):
        return word[:-2]
    is_plural = word.endswith("s") and not word.endswith(("ss", "us", "is"))
    return word[:-1] if is_plural and len(word) >= SHORT_NOUN else word


def features_meet(match: Sequence[str], kinds: Iterable[str]) -> bool:
    """Tell whether the observed features of a task meet a rule's `match`."""
    observed = frozenset(widened(kinds))
    return any(slashed(feature) in observed for feature in match)


def slashed(feature: str) -> str:
    """Return a feature as `widened` yields it: a folder ends with one slash."""
    return feature.rstrip("/") + "/" if feature.startswith(FOLDER) else feature


def when_from_match(match: Sequence[str]) -> str:
    """Return the condition that a `match` stands for, in words."""
    values: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for feature in match:
        kind, _, value = feature.partition(":")
        if value and kind in values:
            values[kind].append(value)
    groups = []
    if values["word"]:
        groups.append("mentions " + either([f"`{word}`" for word in values["word"]]))
    if values["command"]:
        groups.append("runs " + either([f"`{command}`" for command in values["command"]]))
    if values["folder"]:
        groups.append("touches " + either(values["folder"]))
    return f"the task {either(groups)}" if groups else ""


def says_match(when: str, match: Sequence[str]) -> bool:
    """Tell whether a condition says what a `match` stands for and nothing else."""
    return bool(match) and when == when_from_match(match)


def either(items: Sequence[str]) -> str:
    """Return some things as one of them, in words."""
    return " or ".join(filter(None, [", ".join(items[:-1]), items[-1]]))
