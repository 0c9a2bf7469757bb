"""What rose writes into each host's settings, and where; puts it there and takes it away.

Claude Code and Codex were run; Gemini CLI, Cursor and OpenCode are wired as their documents
say (docs/hosts.md). A receipt beside the store says what was made around our entries.
"""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rose import files
from rose.errors import RoseError, UsageError
from rose.hosts import handlers, plugin, receipt, settings
from rose.hosts.receipt import Entry

if TYPE_CHECKING:
    from collections.abc import Mapping

LAUNCH = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "launch.py")
SCOPES = ("project", "user")
LOCK_WAIT_S = 10.0
TIMEOUT_S = 10
# Codex cuts above 2,500 tokens unless told; the layer is at most 9,500 bytes.
CONTEXT_TOKENS = 4000


@dataclass(frozen=True, slots=True)
class Host:
    """How one host is wired; `home` is the variable that moves its own folder."""

    name: str
    programs: tuple[str, ...]
    folder: str
    file: str
    events: tuple[str, ...]
    home: str = ""
    user_folder: str = ""
    user_file: str = ""
    timeout: int = TIMEOUT_S
    grouped: bool = True
    keys: Mapping[str, object] = field(default_factory=dict)
    was_run: bool = False


# What `prompt` reads as: only for stores that this person trusts.
IF_TRUSTED = "--if-trusted"

_TURNS = ("SessionStart", "UserPromptSubmit", "SubagentStart", "PostCompact", "Stop", "SessionEnd")

HOSTS = {
    host.name: host
    for host in (
        Host(
            "claude-code",
            ("claude",),
            ".claude",
            "settings.local.json",
            _TURNS,
            home="CLAUDE_CONFIG_DIR",
            user_file="settings.json",
            was_run=True,
        ),
        Host("codex", ("codex",), ".codex", "hooks.json", _TURNS, home="CODEX_HOME", was_run=True),
        Host(
            "gemini",
            ("gemini",),
            ".gemini",
            "settings.json",
            ("SessionStart", "BeforeAgent", "PreCompress", "SessionEnd"),
            timeout=TIMEOUT_S * 1000,
        ),
        Host(
            "cursor",
            ("cursor", "cursor-agent"),
            ".cursor",
            "hooks.json",
            ("sessionStart", "beforeSubmitPrompt", "stop", "sessionEnd"),
            grouped=False,
            keys={"version": 1},
        ),
        Host(
            "opencode",
            ("opencode",),
            ".opencode",
            os.path.join("plugin", "rose.js"),
            ("chat.message", "session.compacted"),
            user_folder=os.path.join(".config", "opencode"),
        ),
    )
}


@dataclass(frozen=True, slots=True)
class Target:
    """One file of one host that is to be changed; no link leads it out of `top`."""

    host: Host
    scope: str
    path: str
    is_shared: bool = False
    top: str = os.sep


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a change of one file comes to; None is a file that is not there."""

    target: Target
    before: str | None
    after: str | None
    touched: tuple[str, ...]
    entry: Entry | None

    @property
    def is_change(self) -> bool:
        return self.before != self.after


def target(
    name: str, scope: str, folder: str, environ: Mapping[str, str], *, shared: bool = False
) -> Target:
    """Return the file that a host reads in a scope; `folder` is the project's."""
    if name not in HOSTS:
        raise UsageError(f"unknown host: {name}. Known are {', '.join(HOSTS)}.")
    if scope not in SCOPES:
        raise UsageError(f"unknown scope: {scope}. Known are {', '.join(SCOPES)}.")
    host = HOSTS[name]
    if shared:
        if name != "claude-code" or scope != "project":
            raise UsageError("--shared is for --host claude-code in the project's scope alone.")
        return Target(host, scope, os.path.join(folder, host.folder, host.user_file), True, folder)
    if scope == "project":
        return Target(host, scope, os.path.join(folder, host.folder, host.file), top=folder)
    return Target(
        host, scope, os.path.join(user_folder(host, environ), host.user_file or host.file)
    )


def user_folder(host: Host, environ: Mapping[str, str]) -> str:
    """Return the folder in which a host keeps a person's own settings."""
    named = environ.get(host.home, "") if host.home else ""
    if named:
        return os.path.abspath(named)
    home = environ.get("HOME", "")
    if not home:
        raise RoseError("HOME is not set, so there is no place for a person's settings.")
    return os.path.join(home, host.user_folder or host.folder)


def present(folder: str | None, environ: Mapping[str, str]) -> list[str]:
    """Return the hosts whose program is on PATH or whose folder of settings is there."""
    return [host.name for host in HOSTS.values() if _is_present(host, folder, environ)]


def _is_present(host: Host, folder: str | None, environ: Mapping[str, str]) -> bool:
    for place in environ.get("PATH", "").split(os.pathsep):
        for program in host.programs:
            path = os.path.join(place, program)
            if place and os.path.isfile(path) and os.access(path, os.X_OK):
                return True
    try:
        own = user_folder(host, environ)
    except RoseError:
        own = ""
    inner = os.path.join(folder, host.folder) if folder else ""
    return any(path and os.path.isdir(path) for path in (own, inner))


