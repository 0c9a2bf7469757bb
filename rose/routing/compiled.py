"""Reads the compiled layer and tells whether it is stale; `routing.compile` writes it.

The stamp is cheap, not complete: docs/store.md says what it can miss and what catches it.
On the prompt hook's path.
"""

from __future__ import annotations

import os

from rose import files, layout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from rose.layout import Stores

VERSION = 2
FIELDS = (
    ("block", str),
    ("encoded", str),
    ("digest", str),
    ("revision", str),
    ("repeat", str),
    ("recall", str),
    ("rules", list),
    ("stamps", list),
    ("exists", list),
    ("stores", list),
)
MOST_BYTES = 1 << 20
# A host cuts a longer text, and what it makes of the rest is no longer the layer.
MOST_CHARS = 10_000


def read(path: str) -> dict[str, object] | None:
    """Return the compiled layer, None where there is none that this version can read."""
    try:
        layer = files.parse_json(files.read_bytes(path, MOST_BYTES).decode("ascii"))
    except (OSError, ValueError):
        return None
    if not isinstance(layer, dict) or layer.get("v") != VERSION:
        return None
    if not all(isinstance(layer.get(name), kind) for name, kind in FIELDS):
        return None
    return layer if _is_sound(layer) else None


def _is_sound(layer: Mapping[str, object]) -> bool:
    """Tell whether what is printed as it stands is the block and nothing else."""
    block, encoded = str(layer["block"]), str(layer["encoded"])
    try:
        same = encoded.isascii() and files.parse_json(encoded) == block
    except ValueError:
        return False
    digest = layout.digest(block)[:16]
    is_ours = digest == layer["digest"] and bool(layer["stamps"])
    return same and is_ours and len(block) <= MOST_CHARS


def fresh(stores: Stores) -> dict[str, object] | None:
    """Return the compiled layer of the present stores, None where there is none or it is stale."""
    layer = read(stores.first().layer)
    return None if layer is None or is_stale(layer, stores) else layer


def is_stale(layer: Mapping[str, object], stores: Stores) -> bool:
    """Tell whether something that the layer was made from has changed since.

    It is made of all present stores, so a copied project or a new home store makes it stale.
    """
    stamps, exists = layer["stamps"], layer["exists"]
    if layer["stores"] != [store.dot for store in stores.present()]:
        return True
    if not isinstance(stamps, list) or not isinstance(exists, list):
        return True
    if not stamps or stamps[0][:1] != [stores.first().routing]:
        # Not stamps of these stores: a layer that was not compiled here.
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
