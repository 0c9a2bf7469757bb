"""Runs `rose` as a person would: arguments, directory, input; gives output and exit code."""

from __future__ import annotations

import contextlib
import fcntl
import io
import json
import os
import pty
import struct
import subprocess
import sys
import termios
from dataclasses import dataclass
from typing import Any
from unittest import mock

from rose.cli import app

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@dataclass(frozen=True)
class Result:
    """What one call printed, and its exit code."""

    out: str
    err: str
    code: int

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def run(
    *args: str, cwd: Any, stdin: bytes = b"", env: dict[str, str | None] | None = None
) -> Result:
    """Run one command line in this process; None in `env` takes a variable away."""
    streams = [io.TextIOWrapper(io.BytesIO(data), "utf-8") for data in (stdin, b"", b"")]
    before = os.getcwd()
    os.chdir(cwd)
    try:
        with (
            mock.patch.dict(os.environ),
            mock.patch.object(sys, "stdin", streams[0]),
            contextlib.redirect_stdout(streams[1]),
            contextlib.redirect_stderr(streams[2]),
        ):
            for name, value in (env or {}).items():
                os.environ.pop(name, None)
                if value is not None:
                    os.environ[name] = value
            code = app.run(args)
    finally:
        os.chdir(before)
    out, err = (_text(stream) for stream in streams[1:])
    return Result(out, err, code)


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode("utf-8", "surrogateescape")


def run_child(
    *args: str, cwd: Any, stdin: bytes | None = b"", env: dict[str, str | None] | None = None
) -> Result:
    """Run one command line in a process of its own; `stdin=None` leaves a pipe open."""
    environ = {**os.environ, "PYTHONPATH": ROOT}
    for name, value in (env or {}).items():
        environ.pop(name, None)
        if value is not None:
            environ[name] = value
    words = [sys.executable, "-m", "rose", *args]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(words, cwd=cwd, env=environ, stderr=subprocess.PIPE, **pipes) as child:
        if stdin is None:
            assert child.stdout is not None
            assert child.stderr is not None
            out, err = child.stdout.read(), child.stderr.read()
            code = child.wait(60)
        else:
            out, err = child.communicate(stdin, 60)
            code = child.returncode
    return Result(out.decode("utf-8", "replace"), err.decode("utf-8", "replace"), code)


def run_unheard(*args: str, cwd: Any) -> int:
    """Run one command line whose output nobody takes any more; return its exit code."""
    heard, told = os.pipe()
    os.close(heard)
    words = [sys.executable, "-m", "rose", *args]
    environ = {**os.environ, "PYTHONPATH": ROOT, "PYTHONUNBUFFERED": "1"}
    try:
        done = subprocess.run(
            words,
            cwd=cwd,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=told,
            stderr=subprocess.DEVNULL,
            check=False,
            timeout=60,
        )
    finally:
        os.close(told)
    return done.returncode


def run_on_terminal(*args: str, cwd: Any, columns: int = 80, **env: str) -> Result:
    """Run one command line on a terminal of so many columns; `out` is all that it showed."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environ = {**os.environ, "PYTHONPATH": ROOT, "TERM": "xterm", **env}
    words = [sys.executable, "-m", "rose", *args]
    with subprocess.Popen(
        words, cwd=cwd, env=environ, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs
    ) as child:
        os.close(theirs)
        shown = b"".join(iter(lambda: _next(ours), b""))
        code = child.wait(60)
    os.close(ours)
    return Result(shown.decode("utf-8", "replace").replace("\r\n", "\n"), "", code)


def _next(terminal: int) -> bytes:
    """Return what a terminal shows next, nothing once the last program has left it."""
    try:
        return os.read(terminal, 1 << 16)
    except OSError:
        return b""
