"""Lessons, and rules as the offline reflector words them."""

from __future__ import annotations

from rose.reflection import offline
from rose.routing import features
from rose.routing.rules import Rule
from rose.store.lessons import Lesson

DB = "nodes/testing/db.md"


def name_of(path):
    return path.removeprefix("nodes/").removesuffix(".md")


def a_lesson(path, title=""):
    name = name_of(path)
    return Lesson(
        name, path, title or name, "", (), "active", "", "", (), "", "v", "project", "nodes"
    )


def a_rule(**fields):
    known = {
        "id": "r_000001",
        "match": ("word:suite",),
        "targets": (DB,),
        "origin": "reflection",
        **fields,
    }
    known.setdefault("when", features.when_from_match(known["match"]))
    known.setdefault("then", offline.then_of(known["targets"]))
    return Rule(**known)
