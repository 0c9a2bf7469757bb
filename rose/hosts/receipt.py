"""The receipt of an installation: what rose made around its entries, file by file.

Never a copy of what stood there. A lost receipt costs at most white space: an uninstallation
then takes for rose's own whatever its entries leave empty.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rose import files, trust
from rose.errors import RoseError
from rose.findings import Finding, Refused

if TYPE_CHECKING:
    from collections.abc import Mapping

VERSION = 1
# Hosts' settings are a few kilobytes; to edit what is no such file would take minutes.
MOST_SETTINGS_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class Entry:
    """What was made for one file: see `settings.Marks`; whether the file and which folders."""

    created: frozenset[str] = frozenset()
    tails: Mapping[str, str] = field(default_factory=dict)
    is_file: bool = False
    folders: tuple[str, ...] = ()


def place(local: str | None, environ: Mapping[str, str]) -> str:
    """Return where the receipt lies: in a store's local folder, or in the person's state folder.

    The home store's folder is never made for it, since to be there makes it a store.
    """
    if local is not None:
        return os.path.join(local, "install.json")
    folder = trust.state_folder(environ)
    if folder is None:
        raise RoseError("HOME is not set, so there is no place for the receipt.")
    return os.path.join(folder, "install.json")


def read(path: str) -> dict[str, Entry]:
    """Return the entries by file; none where there is no receipt that can be read."""
    try:
        held = files.parse_json(files.read_text(path))
    except (OSError, ValueError):
        return {}
    listed = held.get("files") if isinstance(held, dict) else None
    if not isinstance(listed, dict):
        return {}
    return {name: _entry(value) for name, value in listed.items() if isinstance(value, dict)}


def _entry(value: Mapping[str, object]) -> Entry:
    tails = value.get("tails")
    return Entry(
        frozenset(_names(value.get("created"))),
        # White space alone: nothing else is ever taken out of a person's file on its word.
        {str(k): v for k, v in tails.items() if isinstance(v, str) and not v.strip()}
        if isinstance(tails, dict)
        else {},
        value.get("file") is True,
        tuple(_names(value.get("folders"))),
    )


def _names(value: object) -> list[str]:
    return [name for name in value if isinstance(name, str)] if isinstance(value, list) else []


def write(path: str, entries: Mapping[str, Entry | None]) -> None:
    """Write the entries, or no file where none is left; raises Unwritable."""
    listed = {
        name: {
            "created": sorted(entry.created),
            "tails": dict(entry.tails),
            "file": entry.is_file,
            "folders": list(entry.folders),
        }
        for name, entry in entries.items()
        if entry is not None
    }
    if listed:
        text = files.dump_json({"v": VERSION, "files": listed}) + "\n"
        if not _holds(path, text):
            files.replace(path, text)
    elif os.path.lexists(path):
        files.delete(path)


def _holds(path: str, text: str) -> bool:
    try:
        return files.read_text(path) == text
    except (OSError, ValueError):
        return False


def carried(path: str, before: str | None, known: Entry | None) -> Entry:
    """Return which of a file and its folders are made by this installation or were by the last."""
    if before is not None:
        return known or Entry()
    folders = []
    folder = os.path.dirname(path)
    while not os.path.isdir(folder) and os.path.dirname(folder) != folder:
        folders.append(folder)
        folder = os.path.dirname(folder)
    return Entry(is_file=True, folders=tuple(folders))


def discard(path: str, entry: Entry | None, top: str) -> None:
    """Delete a file that rose made, and the folders made for it where nothing else is in them.

    Only those above the file and below `top`: a receipt may have come with a clone.
    """
    files.delete(os.path.realpath(path))
    folder = os.path.dirname(path)
    while entry is not None and folder in entry.folders and files.is_below(folder, top):
        # Somebody else may use it by now, and then it stays.
        with contextlib.suppress(OSError):
            os.rmdir(folder)
        folder = os.path.dirname(folder)


def read_text(path: str) -> str | None:
    """Return the text of a host's file, None where there is none; raises Refused."""
    try:
        raw = files.read_bytes(path, MOST_SETTINGS_BYTES)
    except FileNotFoundError:
        if os.path.islink(path):
            raise RoseError(f"{path}: a link that leads nowhere. Mend it or delete it.") from None
        return None
    except OSError as error:
        raise RoseError(f"{path}: cannot be read: {error.strerror or error}.") from error
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        where = f"{path}:{raw.count(10, 0, error.start) + 1}"
        message = "It is no UTF-8 text. Nothing was written."
        repair = "Save it as UTF-8 and call again."
        raise Refused([Finding("settings-unreadable", where, message, repair)]) from error
