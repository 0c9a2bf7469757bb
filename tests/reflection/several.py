"""A reflection that did all that one can do to files, made by hand: no model is asked."""

from __future__ import annotations

import os

from rose import files, layout, refresh
from rose.reflection import notes, rows
from rose.routing import ledger, table
from rose.store import write
from tests import factories

SESSION = "5e551011-0000-4000-8000-0000000000aa"
NAME = layout.session_name("claude-code", SESSION)
AT = "2026-11-30T12:00:00Z"
LESSON = "nodes/learned/queue.md"
ADDED, REWORDED, KEPT, MERGED, RETIRED = (f"r_0000a{number}" for number in range(5))
TOUCHED = (ADDED, REWORDED, KEPT, MERGED, RETIRED)


def standing_rules(store) -> None:
    """Write the rules that stand before the reflection."""
    for rule_id in TOUCHED[1:]:
        then = "read nodes/testing/integration-db.md"
        factories.a_rule_file(store, id=rule_id, when=f"the task is {rule_id}", then=then)


def reflect(stores) -> notes.Note:
    """Add, reword, merge and retire rules and store a lesson, as one session's reflection."""
    store = stores.first()
    roots = ("nodes",)
    with files.lock(store.lock):
        n = ledger.read(store).next_n
        note = notes.Note(NAME, SESSION, "claude-code", n, AT, {})
        begun = notes.begin(store, note, TOUCHED, [LESSON])
        write.put_locked(store, LESSON, "# The queue\n\nRestart it with `make queue`.")
        factories.a_rule_file(store, id=ADDED, when="the task restarts the queue")
        table.update(store, REWORDED, {"when": "the task is reworded"}, roots)
        table.update(store, KEPT, {"when": "the task is either of two"}, roots)
        for rule_id in (MERGED, RETIRED):
            table.update(store, rule_id, {"status": "retired"}, roots)
        finished = notes.finish(store, begun)
        rows.write(store, NAME, ["row-1"])
        line = {"v": 1, "session": SESSION, "rows": 3, "kinds": [], "sent": [], "at": AT}
        ledger.append_locked(store, "local", lambda _: line)
    refresh.everything(stores)
    return finished


def tree(store) -> dict[str, bytes]:
    """Return what a reflection may change: rules, lessons, undo notes, credited rows."""
    found = {}
    for top in (store.routing, os.path.join(store.base, "nodes"), store.undo, store.sessions):
        for folder, _, names in os.walk(top):
            # What a killed write leaves is cleared away a day later (rose.reflection.prune).
            for name in (name for name in names if not name.endswith(".tmp")):
                path = os.path.join(folder, name)
                found[os.path.relpath(path, store.base)] = files.read_bytes(path)
    return found
