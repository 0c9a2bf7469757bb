"""What Claude Code's settings switch on and off: its plugin of rose, and hooks as a whole.

Of the project's local file, its committed one and the person's, the first that names a switch
decides (seen in the real client; docs/hosts.md).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rose import files
from rose.errors import RoseError
from rose.hosts import installation, jsontext, receipt

if TYPE_CHECKING:
    from collections.abc import Sequence

NAME = "rose"
_PLUGINS = os.path.join("plugins", "installed_plugins.json")


@dataclass(frozen=True, slots=True)
class Plugin:
    """A plugin of rose that is on, and the file that says so."""

    name: str
    scope: str
    path: str
    is_installed: bool


@dataclass(frozen=True, slots=True)
class Switches:
    """The files of settings, narrowest scope first, as (scope, path, content)."""

    held: tuple[tuple[str, str, Mapping[str, object]], ...]
    folder: str

    def silencer(self) -> str:
        """Return the file that switches every hook off, empty where none does."""
        for _, path, content in self.held:
            if "disableAllHooks" in content:
                return path if content["disableAllHooks"] is True else ""
        return ""

    def plugins(self) -> list[Plugin]:
        """Return the plugins of rose that are on."""
        found: dict[str, Plugin | None] = {}
        for scope, path, content in self.held:
            listed = content.get("enabledPlugins")
            for name, value in listed.items() if isinstance(listed, Mapping) else ():
                if name.partition("@")[0] == NAME and name not in found:
                    is_there = _is_installed(self.folder, name)
                    on = Plugin(name, scope, path, is_there) if value is True else None
                    found[name] = on
        return [plugin for plugin in found.values() if plugin is not None]


def read(folder: str | None, environ: Mapping[str, str]) -> Switches:
    """Return the switches that hold in a project's folder; a file that cannot be read has none."""
    places: Sequence[tuple[str, bool]] = (("project", False), ("project", True), ("user", False))
    held = []
    for scope, is_shared in places:
        if scope == "project" and folder is None:
            continue
        try:
            aim = installation.target("claude-code", scope, folder or "", environ, shared=is_shared)
            text = receipt.read_text(aim.path)
            content = None if text is None else jsontext.parse(text).value
        except (RoseError, jsontext.Unreadable):
            continue
        if isinstance(content, Mapping):
            held.append((scope, aim.path, content))
    try:
        own = installation.user_folder(installation.HOSTS["claude-code"], environ)
    except RoseError:
        own = ""
    return Switches(tuple(held), own)


def _is_installed(folder: str, name: str) -> bool:
    """Tell whether the client has a plugin on this machine, or may have it where we cannot tell."""
    try:
        listed = files.parse_json(files.read_text(os.path.join(folder, _PLUGINS)))
    except FileNotFoundError:
        return False
    except (OSError, ValueError):
        return True
    plugins = listed.get("plugins") if isinstance(listed, dict) else None
    return not isinstance(plugins, dict) or bool(plugins.get(name))
