"""Which lessons a session was shown: what a skip rule of reflection's may turn down.

Opened or listed: a skip rule says that lessons do not apply to a kind of task, which their names
may show. What a session never met it cannot turn down.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rose.hosts import registry
from rose.reflection import delivery
from rose.reflection.observe import observe

if TYPE_CHECKING:
    from rose.reflection.observe import Facts
    from rose.store.lessons import Holding


def of_facts(facts: Facts, kind: str) -> frozenset[str]:
    """Return the store paths, in a store of a kind, of what an observed session was shown."""
    seen = [*(found.lesson for found in facts.opened), *facts.listed]
    return frozenset(lesson.path for lesson in seen if lesson.store == kind)


def of_transcript(path: str, holding: Holding) -> frozenset[str]:
    """Return the same for a transcript that nobody observed yet; raises RoseError."""
    facts = observe(registry.open_transcript(path), [holding], [], delivery.Sent())
    return of_facts(facts, holding.store.kind)
