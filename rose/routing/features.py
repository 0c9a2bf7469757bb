"""Features: what a machine can observe of a task, and test a rule's `match` against.

`word:` a content word of the prompt, `command:` a command's head, `folder:` a folder touched.
A folder is met by every folder below it. Any one feature of a `match` suffices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

KINDS = ("word", "command", "folder")
MAX_CHARS = 200
FOLDER = "folder:"


def fault(feature: str) -> str | None:
    """Return what is wrong with a feature, None where it is sound."""
    kind, _, value = feature.partition(":")
    if kind not in KINDS or not value:
        return f"`{feature[:MAX_CHARS]}` is none of word:…, command:…, folder:…/"
    if len(value) > MAX_CHARS:
        return f"`{feature[:40]}…` is longer than {MAX_CHARS} characters"
    if not value.isprintable() or value != value.strip() or "`" in value:
        return f"`{feature}` holds a character that no feature has"
    if kind == "word" and (" " in value or value != value.casefold()):
        return f"`{feature}` is not one word in lower case"
    return _folder_fault(value) if kind == "folder" else None


def _folder_fault(folder: str) -> str | None:
    if folder.startswith("/") or ".." in folder.split("/"):
        return f"`{FOLDER}{folder}` is not a folder below the project"
    return None if folder.endswith("/") else f"`{FOLDER}{folder}` does not end with a slash"


def widened(kinds: Iterable[str]) -> Iterator[str]:
    """Yield observed features, each folder with the folders above it."""
    for kind in kinds:
        yield slashed(kind)
        if kind.startswith(FOLDER):
            parts = kind[len(FOLDER) :].rstrip("/").split("/")
            for end in range(1, len(parts)):
                yield f"{FOLDER}{'/'.join(parts[:end])}/"


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
        groups.append("mentions " + _either([f"`{word}`" for word in values["word"]]))
    if values["command"]:
        groups.append("runs " + _either([f"`{command}`" for command in values["command"]]))
    if values["folder"]:
        groups.append("touches " + _either(values["folder"]))
    return f"the task {_either(groups)}" if groups else ""


def _either(items: Sequence[str]) -> str:
    return " or ".join(filter(None, [", ".join(items[:-1]), items[-1]]))
