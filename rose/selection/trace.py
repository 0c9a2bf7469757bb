"""The trace: one record a call of what was looked for, found, chosen, and put before whom.

The one writer and reader of `.rose/local/traces/selection.jsonl`. A record is only ever appended,
what becomes known later as a second one with the same id, and the oldest go when the file grows
too long. docs/store.md has the fields.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from rose import files, redact, refs, tail
from rose.errors import Locked, RoseError, Unwritable
from rose.routing import table
from rose.selection import index_file, session_id

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from rose.layout import Store
    from rose.selection.windows import Window
    from rose.store.lessons import Holding

    Row = Mapping[str, Any]

Kind = Literal["search", "evidence", "recall"]
Condition = Literal["retrieval", "no-retrieval"]
Failure = Literal[
    "bad-request",
    "search-failed",
    "selection-failed",
    "judge-failed",
    "nothing-eligible",
    "admission-refused",
    "consumer-failed",
    "output-invalid",
    "citation-unresolved",
]

SCHEMA = "rose.trace.v1"
# What a second record adds, whatever failed in the call itself.
BECAME = ("output", "citations", "later_failure")
# How far the listing of the latest looks back.
TAIL_BYTES = 4 << 20
# Beyond this the file is shortened to its newest half, and of a file too long to be read whole
# this much is read.
MOST_BYTES = 64 << 20
# A prompt waits for its record no longer than this.
LOCK_WAIT_S = 0.5
_SCHEMA = re.compile(r"rose\.trace\.v1(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A lesson that was looked at: its rank and score, and the part of it that was shown.

    `why` says what each feature gave of the score, where there are features.
    """

    node: str
    version: str
    rank: int
    score: float | None
    window: Window | None
    why: Mapping[str, float] = field(default_factory=dict)

    def as_json(self) -> dict[str, object]:
        shown = None if self.window is None else self.window._asdict()
        row: dict[str, object] = {
            "node": self.node,
            "version": self.version,
            "rank": self.rank,
            "score": self.score,
            "window": shown,
        }
        return {**row, "why": dict(self.why)} if self.why else row


@dataclass(frozen=True, slots=True)
class Record:
    """One call. `budget` holds the limits that it was made with, `text` what was injected.

    `looked` is what a fork that selected looked at. `output` and `citations` stay open until
    `conclude` fills them.
    """

    id: str
    at: str
    session: str
    kind: Kind
    query: str
    store: Mapping[str, object]
    condition: Condition = "retrieval"
    scope: Sequence[str] = ()
    budget: Mapping[str, object] = field(default_factory=dict)
    judge: str | None = None
    counter: str | None = None
    candidates: Sequence[Candidate] = ()
    selected: Sequence[Mapping[str, object]] = ()
    admitted: Sequence[Mapping[str, object]] = ()
    excluded: Sequence[Mapping[str, object]] = ()
    text: str = ""
    tokens: int = 0
    failure: Failure | None = None
    approval: Literal["not_requested", "requested", "approved", "declined"] = "not_requested"
    looked: Sequence[Mapping[str, object]] = ()
    output: None = None
    citations: None = None

    def as_json(self) -> dict[str, Any]:
        """Return the record as it is written: without what looks like a secret."""
        fields = asdict(replace(self, candidates=(), session=session_id.kept(self.session)))
        candidates = [candidate.as_json() for candidate in self.candidates]
        row: dict[str, Any] = redact.throughout({**fields, "candidates": candidates})
        if not self.looked:
            # Only a fork looks anywhere.
            del row["looked"]
        return {"schema": SCHEMA, **row}


def new_id() -> str:
    return f"t_{secrets.token_hex(6)}"


def state_of(holdings: Sequence[Holding]) -> dict[str, object]:
    """Return what a record says of the stores: a digest of their lessons, and their sizes."""
    digest = hashlib.sha256()
    lessons = rules = 0
    for holding in holdings:
        active = holding.shelf.active()
        digest.update(" ".join(index_file.parts_of(active)).encode())
        lessons += len(active)
        known = table.read(holding.store, holding.settings.lessons_paths).rules
        rules += sum(rule.status == "active" for rule in known)
    return {"digest": digest.hexdigest()[:16], "lessons": lessons, "rules": rules}


def append(store: Store, record: Record) -> None:
    """Write one record; raises Unwritable."""
    _append(store, record.as_json())


def _append(store: Store, row: Row) -> None:
    try:
        # Whoever shortens the file would lose what is appended meanwhile.
        with files.lock(store.selections_lock, LOCK_WAIT_S):
            files.append_line(store.selections, files.dump_json(row))
    except Locked as error:
        raise Unwritable(str(error)) from error


def conclude(
    store: Store,
    record: Row,
    at: str,
    output: Mapping[str, object] | None = None,
    citations: Sequence[str] | None = None,
    *,
    failure: Failure | None = None,
) -> None:
    """Write what became of a record: which of its lessons were opened and used, and cited.

    Being in a prompt, being cited and having helped are three things. `failure` is one that came
    afterwards. Raises Unwritable.
    """
    told = {"output": output, "citations": citations, "failure": failure}
    became = redact.throughout(told)
    _append(store, {"schema": SCHEMA, "id": record["id"], "at": at, **became})


