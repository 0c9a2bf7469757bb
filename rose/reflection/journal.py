"""The log of what changed rules: reflections, what was undone, carried along, decided by a person.

All of it is one file, `.rose/local/traces/reflect.jsonl`, so that what became of a rule can be told
in order. A trace is no record: where the disk refuses it, nothing else fails.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rose import files, tail
from rose.errors import Unwritable
from rose.reflection import delivery, gates

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rose.layout import Store
    from rose.reflection.delivery import Arrival
    from rose.reflection.gates import Gate

VERSION = 1
# A reflection leaves about a thousand bytes, with a model several times that: the latest ones.
LATELY_BYTES = 1 << 18


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the log; what is absent or of another type is empty.

    `carried` holds rule, old and new target. `arrivals` is None where nothing is said of them.
    """

    at: str
    session: str
    host: str
    n: int
    operations: tuple[Mapping[str, object], ...]
    retired: tuple[Mapping[str, object], ...]
    lessons: tuple[Mapping[str, object], ...]
    gates: tuple[Gate, ...]
    arrivals: tuple[Arrival, ...] | None
    by: str
    asked: Mapping[str, object]
    failed: Mapping[str, object]
    is_undone: bool
    left: tuple[str, ...]
    carried: tuple[tuple[str, str, str], ...]
    decided: str
    rules: tuple[str, ...]


def reflected(store: Store, fields: Mapping[str, object]) -> None:
    """Note what a reflection found and changed, or why it could not."""
    _write(store, fields)


def undone(store: Store, session: str, n: int, left: Sequence[str], at: str) -> None:
    """Note that a reflection was taken back, but for what was left."""
    _write(store, {"at": at, "session": session, "n": n, "undone": True, "left": list(left)})


def carried(store: Store, moves: Mapping[str, Mapping[str, str]], at: str) -> None:
    """Note which rules followed their lessons: new targets by old ones, by rule."""
    _write(store, {"at": at, "carried": {rule: dict(paths) for rule, paths in moves.items()}})


def decided(store: Store, action: str, rules: Sequence[str], at: str) -> None:
    """Note what a person decided: teach, forget, restore, approve or decline."""
    _write(store, {"at": at, "decided": action, "rules": list(rules)})


def _write(store: Store, fields: Mapping[str, object]) -> None:
    with contextlib.suppress(Unwritable):
        files.append_line(store.trace, files.dump_json({"v": VERSION, **fields}))


def read(store: Store, most_bytes: int = LATELY_BYTES) -> Iterator[Line]:
    """Yield the end of a store's log, oldest first; nothing where it cannot be read."""
    with contextlib.suppress(OSError):
        for fields in tail.rows(store.trace, most_bytes):
            yield line_of(fields)


def line_of(fields: Mapping[str, object]) -> Line:
    """Return a line of the log as what it says."""
    n, arrivals = fields.get("n"), delivery.from_json(fields.get("arrivals"))
    return Line(
        at=_text(fields.get("at")),
        session=_text(fields.get("session")),
        host=_text(fields.get("host")),
        n=n if isinstance(n, int) else 0,
        operations=_mappings(fields.get("operations")),
        retired=_mappings(fields.get("retired")),
        lessons=_mappings(fields.get("lessons")),
        gates=tuple(filter(None, map(gates.from_json, _mappings(fields.get("gates"))))),
        arrivals=None if arrivals is None else tuple(arrivals),
        by=_text(fields.get("by")),
        asked=_mapping(fields.get("asked")),
        failed=_mapping(fields.get("failed")),
        is_undone=fields.get("undone") is True,
        left=_texts(fields.get("left")),
        carried=tuple(
            (str(rule), str(old), str(new))
            for rule, paths in _mapping(fields.get("carried")).items()
            for old, new in _mapping(paths).items()
        ),
        decided=_text(fields.get("decided")),
        rules=_texts(fields.get("rules")),
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _texts(value: object) -> tuple[str, ...]:
    items = value if isinstance(value, list) else []
    return tuple(item for item in items if isinstance(item, str))


def _mappings(value: object) -> tuple[Mapping[str, object], ...]:
    items = value if isinstance(value, list) else []
    return tuple(item for item in items if isinstance(item, Mapping))
