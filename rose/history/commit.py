"""Commits what rose wrote, as one commit, and nothing that anybody else has staged or changed.

The commit is made in an index of its own, so the repository's stays free while hooks run, and is
brought in line afterwards for the committed files alone (docs/decisions/018).
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rose.history import place as places
from rose.history import program
from rose.history.place import LITERAL, RefusedError
from rose.history.program import Folder, GitError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rose.history.place import Place

# The hooks of a repository may run its tests; nobody waits for them without end.
HOOKS_WAIT_S = 120.0
LOCK_WAIT_S = 3.0
LOCK_POLL_S = 0.1


@dataclass(frozen=True, slots=True)
class Commit:
    """What became of a commit: its hash, or the reason why there is none.

    With a hash, the reason is "committed" or names what was left out, and `digests` holds the
    digest of each committed file's text by its real path: a hook may have changed it.
    """

    sha: str | None
    reason: str
    digests: Mapping[str, str] = field(default_factory=dict)


def commit(
    base: str,
    paths: Iterable[str],
    message: str,
    *,
    was: Mapping[str, str] | None = None,
    wait_s: float = HOOKS_WAIT_S,
) -> Commit:
    """Commit the present state of the given files alone.

    `was` gives, by path, the digest of the text that has to stand in HEAD, empty for none: where
    it is another, the file holds somebody's own changes and is left out, as one with staged
    changes is. The hooks of the repository run for `wait_s` seconds at most, and may refuse.
    """
    try:
        return _commit(base, paths, message, was or {}, wait_s)
    except RefusedError as refused:
        return Commit(None, str(refused))
    except (GitError, OSError) as error:
        missing = str(error) == program.MISSING
        return Commit(None, program.MISSING if missing else f"git refused: {error}")


def _commit(
    base: str, paths: Iterable[str], message: str, was: Mapping[str, str], wait_s: float
) -> Commit:
    real = [os.path.realpath(path) for path in _each_file(paths)]
    place = places.find(real[0] if real else base)
    names = place.names(real)
    place.check()
    changed = place.changed(names)
    known = {place.name(os.path.realpath(path)): text for path, text in was.items()}
    held = place.staged(changed)
    held |= {name for name in changed & known.keys() if place.digest(name) != known[name]}
    mine = sorted(changed - held)
    if not mine:
        raise RefusedError(_left(held))
    sha = _make(place, mine, message, wait_s)
    digests = {os.path.join(place.top, name): place.digest(name) for name in mine}
    return Commit(sha, f"{_left(held)}; the rest is committed" if held else "committed", digests)


def _each_file(paths: Iterable[str]) -> list[str]:
    """Return the paths with each folder replaced by the files in it."""
    found: list[str] = []
    for path in paths:
        if os.path.isdir(path):
            found += [os.path.join(path, name) for name in sorted(os.listdir(path))]
        else:
            found.append(path)
    return found


def _left(names: Iterable[str]) -> str:
    return f"{min(names)} holds changes of yours that are not committed"


def _make(place: Place, names: Sequence[str], message: str, wait_s: float) -> str:
    """Make the commit, bring the index in line, and return the hash."""
    failed: GitError | None = None
    with tempfile.TemporaryDirectory(prefix="rose-") as scratch:
        own, text = os.path.join(scratch, "index"), os.path.join(scratch, "message")
        with contextlib.suppress(FileNotFoundError):
            # With what it knows of the other files, git need not read them all; by its time it
            # tells which of them may have changed since.
            shutil.copy2(os.path.join(place.git_dir, "index"), own)
        with open(text, "wb") as stream:
            stream.write(message.encode("utf-8", "replace"))
        # GitPython asks for plain English; the hooks get the language that they know.
        words = {name: os.environ.get(name, "") for name in ("LC_ALL", "LANGUAGE")}
        apart = Folder(place.top, GIT_INDEX_FILE=own, **words)
        apart.run("read-tree", *(("--reset", place.head) if place.head else ("--empty",)))
        apart.run("update-index", "--add", "--remove", "--", *names)
        tree = apart.text("write-tree")
        try:
            apart.run("commit", "--quiet", "--cleanup=whitespace", "-F", text, wait_s=wait_s)
        except GitError as error:
            failed = error
    sha = _made(place, names, tree, failed)
    _settle(place, names, sha)
    return sha


def _made(place: Place, names: Sequence[str], tree: str, failed: GitError | None) -> str:
    """Return the commit that was made, after a look at what it holds.

    A hook may have added other files to it, or somebody committed in the same moment, whose
    changes it would take back: such a commit is unmade.
    """
    folder = place.folder
    try:
        sha = folder.text("rev-parse", "--quiet", "--verify", "HEAD")
    except GitError:
        sha = place.head
    if sha == place.head:
        raise failed or GitError("it made no commit")
    follows = folder.text("rev-parse", f"{sha}^@") == place.head
    is_whole = folder.text("rev-parse", f"{sha}^{{tree}}") == tree
    if failed is not None and not (follows and is_whole):
        raise failed
    # With an error behind it, a hook that runs after the commit has failed.
    if not follows and not is_whole:
        raise RefusedError("somebody committed in the same moment")
    listed = ("--root", "-r", "--no-renames", "--no-commit-id", "--name-only", "-z")
    others = folder.names("diff-tree", *listed, sha).difference(names)
    if others:
        _unmake(place, sha)
        raise RefusedError(f"the commit would have held {min(others)} too")
    return sha


def _unmake(place: Place, sha: str) -> None:
    """Let the branch lead to what it led to before, unless it has moved on since."""
    back = ("HEAD", f"{sha}^", sha) if place.head else ("-d", "HEAD", sha)
    place.folder.run("update-ref", "-m", "rose: unmade", *back)


def _settle(place: Place, names: Sequence[str], sha: str) -> None:
    """Let the index hold the committed files as HEAD has them, and touch nothing else in it."""
    mine = sorted(set(names) - place.staged(names))
    deadline = time.monotonic() + LOCK_WAIT_S
    while mine:
        try:
            place.folder.run(LITERAL, "reset", "--quiet", "--", *mine)
        except GitError as error:
            if time.monotonic() < deadline:
                time.sleep(LOCK_POLL_S)
                continue
            # An index without the files would take them back with the next commit.
            _unmake(place, sha)
            raise RefusedError(f"the index cannot be written: {error}") from error
        return
