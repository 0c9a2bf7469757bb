"""Compiles the layer: surveys the stores and writes the block, ready to print, with its stamps.

The prompt hook reads what is written here through `routing.compiled`, which owns the format.
Stamps are taken before anything is read, so that a change in between makes them stale.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from rose import files, layout, racy
from rose.backends import options
from rose.errors import Unwritable
from rose.routing import compiled
from rose.routing.survey import Ground, Survey, survey

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rose.layout import Store, Stores

MAX_STAMPED = 256


def compile_layer(stores: Stores, grounds: Sequence[Ground], *, exact: bool) -> dict[str, object]:
    """Write the compiled layer of the present stores and return it.

    The result says whether it was `written` and, if not, the `reason`. Raises NoStore.
    """
    first = stores.first()
    watched = _watched(grounds)
    racy.wait(watched)
    stamps = _folder_stamps(watched)
    found = survey(grounds, exact=exact)
    newest = _newest(found)
    if not racy.is_settled(newest, racy.now_ns()):
        # A rule was edited in place within this tick: its stamp may show an older content.
        racy.wait_since(newest)
        stamps = _folder_stamps(watched)
        found = survey(grounds, exact=exact)
    layer = _layer(found, stamps + _rule_stamps(found))
    unread = sum(rows.unread for rows in found.tables)
    if unread:
        # No folder has this time, so the layer is stale and the next prompt reads on.
        layer["stamps"] = [[stores.first().routing, "mtime", -1]]
    layer["repeat"] = grounds[0].settings.routing_repeat
    layer["recall"] = _recall(grounds)
    layer["stores"] = [store.dot for store in stores.present()]
    reason = _write(first, layer)
    # Not in the file: the hook parses that on every prompt, whatever the number of rules.
    outcome = {"waiting": found.waiting(), "unread": unread}
    return {**layer, **outcome, "written": not reason, "reason": reason}


def _recall(grounds: Sequence[Ground]) -> str:
    """Return what a prompt is given beside the layer; `off` loads nothing more for it.

    Whom a person trusts shows in no stamp. So each store counts as trusted, and the prompt that
    is to be served asks again.
    """
    settings = grounds[0].settings
    is_on = settings.routing_enabled and settings.recall_max_tokens > 0
    if not is_on or options.agent_selects([one.store for one in grounds], lambda _: True):
        return "off"
    return settings.recall_serve


def _watched(grounds: Sequence[Ground]) -> list[str]:
    """Return the folders and files whose mtime shows that a rule, the ledger or a setting moved."""
    return [
        path
        for ground in grounds
        for path in (
            ground.store.routing,
            ground.store.ledger(ground.settings.ledger_share),
            ground.store.config,
        )
    ]


def _folder_stamps(paths: Sequence[str]) -> list[list[Any]]:
    found = [(path, files.stat_stamp(path)) for path in paths]
    return [[path, "mtime", None if stamp is None else stamp[0]] for path, stamp in found]


def _rule_stamps(found: Survey) -> list[list[Any]]:
    """Return the stamps of all rule files, or of the layer's alone where there are too many."""
    stamps = {path: stamp for rows in found.tables for path, stamp in rows.stamps.items()}
    if len(stamps) > MAX_STAMPED:
        kept = {place.rule.path for place in found.kept()}
        stamps = {path: stamp for path, stamp in stamps.items() if path in kept}
    return [[path, "full", stamp] for path, stamp in stamps.items()]


def _newest(found: Survey) -> int:
    return max((stamp[1] for rows in found.tables for stamp in rows.stamps.values()), default=0)


def _layer(found: Survey, stamps: list[list[Any]]) -> dict[str, object]:
    kept = found.kept() if found.block else []
    active = sorted(place.text for place in found.places if place.rule.status == "active")
    witnesses = (place.witness for place in kept if place.witness is not None)
    return {
        "v": compiled.VERSION,
        "block": found.block,
        "encoded": json.dumps(found.block),
        "digest": _digest(found.block),
        "revision": _digest("\n".join(active)),
        "rules": [place.rule.id for place in kept],
        "tokens": found.tokens,
        "counter": found.counter,
        "stamps": stamps,
        "exists": list(dict.fromkeys(witnesses)),
    }


def _digest(text: str) -> str:
    return layout.digest(text)[:16]


def _write(first: Store, layer: Mapping[str, object]) -> str:
    """Write the block under its digest, then the layer; return why it was not written, if so."""
    block = first.block(str(layer["digest"]))
    try:
        if layer["block"] and not os.path.exists(block):
            files.replace(block, str(layer["block"]))
        files.replace(first.layer, files.dump_json(layer))
    except Unwritable as error:
        return str(error)
    return ""
