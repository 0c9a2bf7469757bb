"""Which hosts' transcripts can be read, and by which module."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Protocol, cast

from rose.errors import RoseError
from rose.hosts import rows
from rose.hosts.base import Tally, Transcript

if TYPE_CHECKING:
    from collections.abc import Mapping

HOSTS = {
    "claude-code": "rose.hosts.claude_code",
    "codex": "rose.hosts.codex",
}
_DEFAULT = "claude-code"
_SNIFFED_ROWS = 50


class _Module(Protocol):
    def open_transcript(self, path: str) -> Transcript: ...

    def knows(self, row: Mapping[str, object]) -> bool: ...


def open_transcript(path: str, host: str | None = None) -> Transcript:
    """Return the transcript at a path; the host is told by the first rows where it is not given.

    A file none of whose rows is of a known host has no events, and its tally says why. Raises
    RoseError where the file cannot be read or the host is unknown.
    """
    rows.check_file(path)
    return _module(host or _sniff(path)).open_transcript(path)


def _sniff(path: str) -> str:
    modules = {name: _module(name) for name in HOSTS}
    for row in rows.read(path, Tally(), rows.skip_nothing):
        for name, module in modules.items():
            if module.knows(row.value):
                return name
        if row.number >= _SNIFFED_ROWS:
            break
    return _DEFAULT


def _module(host: str) -> _Module:
    if host not in HOSTS:
        raise RoseError(f"unknown host: {host}. Known are {', '.join(HOSTS)}.")
    return cast(_Module, importlib.import_module(HOSTS[host]))
