"""References: the one way in which an id may be shortened, for lessons, rules and sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rose.errors import RoseError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MAX_CANDIDATES = 5
MAX_CHARS = 200
# Shorter parts are too easily typed by mistake for a command that deletes.
MIN_PART = 2


def choose(
    ref: str, readings: Iterable[Sequence[str]], known: Sequence[str], *, noun: str, hint: str
) -> str:
    """Return the one id that a reference means by its first reading that means any.

    Raises RoseError with up to five candidates, or with the hint where nothing is like it.
    """
    for reading in readings:
        distinct = sorted(set(reading))
        if len(distinct) == 1:
            return distinct[0]
        if distinct:
            raise RoseError(f"{_shown(ref)} names several {noun}s: {_listed(distinct)}.")
    near = _near(ref, known)
    said = f"Did you mean {_listed(near)}?" if near else hint
    raise RoseError(f"No {noun} {_shown(ref)}. {said}")


def parts(ref: str, known: Sequence[str]) -> list[list[str]]:
    """Return the readings of a reference: the id itself, else every id that contains it."""
    exact = [name for name in known if name == ref]
    return [exact, _containing(ref, known) if len(ref) >= MIN_PART else []]


def beginnings(ref: str, known: Sequence[str]) -> list[list[str]]:
    """Return the readings of a reference that may be the id itself or the beginning of it."""
    exact = [name for name in known if name == ref]
    return [exact, [name for name in known if len(ref) >= MIN_PART and name.startswith(ref)]]


def _containing(ref: str, known: Sequence[str]) -> list[str]:
    return [name for name in known if ref and ref.casefold() in name.casefold()]


def _near(ref: str, known: Sequence[str]) -> list[str]:
    import difflib

    close = difflib.get_close_matches(ref[:MAX_CHARS], known, n=MAX_CANDIDATES)
    return list(dict.fromkeys([*sorted(_containing(ref, known)), *close]))


def _listed(names: Sequence[str]) -> str:
    more = ", …" if len(names) > MAX_CANDIDATES else ""
    return ", ".join(names[:MAX_CANDIDATES]) + more


def _shown(ref: str) -> str:
    return repr(ref if len(ref) <= MAX_CHARS else ref[:MAX_CHARS] + "…")
