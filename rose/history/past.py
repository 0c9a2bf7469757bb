"""What git knows of the past of files: who changed them and when, and where they moved."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from rose.history.program import Folder, GitError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

WAIT_S = 5.0
# The trailer under which a commit of rose's names the session that it comes from.
SESSION = "Rose-Session"
# Between NULs, which neither a name nor a subject can hold.
_FIELDS = ("%H", "%an", "%ct", "%s", f"%(trailers:key={SESSION},valueonly,separator=%x20)")
_FORMAT = "--format=" + "%x00".join(_FIELDS)
# Colour, signatures and outer programs of the person's own settings stay out of it.
_PLAIN = ("--no-color", "--no-ext-diff", "-z", "--name-status")
_LOG = ("log", "--no-show-signature", "--root", *_PLAIN)
_RENAMES = ("-M", "-l2000", "--diff-filter=R", "--relative")
_KIND = re.compile(r"\n?([AMDTRC])[0-9]*")


@dataclass(frozen=True, slots=True)
class Revision:
    """One commit; `files` are its changes (A, M, D or R) to the files that were asked about.

    `session` is what its trailer names, `at` the time in UTC.
    """

    sha: str
    who: str
    at: str
    subject: str
    session: str
    files: tuple[tuple[str, str], ...]


def revisions(folder: str, paths: Sequence[str], most: int) -> list[Revision]:
    """Return the latest commits that touched some paths below a folder, newest first.

    A single file is followed over its renames. Without git, or outside of it, there are none.
    """
    words = [*_LOG, _FORMAT, f"--max-count={most}"]
    if len(paths) == 1 and not paths[0].endswith("/"):
        words.append("--follow")
    tokens = _read(folder, *words, "--", *paths).split("\0")
    found = []
    while len(tokens) > len(_FIELDS):
        fields, tokens = tokens[: len(_FIELDS)], tokens[len(_FIELDS) :]
        changed = []
        while (kind := _KIND.fullmatch(tokens[0])) and len(tokens) > 2:  # noqa: PLR2004 - kind, path
            end = 3 if kind[1] in "RC" else 2
            changed.append((kind[1], tokens[end - 1]))
            tokens = tokens[end:]
        found.append(_revision(fields, changed))
    return found


def _revision(fields: Sequence[str], changed: Sequence[tuple[str, str]]) -> Revision:
    sha, who, seconds, subject, session = fields
    at = datetime.fromtimestamp(int(seconds), timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return Revision(sha, who, at, subject, session.strip(), tuple(changed))


def text_at(folder: str, sha: str, path: str) -> str | None:
    """Return a file as a commit left it, None where it holds none; the path is from the top."""
    try:
        return Folder(folder).run("cat-file", "blob", f"{sha}:{path}").decode("utf-8", "replace")
    except GitError:
        return None


def renames(folder: str, below: Iterable[str]) -> dict[str, str]:
    """Return where files moved that lay in some folders below a folder: their last place by path.

    Chains are followed, and what is staged counts; a file that moved by hand, unknown to git,
    does not. A path that was used again leads where its latest file went.
    """
    roots = [root for root in below if os.path.isdir(os.path.join(folder, root))]
    if not roots:
        return {}
    found: dict[str, str] = {}
    staged = _read(folder, "diff", "--cached", *_PLAIN, *_RENAMES, "--", *roots)
    past = _read(folder, *_LOG, *_RENAMES, "--format=", "--", *roots)
    for raw in (staged, past):
        tokens = [token for token in raw.split("\0") if token]
        # Newest first, each as R and a likeness, the old path, the new one.
        for old, new in zip(tokens[1::3], tokens[2::3], strict=False):
            found.setdefault(old, found.get(new, new))
    return {old: new for old, new in found.items() if old != new}


def _read(folder: str, command: str, *words: str) -> str:
    """Return what a command prints within its time; nothing where git has no answer."""
    # A partial clone must not fetch what it lacks.
    quiet = Folder(folder, GIT_NO_LAZY_FETCH="1")
    try:
        raw = quiet.run("--literal-pathspecs", command, *words, wait_s=WAIT_S, partly=True)
    except GitError:
        return ""
    return raw.decode("utf-8", "surrogateescape")
