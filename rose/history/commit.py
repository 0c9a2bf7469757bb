"""Commits what rose wrote, as one commit, and nothing that anybody else has staged or changed.

The commit is made in an index of its own, so the repository's stays free while hooks run, and is
brought in line right before the branch moves, for these files alone (docs/decisions/018).
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import tempfile
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rose import files, layout
from rose.errors import Locked, Unwritable
from rose.history import place as places
from rose.history import program
from rose.history.place import LITERAL, RefusedError
from rose.history.program import Folder, GitError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from rose.history.place import Place

# The hooks of a repository may run its tests; nobody waits for them without end.
HOOKS_WAIT_S = 120.0
LOCK_WAIT_S = 3.0
LOCK_POLL_S = 0.1
LOCK_TRIES = 30
# Somebody may commit while rose does; then it is built anew.
MOST_TRIES = 3
PLAIN = ("--quiet", "--edit", "--no-status", "--no-verbose", "--cleanup=whitespace")


class _MovedError(RefusedError):
    """Somebody else's commit came in between."""


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
    was: Mapping[str, Collection[str]] | None = None,
    wait_s: float = HOOKS_WAIT_S,
) -> Commit:
    """Commit the present state of the given files alone.

    `was` gives, by path, the digests of which one has to be that of HEAD's text, empty for none:
    where it is another, the file holds somebody's own changes and is left out, as one with staged
    changes is. The hooks of the repository run for `wait_s` seconds at most, and may refuse; as
    long is waited for another commit of rose's in the same repository.
    """
    try:
        return _commit(base, paths, message, was or {}, wait_s)
    except RefusedError as refused:
        return Commit(None, str(refused))
    except Locked:
        return Commit(None, "another commit is under way")
    except Unwritable as error:
        return Commit(None, str(error).rstrip("."))
    except (GitError, OSError) as error:
        missing = str(error) == program.MISSING
        return Commit(None, program.MISSING if missing else f"git refused: {error}")


def _commit(
    base: str,
    paths: Iterable[str],
    message: str,
    was: Mapping[str, Collection[str]],
    wait_s: float,
) -> Commit:
    real = [os.path.realpath(path) for path in _each_file(paths)]
    found = places.find(real[0] if real else base)
    with files.lock(layout.commit_lock(found.git_dir), wait_s):
        for _ in range(MOST_TRIES):
            with contextlib.suppress(_MovedError):
                return _try(found.now(), real, message, was, wait_s)
    raise RefusedError("somebody committed in the same moment")


def _try(
    place: Place,
    real: Sequence[str],
    message: str,
    was: Mapping[str, Collection[str]],
    wait_s: float,
) -> Commit:
    names = place.names(real)
    place.check()
    changed = place.changed(names)
    known = {place.name(os.path.realpath(path)): texts for path, texts in was.items()}
    held = place.staged(changed)
    held |= {name for name in changed & known.keys() if place.digest(name) not in known[name]}
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
    """Make the commit, with the index in line before the branch moves, and return the hash."""
    failed: GitError | None = None
    with tempfile.TemporaryDirectory(prefix="rose-") as scratch:
        own, text, script = (os.path.join(scratch, name) for name in ("index", "message", "line"))
        with contextlib.suppress(FileNotFoundError):
            # With what it knows of the other files, git need not read them all; by its time it
            # tells which of them may have changed since.
            shutil.copy2(os.path.join(place.git_dir, "index"), own)
        with open(text, "wb") as stream:
            stream.write(message.encode("utf-8", "replace"))
        # GitPython asks for plain English; the hooks get the language that they know.
        words = {name: os.environ.get(name, "") for name in ("LC_ALL", "LANGUAGE")}
        editor = f"sh {shlex.quote(script)}"
        apart = Folder(place.top, GIT_INDEX_FILE=own, GIT_EDITOR=editor, **words)
        apart.run("read-tree", *(("--reset", place.head) if place.head else ("--empty",)))
        apart.run("update-index", "--add", "--remove", "--", *names)
        with open(script, "wb") as stream:
            stream.write(os.fsencode(_script(place, names, script, len(apart.text("write-tree")))))
        is_made = False
        try:
            try:
                apart.run("commit", *PLAIN, "-F", text, wait_s=wait_s)
            except GitError as error:
                failed = error
            sha = _made(place, names, apart, failed)
            is_made = True
        finally:
            if not is_made:
                _restore(place, names, apart)
    return sha


