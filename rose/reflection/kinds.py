"""The kinds of a task: the features that code can observe of it (docs/architecture.md).

`word:` a content word of the opening prompt, `command:` what a shell command runs, `folder:` a
folder touched. `routing.features` owns their syntax.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from rose import redact
from rose import text as texts
from rose.reflection import commands
from rose.routing import features

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rose.hosts.base import Call
    from rose.reflection.commands import Simple
    from rose.reflection.places import Places

MOST = {"word": 32, "command": 16, "folder": 16}
FOLDER_LEVELS = 3

# What only looks, moves files about or steers the shell says nothing about the kind of work.
_SILENT_WORDS = (
    "ls cat grep egrep fgrep rg ag ack sed head tail find fd echo printf pwd wc which whereis "
    "type tree cd pushd popd less more sort uniq awk gawk cut tr tee true false test [ [[ "
    "export unset set source . file stat du df diff cmp date sleep wait env id whoami uname "
    "hostname ps kill pkill top jobs cp mv rm mkdir rmdir touch ln chmod chown basename "
    "dirname realpath readlink seq yes xxd od strings nl column paste jq return exit break "
    "continue shift trap read local declare alias eval let : bat history clear man"
)
_SILENT = frozenset(_SILENT_WORDS.split())
# Programs that do many things: what they are told to do is part of the kind.
_MANY_WORDS = (
    "git npm pnpm yarn bun cargo docker podman go kubectl helm terraform gh pip uv poetry "
    "systemctl apt apt-get brew conda dotnet"
)
_MANY = frozenset(_MANY_WORDS.split())
_SCRIPTS = frozenset(["npm", "pnpm", "yarn", "bun"])
_LOOKING_WORDS = "status diff log show branch blame rev-parse ls-files remote config grep"
_LOOKING = frozenset(f"git {word}" for word in _LOOKING_WORDS.split())
_VALUED = frozenset(["-C", "-c", "--git-dir", "--work-tree", "-n", "--namespace", "--context"])
_HEAD = re.compile(r"[\w.+][\w.+@:/-]*")
_PATH = re.compile(r"[\w.@~/+-][\w.@~/+ -]*")


class Kinds:
    """Collects the features of one session, the first met first."""

    def __init__(self, places: Places, roots: Sequence[str]) -> None:
        self.places = places
        self.roots = tuple(roots)
        self.found: dict[str, dict[str, None]] = {kind: {} for kind in features.KINDS}

    def take_prompt(self, task: str) -> None:
        """Take the words of the opening prompt."""
        for word in texts.content_words(task):
            self._add("word", word)

    def take_call(self, call: Call) -> None:
        """Take what a call runs and where it works."""
        if call.command is not None:
            # As one text, before it is cut into words: a key is one secret over several of them.
            for simple in commands.simple_commands(
                redact.beginning(call.command, commands.MOST_CHARS)
            ):
                if redact.MARK in f"{simple.head} {' '.join(simple.arguments)}":
                    continue
                self._add("command", head_of(simple))
                for argument in simple.arguments:
                    if "/" in argument and _PATH.fullmatch(argument):
                        self._folder(argument, os.path.join(call.cwd, simple.folder))
        for path in call.paths:
            self._folder(path, call.cwd)

    def features(self) -> tuple[str, ...]:
        """Return the features, sorted."""
        return tuple(sorted(feature for found in self.found.values() for feature in found))

    def _folder(self, named: str, cwd: str) -> None:
        path = self.places.inside(named, cwd)
        if path is None:
            return
        parts = path.split("/")
        if "." in parts[-1]:
            # A name with a dot is a file; so is a hidden one, such as `.env`.
            parts.pop()
        folder = "/".join(parts[:FOLDER_LEVELS])
        if not folder or parts[0] == ".rose" or any(_meets(folder, root) for root in self.roots):
            return
        self._add("folder", folder + "/")

    def _add(self, kind: str, value: str) -> None:
        feature = f"{kind}:{value}"
        found = self.found[kind]
        if not value or len(found) >= MOST[kind] or feature in found:
            return
        if features.fault(feature) is None and not redact.holds_secret(value):
            found[feature] = None


def _meets(folder: str, root: str) -> bool:
    """Tell whether a folder is a lessons root, or below one."""
    return folder == root or folder.startswith(root + "/")


def head_of(simple: Simple) -> str:
    """Return what a simple command runs, empty where that says nothing about the task."""
    if simple.head in _SILENT or not _HEAD.fullmatch(simple.head):
        return ""
    if simple.head not in _MANY:
        return simple.head
    words = list(_plain(simple.arguments))[:2]
    if not words or not _HEAD.fullmatch(words[0]):
        return simple.head
    named = f"{simple.head} {words[0]}"
    if named in _LOOKING:
        return ""
    if (
        simple.head in _SCRIPTS
        and words[0] == "run"
        and len(words) > 1
        and _HEAD.fullmatch(words[1])
    ):
        return f"{named} {words[1]}"
    return named


def _plain(arguments: Iterable[str]) -> Iterator[str]:
    """Yield the arguments that are no options and no values of options."""
    is_value = False
    for argument in arguments:
        if is_value:
            is_value = False
        elif argument.startswith("-"):
            is_value = argument in _VALUED
        else:
            yield argument
