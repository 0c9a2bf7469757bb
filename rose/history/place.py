"""A repository as a commit finds it: where it lies, whether it is free, and what it holds."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rose import files
from rose.history.program import Folder, GitError

if TYPE_CHECKING:
    from collections.abc import Iterable

# Something is going on that a commit would end, or whose message it would clear away.
BUSY_MARKS = (
    "MERGE_HEAD",
    "MERGE_MSG",
    "SQUASH_MSG",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "BISECT_LOG",
    "sequencer",
    "rebase-merge",
    "rebase-apply",
)
# Names of files are never patterns.
LITERAL = "--literal-pathspecs"


class RefusedError(Exception):
    """Why there is no commit."""


@dataclass(frozen=True, slots=True)
class Place:
    """A repository: its top folder, its own folder, and HEAD, empty before the first commit."""

    top: str
    git_dir: str
    head: str = ""

    @property
    def folder(self) -> Folder:
        return Folder(self.top)

    def now(self) -> Place:
        """Return the repository with its present HEAD."""
        try:
            head = self.folder.text("rev-parse", "--quiet", "--verify", "HEAD^{commit}")
        except GitError:
            head = ""
        return replace(self, head=head)

    def names(self, paths: Iterable[str]) -> tuple[str, ...]:
        """Return the names below the top of the real paths that belong to this repository.

        Raises RefusedError where none does.
        """
        ours = [p for p in paths if files.is_below(p, self.top) and not _is_nested(p, self.top)]
        if not ours:
            raise RefusedError("nothing of it lies in the repository")
        return tuple(sorted({self.name(path) for path in ours}))

    def name(self, path: str) -> str:
        return os.path.relpath(path, self.top)

    def check(self) -> None:
        """Raise RefusedError where somebody is in the middle of something, or git lacks a name."""
        busy = [m for m in BUSY_MARKS if os.path.lexists(os.path.join(self.git_dir, m))]
        if busy:
            raise RefusedError(f"the repository is in the middle of something ({busy[0]})")
        if os.path.lexists(os.path.join(self.git_dir, "index.lock")):
            raise RefusedError("the index is locked (index.lock)")
        try:
            self.folder.run("symbolic-ref", "--quiet", "HEAD")
        except GitError as error:
            raise RefusedError("no branch is checked out") from error
        try:
            for role in ("AUTHOR", "COMMITTER"):
                # A name that git makes up from the machine's is nobody's.
                self.folder.run("-c", "user.useConfigOnly=true", "var", f"GIT_{role}_IDENT")
        except GitError as error:
            raise RefusedError("git does not know you: set user.name and user.email") from error

    def changed(self, names: Iterable[str]) -> set[str]:
        """Return which files are not as HEAD has them, without those that git ignores.

        Raises RefusedError where that is none.
        """
        listed = ("--full-tree", "-r", "-z", "--name-only", self.head, "--", *names)
        known = self.folder.names("ls-tree", *listed) if self.head else set()
        hidden = ("--others", "--ignored", "--exclude-standard", "-z", "--", *names)
        ignored = self.folder.names(LITERAL, "ls-files", *hidden)
        there = {name for name in names if os.path.lexists(os.path.join(self.top, name))}
        fresh = there - ignored - known
        if not known and not fresh:
            raise RefusedError("nothing of it is tracked by git")
        changed = fresh | (self._differing("HEAD", "--", *sorted(known)) if known else set())
        if not changed:
            raise RefusedError("nothing changed")
        return changed

    def staged(self, names: Iterable[str]) -> set[str]:
        """Return which files have staged changes, against HEAD as this place knows it."""
        nothing = ("hash-object", "-t", "tree", os.devnull)
        first = self.head or self.folder.text(*nothing)
        return self._differing("--cached", first, "--", *sorted(names))

    def _differing(self, *words: str) -> set[str]:
        plain = ("--name-only", "--no-renames", "--no-ext-diff", "-z")
        return self.folder.names(LITERAL, "diff", *plain, *words)

    def digest(self, name: str) -> str:
        """Return the digest of a file as HEAD has it and a checkout would write it."""
        try:
            raw = self.folder.run("cat-file", "--filters", f"HEAD:{name}")
        except GitError:
            return ""
        return hashlib.sha256(raw).hexdigest()


def find(path: str) -> Place:
    """Return the repository of a real path, HEAD not read; raises RefusedError, GitError."""
    while not os.path.isdir(path):
        path = os.path.dirname(path)
    folder = Folder(path)
    try:
        is_bare = folder.text("rev-parse", "--is-bare-repository") == "true"
    except GitError as error:
        if "not a git repository" in str(error):
            raise RefusedError("this is no git repository") from error
        raise
    if is_bare:
        raise RefusedError("the repository is bare")
    top = folder.text("rev-parse", "--show-toplevel")
    return Place(top, folder.text("rev-parse", "--absolute-git-dir"))


def _is_nested(path: str, top: str) -> bool:
    """Tell whether a file belongs to a repository inside the one at the top."""
    folder = os.path.dirname(path)
    while files.is_below(folder, top):
        if os.path.lexists(os.path.join(folder, ".git")):
            return True
        folder = os.path.dirname(folder)
    return False
