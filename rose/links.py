"""Where a write may lead: a store's links come with a clone, and so may what they lead to."""

from __future__ import annotations

import os

# By which a link could pass one kind of file off as another.
KINDS = {".mdc": ".md", ".yml": ".yaml"}


def fault(path: str, target: str, top: str) -> str:
    """Return why a file below a folder is not to be written by the name `path`; empty: it may be.

    Git runs programs on the word of what lies in its own folder. Where `top` is the root, the
    links are this person's own, and the kind of file behind one is their affair.
    """
    inner = target[len(top.rstrip(os.sep)) + 1 :]
    if is_git(inner) or _lies_in_git_folder(target, top):
        return "it lies in a folder of git's own"
    if not os.path.islink(path):
        return ""
    if not os.path.isfile(target):
        return "it is a link to no regular file"
    if top != os.sep and _kind(path) != _kind(target):
        return f"it is a link to another kind of file: {target}"
    return ""


def is_git(path: str) -> bool:
    """Tell whether a part of a path is git's own name, in whatever case a disk may read it."""
    return ".git" in path.casefold().replace(os.sep, "/").split("/")


def _kind(path: str) -> str:
    suffix = os.path.splitext(path)[1].lower()
    return KINDS.get(suffix, suffix)


def _lies_in_git_folder(target: str, top: str) -> bool:
    """Tell it by what git keeps there: the folder of a worktree may have any name."""
    folder = os.path.dirname(target)
    while len(folder) > len(top):
        held = {name for name in ("HEAD", "commondir", "objects", "refs") if _has(folder, name)}
        if "HEAD" in held and ("commondir" in held or {"objects", "refs"} <= held):
            return True
        folder = os.path.dirname(folder)
    return False


def _has(folder: str, name: str) -> bool:
    return os.path.lexists(os.path.join(folder, name))
