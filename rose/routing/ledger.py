"""The ledger on disk: one append-only file per writer, read through a snapshot of folded lines.

The snapshot holds, per file, how many bytes it covers and their digest. A file that only grew is
parsed from there on; a file that was rewritten is read again. Deleting it changes no result.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from rose import derived, files
from rose.errors import Unwritable
from rose.routing.cases import VERSION, Heap, Line, Record

if TYPE_CHECKING:
    from rose.layout import Store

# A snapshot is written again when this much lies behind it: less is parsed in a few milliseconds.
SNAPSHOT_AFTER_BYTES = 200_000
MOST_LINE_BYTES = 1 << 20
_WRITER = re.compile(r"[0-9a-f]{12}")


def folders(store: Store) -> list[str]:
    """Return both places of a store's ledger: what was written before a switch still counts."""
    return [store.ledger("local"), store.ledger("commit")]


def read(store: Store, *, cache: bool = True) -> Record:
    """Return the folded record of a store.

    Files that cannot be read count as absent; torn and foreign lines are counted.
    """
    rows = derived.load(store.ledger_cache).get("files") if cache else None
    known = rows if isinstance(rows, dict) else {}
    heap = Heap()
    covered: dict[str, tuple[bytes, Heap]] = {}
    behind = 0
    for path in _files(folders(store)):
        try:
            raw = files.read_bytes(path)
        except OSError:
            # Ledgers that can be read count; the next reading takes this one in.
            continue
        whole = raw.rfind(b"\n") + 1
        part, start = _from_snapshot(known.get(path), raw)
        for line in raw[start:whole].split(b"\n"):
            _take(part, line)
        behind += whole - start
        covered[path] = raw[:whole], part
        heap.merge(part)
        _take(heap, raw[whole:])
    if cache and behind > SNAPSHOT_AFTER_BYTES:
        fields = {path: _row(*cover) for path, cover in covered.items()}
        derived.save(store.ledger_cache, {"files": fields})
    return heap.record()


def stamps(store: Store) -> list[list[object]]:
    """Return the ledger's files with their stamps: equal ones hold the same lines."""
    return [[path, files.stat_stamp(path)] for path in _files(folders(store))]


def _files(places: Sequence[str]) -> list[str]:
    found = []
    for folder in places:
        try:
            names = os.listdir(folder)
        except OSError:
            # No ledger here yet, or none that can be read.
            continue
        found += [os.path.join(folder, name) for name in sorted(names) if name.endswith(".jsonl")]
    return found


def _take(heap: Heap, raw: bytes) -> None:
    if not raw.strip():
        return
    if len(raw) > MOST_LINE_BYTES:
        heap.foreign += 1
        return
    try:
        value = files.parse_json(raw.decode("utf-8"))
    except ValueError:
        heap.foreign += 1
    else:
        heap.add(value)


def _digest(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def _row(covered: bytes, part: Heap) -> dict[str, object]:
    return {
        "size": len(covered),
        "digest": _digest(covered),
        "lines": part.lines,
        "undone": part.undone,
        "n": part.greatest_n,
        "foreign": part.foreign,
    }


def _from_snapshot(row: object, raw: bytes) -> tuple[Heap, int]:
    """Return the folded lines that a snapshot holds of a file, and where its cover ends."""
    if not isinstance(row, Mapping):
        return Heap(), 0
    size, n, foreign = row.get("size"), row.get("n"), row.get("foreign")
    lines, undone = row.get("lines"), row.get("undone")
    if not (isinstance(size, int) and isinstance(n, int) and isinstance(foreign, int)):
        return Heap(), 0
    if not (isinstance(lines, dict) and isinstance(undone, dict)):
        return Heap(), 0
    sound = all(isinstance(of_session, list) for of_session in lines.values())
    sound = sound and all(isinstance(mark, int) for mark in undone.values())
    if not sound or not 0 <= size <= len(raw) or _digest(raw[:size]) != row.get("digest"):
        return Heap(), 0
    return Heap(lines, undone, n, foreign), size


def append_locked(store: Store, share: str, make: Callable[[int], Line]) -> int:
    """Append the line that `make` returns for the next n, and return n.

    The caller holds the store's lock. Raises Unwritable, and then nothing was recorded.
    """
    n = read(store).next_n
    path = os.path.join(store.ledger(share), writer_name(store) + ".jsonl")
    files.append_line(path, files.dump_json({**make(n), "n": n}))
    return n


def undo_locked(store: Store, share: str, session: str) -> int:
    """Take back what is recorded of a session so far; a later reflection counts again."""
    return append_locked(
        store, share, lambda n: {"v": VERSION, "session": session, "n": n, "undone": True}
    )


def writer_name(store: Store) -> str:
    """Return this clone's random name, made on first use; the caller holds the lock.

    Raises Unwritable.
    """
    try:
        name = files.read_text(store.writer).strip()
    except (FileNotFoundError, ValueError):
        name = ""
    except OSError as error:
        raise Unwritable(f"{store.writer}: not read: {error.strerror or error}.") from error
    if _WRITER.fullmatch(name) is None:
        # None yet, or a person edited it. Lines of an old name stay where they are and count.
        name = secrets.token_hex(6)
        files.replace(store.writer, name + "\n")
    return name
