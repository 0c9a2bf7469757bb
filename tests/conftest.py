"""Every test has its own HOME, git identity and ROSE_* variables; the real home is out of reach."""

from __future__ import annotations

import os
import signal
import sys

import pytest
from hypothesis import settings

# A shared machine is no reason for a failure, so no example is timed.
settings.register_profile("rose", deadline=None)
settings.load_profile("rose")

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
REAL_HOME = os.path.expanduser("~")


class RealHomeReadError(AssertionError):
    """A test reached for the home folder of whoever runs the suite."""


def pytest_configure() -> None:
    """Refuse a store or a host's folder of the real home, from any test of this process."""
    # A suite that runs in the background or under nohup ignores these, and so would what it starts.
    for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(sign) == signal.SIG_IGN:
            is_interrupt = sign == signal.SIGINT
            signal.signal(sign, signal.default_int_handler if is_interrupt else signal.SIG_DFL)

    def refuse(event: str, arguments: tuple[object, ...]) -> None:
        if event not in ("open", "os.listdir", "os.scandir") or not arguments:
            return
        path = arguments[0]
        if isinstance(path, str) and path.startswith(
            tuple(os.path.join(REAL_HOME, name) for name in (".rose", ".claude", ".codex"))
        ):
            raise RealHomeReadError(path)

    sys.addaudithook(refuse)


@pytest.fixture(autouse=True)
def _own_home(tmp_path, monkeypatch):
    home = tmp_path / "home"
    home.mkdir()
    for name in list(os.environ):
        if name.startswith(("ROSE_", "GIT_", "CLAUDE", "CODEX")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(home / "gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Test")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "test@example.org")
    # No test may ask an agent program that happens to be on this machine.
    monkeypatch.setenv("ROSE_BACKEND", "offline")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture(scope="session")
def shared() -> str:
    """Return the folder of real data that may lie beside the checkout."""
    folder = os.path.join(ROOT, "..", "shared")
    if not os.path.isdir(folder):
        pytest.skip("../shared is not here")
    return os.path.abspath(folder)