def latest(store: Store, most: int) -> list[Row]:
    """Return the newest records of a store, oldest first, as `find` does."""
    return _joined(tail.rows(store.selections, TAIL_BYTES))[-most:]


def of_session(store: Store, session: str) -> list[Row]:
    """Return what recall left in one session, oldest first."""
    try:
        return [row for row in in_session(store, session) if row.get("kind") == "recall"]
    except OSError:
        # Nothing is known of the session then, which must not cost it its record.
        return []


def in_session(store: Store, session: str) -> list[Row]:
    """Return all that was recorded in one session, oldest first, with what became of it.

    Raises OSError where the file cannot be read.
    """
    kept = session_id.kept(session)
    data = tail.end(store.selections, MOST_BYTES)
    rows = _ours(tail.holding(data, [files.dump_json(kept)]))
    return [*_named(data, [row["id"] for row in rows if row.get("session") == kept]).values()]


def named(store: Store, ids: Collection[str]) -> dict[str, Row]:
    """Return the records of some ids, with what became of them; raises OSError."""
    return _named(tail.end(store.selections, MOST_BYTES) if ids else b"", ids)


def _named(data: bytes, ids: Collection[str]) -> dict[str, Row]:
    wanted = frozenset(ids)
    rows = _ours(tail.holding(data, [*map(files.dump_json, wanted)]))
    found = _joined(row for row in rows if row["id"] in wanted)
    return {row["id"]: row for row in found if is_readable(row) and "kind" in row}


def about(store: Store, nodes: Collection[str]) -> list[Row]:
    """Return at least the records that name any of some lessons; raises OSError."""
    data = tail.end(store.selections, MOST_BYTES) if nodes else b""
    rows = tail.holding(data, [files.dump_json(node) for node in nodes])
    return [*filter(is_readable, _joined(rows))]


def sessions(store: Store) -> frozenset[str]:
    """Return the ids of the sessions that left a record, as far as they can be read."""
    try:
        found = {row.get("session") for row in _rows(store)}
    except OSError:
        return frozenset()
    return frozenset(one for one in found if one and isinstance(one, str))


def find(stores: Sequence[Store], ref: str) -> Row:
    """Return the record that an id or an unambiguous part of one names, with what became of it.

    Raises RoseError, also where the record's schema is not the one that is read here.
    """
    places = {str(row["id"]): store for store in stores for row in _rows(store)}
    hint = "`rose trace` lists the latest."
    name = refs.choose(ref, refs.parts(ref, [*places]), [*places], noun="trace", hint=hint)
    found = _joined(row for row in _rows(places[name]) if row["id"] == name)
    if not found:
        raise RoseError(f"Of {name} only what became of it is left.")
    if not is_readable(found[0]):
        raise RoseError(f"{name} has the schema {found[0]['schema']!r}; this rose reads {SCHEMA}.")
    return found[0]


def shorten(store: Store, wait_s: float | None = None) -> None:
    """Drop the oldest records of a file beyond its limit; raises OSError, Locked, Unwritable."""
    if not _is_longer(store, MOST_BYTES):
        return
    with files.lock(store.selections_lock, wait_s):
        # The first line is a cut one.
        kept = tail.end(store.selections, MOST_BYTES // 2).partition(b"\n")[2]
        files.replace(store.selections, kept)


def _is_longer(store: Store, most: int) -> bool:
    try:
        return os.path.getsize(store.selections) > most
    except OSError:
        # There is none yet, or whoever reads it says why it cannot be read.
        return False


def _rows(store: Store) -> Iterator[Row]:
    if _is_longer(store, files.MOST_BYTES):
        return _ours(tail.rows(store.selections, MOST_BYTES))
    return _ours(row for _, row in files.read_jsonl(store.selections))


def _joined(rows: Iterable[Row]) -> list[Row]:
    known: dict[str, dict[str, Any]] = {}
    for row in _ours(rows):
        name = row["id"]
        if "kind" in row:
            known.setdefault(name, {}).update({**row, **_told(known.get(name, {}))})
        else:
            # A failure that came afterwards leaves the one of the call as it is.
            later = {"later_failure": row.get("failure")}
            known.setdefault(name, {**row}).update({**_told(row), **later})
    return [row for row in known.values() if "kind" in row or not is_readable(row)]


def _ours(rows: Iterable[Row]) -> Iterator[Row]:
    for row in rows:
        if isinstance(row.get("id"), str) and str(row.get("schema")).startswith("rose.trace."):
            yield row


def _told(row: Row) -> dict[str, Any]:
    return {name: row[name] for name in ("output", "citations") if row.get(name) is not None}


def is_readable(row: Row) -> bool:
    """Tell whether a record is of the schema's major version that is written here."""
    return _SCHEMA.fullmatch(str(row.get("schema"))) is not None


def items(row: Row, name: str) -> list[dict[str, Any]]:
    """Return the objects of one of a record's lists, whatever somebody made of the file."""
    value = row.get(name)
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
