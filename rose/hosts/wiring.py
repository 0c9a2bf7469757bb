"""Where rose is wired, by which command, and whether that command can still run."""

from __future__ import annotations

import json
import os
import re
import shlex
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rose import files
from rose.errors import RoseError
from rose.hosts import enabled, handlers, installation, jsontext, plugin, receipt

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rose.hosts.handlers import Found
    from rose.hosts.installation import Target

_CONST = re.compile(r"^const COMMAND = (\[.*\])$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Wiring:
    """One file in which a host finds rose; `fault` says why that does not work.

    `removal` is what takes this wiring out again. `plugin` is the name of Claude Code's plugin
    where the file switches it on, and then `command` is what its hooks run. `is_older` says that
    Codex's trust was written down before the file was last changed.
    """

    host: str
    scope: str
    path: str
    events: tuple[str, ...]
    missing: tuple[str, ...]
    command: str
    fault: str = ""
    repair: str = ""
    untrusted: tuple[str, ...] = ()
    is_older: bool = False
    removal: str = ""
    plugin: str = ""


def wired(folder: str | None, environ: Mapping[str, str]) -> list[Wiring]:
    """Return the files that hold entries of rose; a file that cannot be read is none."""
    found = []
    for aim in _places(folder, environ):
        try:
            text = receipt.read_text(aim.path)
        except RoseError:
            continue
        if text is not None:
            made = _plugin(aim, text) if aim.host.name == "opencode" else _read(aim, text, environ)
            found += [] if made is None else [made]
    switches = enabled.read(folder, environ)
    found += [_by_plugin(each, environ) for each in switches.plugins()]
    silencer = switches.silencer()
    return [_silenced(each, silencer) if silencer else each for each in found]


def folder_of(base: str, cwd: str) -> str:
    """Return the folder in which hosts look: the checkout we are in, if it is a git worktree.

    `base` is the store's, which a worktree shares with its main checkout.
    """
    here, main = os.path.realpath(cwd), os.path.realpath(base)
    if os.path.commonpath([here, main]) == main:
        return base
    while not os.path.lexists(os.path.join(here, ".git")):
        above = os.path.dirname(here)
        if above == here:
            return base
        here = above
    return here


def _places(folder: str | None, environ: Mapping[str, str]) -> list[Target]:
    found = []
    for name in installation.HOSTS:
        if folder is not None:
            found.append(installation.target(name, "project", folder, environ))
            if name == "claude-code":
                found.append(installation.target(name, "project", folder, environ, shared=True))
        try:
            found.append(installation.target(name, "user", "", environ))
        except RoseError:
            # Without a HOME there are no settings of a person.
            continue
    return found


def _read(aim: Target, text: str, environ: Mapping[str, str]) -> Wiring | None:
    try:
        ours = [found for found in handlers.find(text) if not found.is_shadowed]
    except jsontext.Unreadable:
        return None
    if not ours:
        return None
    events = tuple(dict.fromkeys(found.event for found in ours))
    missing = tuple(event for event in aim.host.events if event not in events)
    command = str(ours[0].handler.get("command", ""))
    fault, repair = "", ""
    for found in ours:
        if not fault:
            fault = _fault(str(found.handler.get("command", "")), environ)
            repair = "`rose install` writes the command of this installation." if fault else ""
    untrusted = _untrusted(aim, ours, environ) if aim.host.name == "codex" else ()
    return Wiring(
        aim.host.name,
        aim.scope,
        aim.path,
        events,
        missing,
        command,
        fault,
        repair,
        untrusted,
        aim.host.name == "codex" and _is_older(aim, environ),
        _removal(aim),
    )


def _removal(aim: Target) -> str:
    options = " --scope user" if aim.scope == "user" else " --shared" if aim.is_shared else ""
    return f"`rose uninstall --host {aim.host.name}{options}`"


def _silenced(made: Wiring, silencer: str) -> Wiring:
    if made.host != "claude-code" or made.fault:
        return made
    return replace(made, fault="`disableAllHooks` is on", repair=f"Take it out of {silencer}.")


def _by_plugin(found: enabled.Plugin, environ: Mapping[str, str]) -> Wiring:
    """Return how Claude Code's plugin calls rose; its hooks are those of a shared file."""
    host = installation.HOSTS["claude-code"]
    command = installation.shared_command("EVENT", host.name)
    fault, repair = _fault(command, environ), "Put it there; the plugin calls it by name."
    if not found.is_installed:
        fault = f"the plugin {found.name} is not installed on this machine"
        repair = f"`claude plugin install {found.name}` installs it."
    removal = f"`claude plugin disable {found.name}`"
    return Wiring(
        host.name,
        found.scope,
        found.path,
        host.events,
        (),
        command,
        fault,
        repair if fault else "",
        removal=removal,
        plugin=found.name,
    )


def _plugin(aim: Target, text: str) -> Wiring | None:
    if not plugin.is_ours(text):
        return None
    found = _CONST.search(text)
    try:
        words = json.loads(found.group(1)) if found else []
    except ValueError:
        words = []
    command = shlex.join(str(word) for word in words)
    fault = _fault(command, {})
    repair = "`rose install` writes it anew." if fault else ""
    return Wiring(
        "opencode",
        aim.scope,
        aim.path,
        aim.host.events,
        (),
        command,
        fault,
        repair,
        removal=_removal(aim),
    )


def _fault(command: str, environ: Mapping[str, str]) -> str:
    """Return why a command cannot run, empty where it can."""
    if "rose hook" in command:
        places = environ.get("PATH", "").split(os.pathsep)
        is_there = any(os.access(os.path.join(p, "rose"), os.X_OK) for p in places if p)
        return "" if is_there else "`rose` is not on PATH"
    try:
        words = shlex.split(command)
    except ValueError:
        words = []
    script = next((word for word in words if word.endswith("launch.py")), "")
    if not script:
        return f"the command does not run rose: {command}"
    if not os.access(words[0], os.X_OK):
        return f"{words[0]} is gone"
    return "" if os.path.isfile(script) else f"{script} is gone"


def _untrusted(aim: Target, ours: Sequence[Found], environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the events that Codex passes over without a word until they are trusted."""
    try:
        config = files.read_text(_config(aim, environ))
    except (OSError, ValueError, RoseError):
        config = ""
    if aim.scope == "project" and not _trusts_project(config, aim.path):
        return tuple(found.event for found in ours)
    return tuple(found.event for found in ours if not _is_trusted(config, aim.path, found))


def _config(aim: Target, environ: Mapping[str, str]) -> str:
    return os.path.join(installation.user_folder(aim.host, environ), "config.toml")


def _is_older(aim: Target, environ: Mapping[str, str]) -> bool:
    """Tell whether the entries may have changed since: how Codex makes their hash is its own."""
    try:
        return os.stat(_config(aim, environ)).st_mtime_ns < os.stat(aim.path).st_mtime_ns
    except (OSError, RoseError):
        return False


def _trusts_project(config: str, path: str) -> bool:
    project = os.path.dirname(os.path.dirname(path))
    return any(
        re.search(r"^\s*trust_level\s*=\s*[\"']trusted[\"']", table, re.MULTILINE)
        for folder in (project, os.path.realpath(project))
        for table in _tables(config, "projects", folder)
    )


def _is_trusted(config: str, path: str, found: Found) -> bool:
    event = re.sub(r"(?<!^)(?=[A-Z])", "_", found.event).lower()
    group, index = found.place
    return any(
        re.search(r"^\s*trusted_hash\s*=", table, re.MULTILINE)
        for name in (path, os.path.realpath(path))
        for table in _tables(config, "hooks.state", f"{name}:{event}:{group}:{index}")
    )


def _tables(config: str, parent: str, key: str) -> list[str]:
    """Return the bodies of a table of a TOML file, found as text."""
    headers = {f"[{parent}.{json.dumps(key, ensure_ascii=False)}]", f"[{parent}.'{key}']"}
    found: list[list[str]] = []
    body: list[str] | None = None
    for line in config.splitlines():
        bare = line.strip()
        if bare.startswith("["):
            body = [] if bare in headers else None
            found += [] if body is None else [body]
        elif body is not None:
            body.append(bare)
    return ["\n".join(lines) for lines in found]
