"""Reads the compiled layer and tells whether it is stale; `routing.compile` writes it.

The stamp is cheap, not complete: docs/store.md says what it can miss and what catches it.
On the prompt hook's path.
"""

from __future__ import annotations

import os

from rose import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

VERSION = 1
FIELDS = (
    ("block", str),
    ("encoded", str),
    ("digest", str),
    ("revision", str),
    ("repeat", str),
    ("rules", list),
    ("stamps", list),
    ("exists", list),
)


def read(path: str) -> dict[str, object] | None:
    """Return the compiled layer, None where there is none that this version can read."""
    try:
        layer = files.parse_json(files.read_bytes(path).decode("utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(layer, dict) or layer.get("v") != VERSION:
        return None
    if not all(isinstance(layer.get(name), kind) for name, kind in FIELDS):
        return None
    return layer


def is_stale(layer: Mapping[str, object], home: str | None) -> bool:
    """Tell whether something that the layer was made from has changed since.

    `home` is the home store's own folder where there is one: a layer is made of both stores.
    """
    stamps, exists = layer["stamps"], layer["exists"]
    if layer.get("home") != home or not isinstance(stamps, list) or not isinstance(exists, list):
        return True
    try:
        return any(_changed(*stamp) for stamp in stamps) or not all(map(os.path.exists, exists))
    except (TypeError, ValueError):
        # A layer file that somebody edited: made anew.
        return True


def _changed(path: str, kind: str, value: object) -> bool:
    try:
        found = os.stat(path)
    except OSError:
        return value is not None
    if kind == "mtime":
        return found.st_mtime_ns != value
    return [found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino] != value
