"""Small real things for tests: a store, a lesson file, a rule file."""

from __future__ import annotations

import itertools
import os

from rose import files, layout, refresh, trust, yamltext
from rose.routing import ledger

_numbers = itertools.count(1)


def a_store(tmp_path, name: str = "repo") -> layout.Store:
    """Return a project store with its folders, and no lesson and no rule."""
    store = layout.project_store(os.path.join(os.path.realpath(tmp_path), name))
    os.makedirs(store.routing)
    os.makedirs(os.path.join(store.base, "nodes"))
    return store


def a_lesson_file(store: layout.Store, path: str, text: str = "# A lesson\n\nBody.\n") -> str:
    """Write a lesson below the store's base and return its full path."""
    full = os.path.join(store.base, path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, "w", encoding="utf-8", newline="") as stream:
        stream.write(text)
    return full


def a_rule_file(store: layout.Store, **fields: object) -> str:
    """Write a rule file with plain defaults and return the rule's id."""
    rule_id = str(fields.pop("id", f"r_{next(_numbers):06x}"))
    known = {"id": rule_id, "when": "the task is a test", "then": "read nodes/testing/", **fields}
    os.makedirs(store.routing, exist_ok=True)
    path = os.path.join(store.routing, f"{rule_id}.md")
    with open(path, "w", encoding="utf-8", newline="") as stream:
        stream.write(f"---\n{yamltext.dump(known)}---\nWhy.\n")
    return rule_id


def a_ledger_line(store: layout.Store, make) -> int:
    """Append one line to a store's ledger, as a reflection does, and return its n."""
    with files.lock(store.lock):
        return ledger.append_locked(store, "local", make)


def a_library(tmp_path) -> layout.Store:
    """Return a store of three lessons: two about the tests, one about deploying."""
    store = a_store(tmp_path)
    a_lesson_file(store, "nodes/testing/db.md", "# Database\n\nThe tests need port 5432.\n")
    a_lesson_file(store, "nodes/testing/slow.md", "# Slow tests\n\nRun the database tests last.\n")
    a_lesson_file(store, "nodes/deploy/canary.md", "# Canary\n\nShip to one host, then wait.\n")
    return store


def a_served_store(tmp_path) -> layout.Store:
    """Return a trusted store whose compiled layer holds one rule, r_0000aa."""
    store = a_store(tmp_path)
    a_lesson_file(store, "nodes/testing/db.md", "# Database\n\nExport `APP_DB_URL` first.\n")
    a_rule_file(store, id="r_0000aa", when="the task runs the tests", then="read nodes/testing/")
    refresh.everything(layout.Stores(store, None, ""))
    trust.add(store, os.environ)
    return store
