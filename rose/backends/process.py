"""Runs a program that answers: its own process group, a deadline, a bound on what it prints.

The group is ended whole, whatever became of the program: one that hangs has often started others.
`ROSE_CHILD` tells the hooks in it to do nothing, and stops a reflection from starting another.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rose.backends.base import BackendFailure, Usage, quoted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CHILD = "ROSE_CHILD"
MOST_OUT_BYTES = 16 << 20
KEPT_ERR_BYTES = 1 << 16
CHUNK_BYTES = 1 << 16
# A program may be over while one that it started still holds its output.
POLL_S = 0.1
# How long a program has to end what it started, between the two signals: at most, and of its time.
# Where a prompt waits, the rest of the hook needs what is left.
GRACE_S = 2.0
GRACE_SHARE = 0.03


@dataclass(frozen=True, slots=True)
class Ended:
    """What a program printed, its exit code, and what it cost."""

    code: int
    out: str
    err: str
    usage: Usage

    def last_words(self) -> str:
        """Return the last line that the program complained with, shortened, or an empty text."""
        lines = self.err.strip().splitlines()
        return quoted(lines[-1]) if lines else ""


def nested(environ: Mapping[str, str]) -> str:
    """Return why nobody may be asked from inside an answer, empty where this is none."""
    if environ.get(CHILD):
        return f"{CHILD} is set: this runs inside of a reflection, which starts no other."
    return ""


def find(program: str, environ: Mapping[str, str]) -> str:
    """Return the absolute path of a program, empty where there is none.

    Relative entries of PATH are passed over: the program runs in the folder of a repository.
    """
    places = [""] if os.path.isabs(program) else environ.get("PATH", "").split(os.pathsep)
    if not os.path.isabs(program) and os.sep in program:
        return ""
    for place in places:
        path = os.path.join(place, program)
        if os.path.isabs(path) and os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return ""


def run(
    words: Sequence[str], text: str, *, cwd: str, environ: Mapping[str, str], timeout_s: float
) -> Ended:
    """Run a program with a text on its input and return how it ended.

    Raises BackendFailure where it cannot be started, prints without end, or is not done in time.
    """
    name = os.path.basename(words[0])
    if reason := nested(environ):
        raise BackendFailure("unavailable", reason)
    if not (os.path.isabs(cwd) and os.path.isdir(cwd)):
        message = f"{cwd}: the folder of the session is gone. Ask another backend."
        raise BackendFailure("unavailable", message)
    began = time.monotonic()
    try:
        child = _Child(words, cwd, {**environ, CHILD: "1"})
    except OSError as error:
        message = f"{name} was not started: {error.strerror or error}. Is it installed well?"
        raise BackendFailure("unavailable", message) from error
    talk = _Talk(child, text.encode("utf-8", "replace"), began + timeout_s)
    try:
        talk.hold()
    except _Overdue as error:
        # Whoever set the time says what gives it more.
        message = f"{name} was not done after {timeout_s:.3g} s and was ended."
        raise BackendFailure("timeout", message, _spent(began)) from error
    except _Endless as error:
        message = f"{name} printed more than {MOST_OUT_BYTES >> 20} MB and was ended, unread."
        raise BackendFailure("no-answer", message, _spent(began)) from error
    finally:
        _end(child, min(GRACE_S, timeout_s * GRACE_SHARE))
    out, err = (bytes(part).decode("utf-8", "replace") for part in (talk.out, talk.err))
    return Ended(child.returncode, out, err, _spent(began))


def _spent(began: float) -> Usage:
    return Usage(calls=1, seconds=time.monotonic() - began)


class _Child(subprocess.Popen[bytes]):
    """A program with pipes, in a group of its own, which outlives no interruption of its start.

    It runs before the start is over: until then nobody else could end it.
    """

    def __init__(self, words: Sequence[str], cwd: str, environ: Mapping[str, str]) -> None:
        try:
            super().__init__(
                words,
                cwd=cwd,
                env=environ,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                bufsize=0,
            )
        except OSError:
            raise
        except BaseException:
            if self.pid:
                _end(self, 0)
            raise


class _Overdue(Exception):
    """The deadline came first."""


class _Endless(Exception):
    """The program printed more than anyone may read."""


class _Talk:
    """What goes to a child and comes from it, until it is over or its time is up."""

    def __init__(self, child: subprocess.Popen[bytes], text: bytes, deadline: float) -> None:
        self.child = child
        self.left = memoryview(text)
        self.deadline = deadline
        self.out = bytearray()
        self.err = bytearray()

    def hold(self) -> None:
        """Feed the child and read it to its end; raises _Overdue or _Endless."""
        child = self.child
        with selectors.DefaultSelector() as waiting:
            for stream, event in (
                (child.stdin, selectors.EVENT_WRITE),
                (child.stdout, selectors.EVENT_READ),
                (child.stderr, selectors.EVENT_READ),
            ):
                if stream is not None:
                    os.set_blocking(stream.fileno(), False)
                    waiting.register(stream, event, stream.close)
            while True:
                is_over = child.poll() is not None
                ready = waiting.select(0 if is_over else POLL_S)
                for key, _ in ready:
                    if self._is_done(key):
                        waiting.unregister(key.fileobj)
                        key.data()
                if is_over and not ready:
                    return
                if time.monotonic() >= self.deadline:
                    raise _Overdue

    def _is_done(self, key: selectors.SelectorKey) -> bool:
        """Move what one pipe takes or has; tell whether nothing will follow."""
        try:
            if key.events & selectors.EVENT_WRITE:
                self.left = self.left[os.write(key.fd, self.left[:CHUNK_BYTES]) :]
                return not self.left
            part = os.read(key.fd, CHUNK_BYTES)
        except BlockingIOError:
            return False
        except BrokenPipeError:
            # It reads no further: what it says then is for its exit code and its output to tell.
            return True
        if key.fileobj is self.child.stderr:
            self.err = (self.err + part)[-KEPT_ERR_BYTES:]
        else:
            self.out += part
            if len(self.out) > MOST_OUT_BYTES:
                raise _Endless
        return not part


def _end(child: subprocess.Popen[bytes], grace_s: float) -> None:
    """End a child and all that is left of its group."""
    for stream in (child.stdin, child.stdout, child.stderr):
        if stream is not None:
            stream.close()
    try:
        _signal(child.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(grace_s)
    finally:
        # A second Ctrl-C must not leave it behind.
        _signal(child.pid, signal.SIGKILL)
        child.wait()


def _signal(group: int, number: signal.Signals) -> None:
    # The group is gone where all of it has ended; some systems refuse a group of dead ones.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
