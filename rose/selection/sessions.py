"""Which session a reference means, among those that left a record or turned something down."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rose import refs
from rose.selection import rejection_page, session_id, trace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rose.layout import Store

HINT = "`rose trace` and `rose rejected` list those that are known."


def resolve(stores: Sequence[Store], ref: str) -> str:
    """Return the session that an id or an unambiguous beginning of one names; raises RoseError."""
    wanted, found = session_id.kept(ref), known(stores)
    readings = refs.beginnings(wanted, found)
    return refs.choose(wanted, readings, found, noun="session", hint=HINT)


def of_new(stores: Sequence[Store], ref: str) -> str:
    """Return the same, or the reference itself where it is the id of a session yet unknown."""
    found = known(stores)
    is_new = not any(refs.beginnings(session_id.kept(ref), found))
    return ref if is_new else resolve(stores, ref)


def known(stores: Sequence[Store]) -> list[str]:
    """Return the ids of the sessions that left anything in some stores."""
    ids = {session_id.kept(one) for store in stores for one in trace.sessions(store)}
    ids |= {row.session for store in stores for row in rejection_page.read(store).rows}
    return sorted(filter(None, ids))
