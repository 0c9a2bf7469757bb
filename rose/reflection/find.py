"""Finds the transcripts of sessions where the hosts keep them.

Only names are looked at, and for Codex the first rows: which folder a thread ran in stands there.
"""

from __future__ import annotations

import fnmatch
import glob
import os
import re
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from rose import refs
from rose.errors import RoseError
from rose.hosts import registry

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_SESSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
_SLUG = re.compile(r"[/._]")
_ROLLOUT = re.compile(r"rollout-[\dT-]{19}-(.+)\.jsonl")


@dataclass(frozen=True, slots=True)
class Homes:
    """The folders in which the hosts keep their sessions; empty where there is none."""

    claude: str
    codex: str


def find_transcript(
    session: str, homes: Homes, queued: Mapping[str, tuple[str, str]] = MappingProxyType({})
) -> tuple[str, str]:
    """Return the path and the host of a session's transcript, the newest where there are two.

    `queued` are transcripts known from the queue, by session; an id may be cut at its end.
    Raises RoseError where there is none.
    """
    if _SESSION.fullmatch(session) is None:
        raise RoseError(f"{session!r} is no session id. Give one, or the path with --transcript.")
    kept = [*_claude(homes, "*", session + "*"), *_codex(homes, session + "*")]
    found = {_session_of(path): (path, host) for path, host in sorted(kept, key=_age)} | {**queued}
    known = [name for name in found if name.startswith(session)]
    places = " or ".join(home for home in (homes.claude, homes.codex) if home)
    hint = f"Looked in {places or 'no place'}. Give the path of its transcript with --transcript."
    return found[refs.choose(session, refs.parts(session, known), known, noun="session", hint=hint)]


def _age(one: tuple[str, str]) -> float:
    return os.path.getmtime(one[0])


def _session_of(path: str) -> str:
    name = os.path.basename(path)
    rollout = _ROLLOUT.fullmatch(name)
    return rollout[1] if rollout else name.removesuffix(".jsonl")


def all_transcripts(folder: str, homes: Homes) -> list[tuple[str, str]]:
    """Return path and host of every session that ran in a folder or below it, oldest first."""
    slug = _SLUG.sub("-", folder.rstrip("/"))
    found = list(_claude(homes, glob.escape(slug), "*"))
    found += [
        (path, host)
        for path, host in _claude(homes, glob.escape(slug) + "-*", "*")
        if _ran_below(path, host, folder)
    ]
    found += [(path, host) for path, host in _codex(homes, "*") if _ran_below(path, host, folder)]
    return sorted(found, key=lambda one: (os.path.getmtime(one[0]), one[0]))


def _claude(homes: Homes, slug: str, session: str) -> Iterator[tuple[str, str]]:
    if homes.claude:
        root = glob.escape(os.path.join(homes.claude, "projects"))
        for path in glob.iglob(os.path.join(root, slug, f"{session}.jsonl")):
            yield path, "claude-code"


def _codex(homes: Homes, session: str) -> Iterator[tuple[str, str]]:
    if homes.codex:
        root = glob.escape(os.path.join(homes.codex, "sessions"))
        for path in glob.iglob(os.path.join(root, "**", "rollout-*.jsonl"), recursive=True):
            if fnmatch.fnmatchcase(_session_of(path), session):
                yield path, "codex"


def _ran_below(path: str, host: str, folder: str) -> bool:
    try:
        cwd = registry.open_transcript(path, host).head().cwd
    except RoseError:
        # It cannot be read, so nobody can say where it ran; `--transcript` would say why.
        return False
    return cwd == folder or cwd.startswith(folder.rstrip("/") + "/")
