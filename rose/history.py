"""The only door to GitPython: commits what rose wrote, and nothing else.

Git is optional everywhere: without it, or where a commit would disturb a rebase or a merge, the
result says so and nothing else changes.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rose import files

if TYPE_CHECKING:
    from collections.abc import Sequence

BUSY_MARKS = (
    "MERGE_HEAD",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "BISECT_LOG",
    "rebase-merge",
    "rebase-apply",
)


@dataclass(frozen=True, slots=True)
class Commit:
    """What became of a commit: its hash, or the reason why there is none."""

    sha: str | None
    reason: str


def _git() -> Any:
    """Return the package, None where it or the git program is missing."""
    # Without this, the import itself raises where there is no git program.
    os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")
    try:
        import git
    except ImportError:
        return None
    return git


def version() -> str | None:
    """Return the git program's version, None where there is none."""
    git = _git()
    if git is None:
        return None
    try:
        return ".".join(map(str, git.Git().version_info))
    except git.exc.GitError:
        return None
    except OSError:
        return None


def commit(base: str, paths: Sequence[str], message: str) -> Commit:
    """Commit the present state of the given files alone, as one commit.

    What the user has staged stays staged and what is dirty stays dirty. The repository's own
    hooks run, and may refuse.
    """
    git = _git()
    if git is None or version() is None:
        return Commit(None, "git is not installed")
    try:
        repository = git.Repo(base, search_parent_directories=True)
    except (git.exc.InvalidGitRepositoryError, git.exc.NoSuchPathError):
        return Commit(None, "this is no git repository")
    try:
        reason = _hindrance(repository)
        if reason:
            return Commit(None, reason)
        return _commit(repository, paths, message)
    except (git.exc.GitError, OSError, ValueError) as error:
        return Commit(None, f"git refused: {_last_line(error)}")
    finally:
        repository.close()


def _hindrance(repository: Any) -> str:
    if repository.bare:
        return "the repository is bare"
    busy = [mark for mark in BUSY_MARKS if os.path.exists(os.path.join(repository.git_dir, mark))]
    if busy:
        return f"the repository is in the middle of something ({busy[0]})"
    return "no branch is checked out" if repository.head.is_detached else ""


def _commit(repository: Any, paths: Sequence[str], message: str) -> Commit:
    top = os.path.realpath(repository.working_tree_dir)
    real = {os.path.realpath(path) for path in paths}
    names = sorted(os.path.relpath(path, top) for path in real if files.is_below(path, top))
    if not names:
        return Commit(None, "nothing of it lies in the repository")
    known = set(repository.git.ls_files("-z", "--", *names).split("\0"))
    wanted = [
        name
        for name in names
        if (name in known or os.path.exists(os.path.join(top, name)))
        and not (name not in known and repository.ignored(name))
    ]
    if not wanted:
        return Commit(None, "nothing of it is tracked by git")
    # An untracked file must be known to git before `--only` can name it.
    new = [name for name in wanted if name not in known]
    if new:
        repository.git.add("--intent-to-add", "--", *new)
    if not repository.git.status("--porcelain", "--", *wanted):
        return Commit(None, "nothing changed")
    repository.git.commit("--only", "--quiet", "-m", message, "--", *wanted)
    return Commit(str(repository.head.commit.hexsha), "committed")


def _last_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__