def command(event: str, host: str, python: str, scope: str = "project") -> str:
    """Return the command line, for `sh`, that answers an event."""
    line = shlex.join([*words(python, scope), event, "--host", host])
    try:
        line.encode("utf-8")
    except UnicodeEncodeError as error:
        raise RoseError(
            "The path of Python or of rose is no UTF-8, which settings cannot hold. "
            "Install rose elsewhere."
        ) from error
    return line


def words(python: str, scope: str) -> list[str]:
    """Return the start of every command that is written, by absolute paths alone.

    One that a person has for all projects passes over stores that came with a clone.
    """
    if not os.path.isabs(python):
        raise RoseError("The path of this Python is not known, so no host could find it.")
    return [python, "-IS", LAUNCH, *([IF_TRUSTED] if scope == "user" else [])]


def shared_command(event: str, host: str) -> str:
    """Return the command of a committed file, which does nothing where rose is absent."""
    call = f"rose hook {event} --host {host} {IF_TRUSTED}"
    return f"command -v rose >/dev/null 2>&1 && {call} || true"


def wanted(aim: Target, python: str) -> settings.Wanted:
    """Return the handlers that a file of settings is to hold."""
    host = aim.host
    made = {event: _handler(aim, event, python) for event in host.events}
    return settings.Wanted(made, host.grouped, host.keys)


def _handler(aim: Target, event: str, python: str) -> dict[str, object]:
    host = aim.host
    line = (
        shared_command(event, host.name)
        if aim.is_shared
        else command(event, host.name, python, aim.scope)
    )
    # Gemini documents a name, no free keys; ours are known by their command too.
    made: dict[str, object] = {"name": "rose"} if host.name == "gemini" else {}
    if host.grouped:
        made["type"] = "command"
    made["command"] = line
    made["timeout"] = host.timeout
    if host.name == "codex":
        if event == "SessionEnd":
            # The most that Codex grants.
            made["timeout"] = 3
        if event in ("SessionStart", "UserPromptSubmit", "SubagentStart"):
            made["additionalContextLimit"] = CONTEXT_TOKENS
    if host.name != "gemini":
        made[handlers.MARK] = True
    return made


def plan(aim: Target, known: Entry | None, python: str, *, remove: bool = False) -> Outcome:
    """Return what would change in a file; raises Refused where it cannot be edited."""
    before = receipt.read_text(aim.path)
    if not files.is_below(os.path.realpath(aim.path), os.path.realpath(aim.top)):
        if remove:
            return Outcome(aim, before, before, (), known)
        # As it would have to stand there: passing over stores that came with a clone.
        theirs = wanted(replace(aim, scope="user"), python)
        raise settings.outside(aim.path, None if aim.host.name == "opencode" else theirs)
    if aim.host.name == "opencode":
        return _plan_plugin(aim, before, known, python, remove=remove)
    ours = wanted(aim, python)
    marks = None if known is None else settings.Marks(known.created, known.tails)
    if remove:
        if before is None or "rose" not in before:
            # Whatever else may be wrong with it.
            return Outcome(aim, before, before, (), known)
        done = settings.uninstall(before, ours, marks, aim.path)
        is_gone = known is not None and known.is_file and not done.text
        after = None if is_gone else done.text
        return Outcome(aim, before, after, done.touched, known)
    done = settings.install(before or "", ours, marks, aim.path)
    held = receipt.carried(aim.path, before, known)
    entry = Entry(done.marks.created, done.marks.tails, held.is_file, held.folders)
    return Outcome(aim, before, done.text, done.touched, entry)


def _plan_plugin(
    aim: Target, before: str | None, known: Entry | None, python: str, *, remove: bool
) -> Outcome:
    if remove:
        if before is None or not plugin.is_ours(before):
            return Outcome(aim, before, before, (), known)
        return Outcome(aim, before, None, ("the whole file",), known)
    plugin.check(before, aim.path)
    after = plugin.text(words(python, aim.scope))
    touched = () if before == after else ("the whole file",)
    return Outcome(aim, before, after, touched, receipt.carried(aim.path, before, known))


def apply(aim: Target, place: str, python: str, *, remove: bool = False) -> Outcome:
    """Change a file and the receipt at `place`, under its lock; raises Refused or Unwritable."""
    with files.lock(place + ".lock", LOCK_WAIT_S):
        entries = receipt.read(place)
        outcome = plan(aim, entries.get(aim.path), python, remove=remove)
        if remove:
            _write(outcome)
            receipt.write(place, {**entries, aim.path: None})
            return outcome
        # The receipt first: what a crash leaves in it harms nothing without the entries.
        receipt.write(place, {**entries, aim.path: outcome.entry})
        _write(outcome)
        return outcome


def _write(outcome: Outcome) -> None:
    path = outcome.target.path
    if not outcome.is_change:
        return
    if outcome.after is not None:
        files.replace(path, outcome.after, follow=outcome.target.top)
        return
    receipt.discard(path, outcome.entry, outcome.target.top)