def _script(place: Place, names: Sequence[str], path: str, digits: int) -> str:
    """Return what git runs as its editor: after it has read HEAD, before it moves the branch.

    Where HEAD is no longer what the commit was built on, it refuses; else it puts the files as
    they are committed into the repository's index. Whatever is killed from here on, that index
    never lacks what the branch holds. A hash has so many `digits`.
    """
    held = shlex.quote(path + ".held")
    gone = shlex.join(f"0 {'0' * digits}\t{name}" for name in names)
    listed = shlex.join(["git", LITERAL, "ls-files", "--stage", "-z", "--", *names])
    return f"""\
test "$(git rev-parse --quiet --verify HEAD)" = "{place.head}" || exit 1
cd {shlex.quote(place.top)} || exit 1
tries=0
{{ printf '%s\\0' {gone}; {listed} || exit 1; }} >{held} || exit 1
unset GIT_INDEX_FILE
until git update-index -z --index-info <{held}
do
  tries=$((tries + 1))
  test $tries -lt {LOCK_TRIES} || exit 1
  sleep {LOCK_POLL_S}
done
"""


def _made(place: Place, names: Sequence[str], apart: Folder, failed: GitError | None) -> str:
    """Return the commit that was made, after a look at what it holds.

    A hook may have added other files to it: such a commit is unmade. With an error behind a
    commit of what was to be in it, a hook that runs after the commit has failed.
    """
    folder = place.folder
    now = place.now().head
    if now == place.head:
        raise failed or GitError("it made no commit")
    since = (now, f"^{place.head}") if place.head else (now,)
    sha = folder.text("rev-list", "--first-parent", "--reverse", *since).split("\n")[0]
    is_ours = failed is None or folder.text("rev-parse", f"{sha}^{{tree}}") == _tree(apart)
    if not is_ours or folder.text("rev-parse", f"{sha}^@") != place.head:
        raise _MovedError
    listed = ("--root", "-r", "--no-renames", "--no-commit-id", "--name-only", "-z")
    others = folder.names("diff-tree", *listed, sha).difference(names)
    if others:
        _unmake(place, sha)
        raise RefusedError(f"the commit would have held {min(others)} too")
    return sha


def _tree(apart: Folder) -> str:
    """Return the tree of the index apart, empty where git, ended half-way, left it locked."""
    try:
        return apart.text("write-tree")
    except GitError:
        return ""


def _unmake(place: Place, sha: str) -> None:
    """Let the branch lead to what it led to before, unless it has moved on since."""
    back = ("HEAD", f"{sha}^", sha) if place.head else ("-d", "HEAD", sha)
    place.folder.run("update-ref", "-m", "rose: unmade", *back)


def _restore(place: Place, names: Sequence[str], apart: Folder) -> None:
    """Let the index hold again what HEAD holds, where it holds what was to be committed."""
    deadline = time.monotonic() + LOCK_WAIT_S
    while True:
        try:
            ours, now = _entries(apart, names), _entries(place.folder, names)
            staged = place.now().staged(names)
            back = sorted(name for name in staged if ours.get(name) == now.get(name))
            if back:
                place.folder.run(LITERAL, "reset", "--quiet", "--", *back)
        except GitError:
            if time.monotonic() < deadline:
                time.sleep(LOCK_POLL_S)
                continue
            # Rose's own files stay staged, which takes nothing back.
        return


def _entries(folder: Folder, names: Sequence[str]) -> dict[str, str]:
    """Return what an index holds of some files, by name."""
    listed = folder.names(LITERAL, "ls-files", "--stage", "-z", "--", *names)
    return {name: held for held, _, name in (entry.partition("\t") for entry in listed)}
