"""The only door to GitPython: runs the git program in a folder, for a bounded time.

Git is optional everywhere: where it is missing or refuses, GitError says so, and nothing that
surrounds us, such as the variables of one of git's own hooks, leads it to another repository.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

WAIT_S = 10.0
END_WAIT_S = 3.0
END_POLL_S = 0.05
MOST_WORDS = 200
MISSING = "git is not installed"
KEPT = (
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_PYTHON_REFRESH",
    "GIT_PYTHON_GIT_EXECUTABLE",
)
QUIET = {
    "GIT_TERMINAL_PROMPT": "0",
    "SSH_ASKPASS_REQUIRE": "never",
    "GIT_EDITOR": "true",
    # What only reads refreshes no index, so it holds no lock in anybody's way.
    "GIT_OPTIONAL_LOCKS": "0",
    # An agent that a hook of the repository starts must not lead to another reflection.
    "ROSE_CHILD": "1",
}


class GitError(Exception):
    """Git is missing, refuses or takes too long; the text says which."""


class Folder:
    """A folder in which git runs; `environ` goes to git and its hooks."""

    def __init__(self, path: str, **environ: str) -> None:
        self.path = path
        self.environ = {**QUIET, **environ}

    def text(self, *words: str) -> str:
        """Return the one line that a command prints."""
        return self.run(*words).decode("utf-8", "surrogateescape").rstrip("\n")

    def names(self, *words: str) -> set[str]:
        """Return what a command lists under `-z`."""
        listed = self.run(*words).decode("utf-8", "surrogateescape")
        return {name for name in listed.split("\0") if name}

    def run(self, *words: str, wait_s: float = WAIT_S, partly: bool = False) -> bytes:
        """Return what a git command prints; raises GitError.

        Where its time is over, `partly` takes what was printed until then.
        """
        import subprocess

        # The wrapper ends its process when it is let go.
        wrapped = self._start(words)
        child = wrapped.proc
        try:
            out, err = child.communicate(timeout=wait_s)
        except subprocess.TimeoutExpired as late:
            out, err = late.stdout or b"", late.stderr or b""
            # A program that a hook left behind may hold the pipe of a git that is done.
            if child.poll() is None:
                _end(child)
                if not partly:
                    raise GitError(f"it took longer than {wait_s:.0f} s") from late
                return bytes(out)
        except BaseException:
            # An interrupt reaches us alone: git and its hooks are in a session of their own.
            _end(child)
            raise
        finally:
            child.stdout.close()
            child.stderr.close()
        if child.returncode:
            raise GitError(_said(err) or f"it exits with {child.returncode}")
        return bytes(out)

    def _start(self, words: tuple[str, ...]) -> Any:
        git = _git()
        if not os.path.isdir(self.path):
            # GitPython would run in the working directory instead.
            raise GitError(f"there is no folder {self.path}")
        with _own_environment():
            try:
                return git.Git(self.path).execute(
                    [git.Git.GIT_PYTHON_GIT_EXECUTABLE or "git", *words],
                    as_process=True,
                    env=self.environ,
                    start_new_session=True,
                )
            except git.exc.GitCommandNotFound as error:
                raise GitError(MISSING) from error
            except (OSError, ValueError) as error:
                raise GitError(f"it cannot be run: {error}") from error


def version() -> str | None:
    """Return the git program's version, None where there is none."""
    try:
        words = Folder(os.curdir).text("version").split()
    except GitError:
        return None
    return words[2] if len(words) > 2 else None  # noqa: PLR2004 - git version 2.39.5


def _git() -> Any:
    # Without this, the import itself raises where there is no git program.
    os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")
    try:
        import git
    except ImportError as error:
        raise GitError(MISSING) from error
    return git


@contextlib.contextmanager
def _own_environment() -> Iterator[None]:
    """Take away what would redirect git: GitPython copies the environment at each call."""
    gone = [name for name in os.environ if name.startswith("GIT_") and name not in KEPT]
    taken = {name: os.environ.pop(name) for name in gone}
    try:
        yield
    finally:
        os.environ.update(taken)


def _end(child: Any) -> None:
    """End git and its hooks, the gentle way first: a hook may have put somebody's work aside."""
    for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        _signal(child, sign)
        deadline = time.monotonic() + END_WAIT_S
        while time.monotonic() < deadline:
            if not _signal(child, 0):
                return
            time.sleep(END_POLL_S)


def _signal(child: Any, sign: int) -> bool:
    """Send a signal to a process and all it started; False where they are gone."""
    child.poll()
    try:
        os.killpg(child.pid, sign)
    except ProcessLookupError:
        return False
    return True


def _said(raw: bytes) -> str:
    """Return the line of git's words that says what went wrong, else the last one."""
    lines = [line.strip() for line in raw.decode("utf-8", "replace").splitlines() if line.strip()]
    marked = [line for line in lines if line.startswith(("error: ", "fatal: "))]
    chosen = (marked or lines[-1:] or [""])[0]
    return chosen.removeprefix("error: ").removeprefix("fatal: ")[:MOST_WORDS]
