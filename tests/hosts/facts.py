"""The facts of a transcript that the golden files pin."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import asdict

from rose.hosts import registry
from rose.hosts.base import Boundary, Call, Injection, Prompt

_SHOWN = 6
_CUT = 100


def facts(path: str) -> dict[str, object]:
    """Return a transcript's head, counts, first events and the digest of all of them."""
    transcript = registry.open_transcript(path)
    events = list(transcript.events())
    digest = hashlib.sha256()
    for event in events:
        digest.update(repr(event).encode() + b"\n")
    return {
        "head": asdict(transcript.head()),
        "tally": asdict(transcript.tally),
        "counts": dict(sorted(Counter(type(event).__name__ for event in events).items())),
        "turns": max((event.turn for event in events), default=0),
        "own_rows": len(transcript.uuids()),
        "prompts": [e.text[:_CUT] for e in events if isinstance(e, Prompt)],
        "boundaries": [[e.turn, e.kind] for e in events if isinstance(e, Boundary)],
        "injections": [
            [e.turn, e.event, e.agent, e.text[:_CUT]] for e in events if isinstance(e, Injection)
        ][:_SHOWN],
        "calls": [_call(e) for e in events if isinstance(e, Call)][:_SHOWN],
        "failed": sum(e.failed for e in events if isinstance(e, Call)),
        "foreign": sum(e.foreign for e in events if isinstance(e, Call)),
        "agents": sorted({e.agent for e in events if isinstance(e, Call) and e.agent}),
        "sha256": digest.hexdigest(),
    }


def _call(event: Call) -> dict[str, object]:
    return {
        "order": event.order,
        "name": event.name,
        "command": event.command and event.command[:_CUT],
        "paths": list(event.paths),
        "failed": event.failed,
        "result": event.result[:_CUT],
    }
