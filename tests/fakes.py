"""Programs and questions made for a test: a script on PATH that plays a model's program."""

from __future__ import annotations

import os
import stat
import sys
from typing import TYPE_CHECKING, Any

from rose import files
from rose.backends.base import Question, Subject
from rose.backends.options import Options
from rose.backends.spend import Purse, Wait
from rose.config import Settings
from rose.reflection.schema import SCHEMA

if TYPE_CHECKING:
    from rose.layout import Store

ANSWER = {"rules": ["read nodes/testing/"]}


def a_program(tmp_path, name: str, script: str) -> dict[str, str]:
    """Put a Python script on PATH under a name, and return the environment that finds it."""
    folder = os.path.join(os.path.realpath(tmp_path), "bin")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(f"#!{sys.executable} -IS\n{script}")
    os.chmod(path, stat.S_IRWXU)
    return {"PATH": f"{folder}:/usr/bin:/bin", "HOME": os.environ["HOME"]}


def a_question(tmp_path, host: str = "claude-code", **fields: str) -> Question:
    """Return a question about a session whose folder is there."""
    cwd = os.path.join(os.path.realpath(tmp_path), "work")
    os.makedirs(cwd, exist_ok=True)
    known = {"session": "0b6c1d2e-0000-4000-8000-000000000000", "transcript": "", "cwd": cwd}
    return Question("Which lesson was used?", SCHEMA, Subject(host, **{**known, **fields}))


def some_options(**values: Any) -> Options:
    return Options(Settings(**values))


def a_purse(store: Store, *, left_s: float = 5.0, least_s: float = 0.0, **values: Any) -> Purse:
    """Return a store's purse: what is left of the time, and settings other than the defaults."""
    wait = Wait(lambda: left_s, "recall.timeout_s", least_s)
    return Purse(store, Settings(**values), wait, lock_s=0.1)


def spent(store: Store) -> list[tuple[object, object]]:
    """Return how many calls each question to a model has cost a store, and how it ended."""
    return [(line["calls"], line["outcome"]) for _, line in files.read_jsonl(store.spend)]


def held(path: str) -> str:
    """Return the lines with which a script, and all that it starts, hold a lock till they end."""
    return f"import fcntl\nheld = open({path!r}, 'w')\nfcntl.flock(held, fcntl.LOCK_EX)\n"


def wait_for_the_end(path: str) -> None:
    """Wait until nobody holds the lock any more; raises Locked where somebody lives on."""
    with files.lock(path):
        pass
