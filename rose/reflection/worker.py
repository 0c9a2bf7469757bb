"""The worker: takes the sessions in the queue one after the other, each at most three times.

One session that cannot be read never keeps the others waiting, and none is dropped in silence:
its reason stays in the queue.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rose.errors import RoseError
from rose.reflection import prune, queue
from rose.reflection.reflect import Outcome, reflect_on

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rose.layout import Stores


@dataclass(frozen=True, slots=True)
class Failure:
    """A session that could not be reflected on this time, and why."""

    session: str
    reason: str


@dataclass(frozen=True, slots=True)
class Summary:
    """What one run of the worker did."""

    outcomes: tuple[Outcome, ...] = ()
    failures: tuple[Failure, ...] = ()
    untold: tuple[str, ...] = ()


def run_pending(
    stores: Stores, *, now: Callable[[], float], at: Callable[[], str], wait_s: float
) -> Summary:
    """Work the queue of the first store until nothing is open, and return what was done.

    `now` is the time in seconds for leases, `at` as it is recorded. Raises Locked where another
    worker is at it, for a caller who wants to say so.
    """
    store = stores.first()
    done: set[str] = set()
    outcomes: list[Outcome] = []
    failures: list[Failure] = []
    untold: list[str] = []
    with queue.working_lock(store, wait_s):
        while (claimed := queue.claim(store, now(), done)) is not None:
            session = str(claimed["session"])
            done.add(session)
            if not claimed["transcript"]:
                # The host kept no transcript: there is nothing that could be learned from.
                untold.append(session)
                queue.finish(store, claimed)
                continue
            try:
                outcomes.append(_reflect(stores, claimed, at()))
            except Exception as error:  # noqa: BLE001 - one bad transcript must not stop the others
                reason = str(error) if isinstance(error, RoseError) else _named(error)
                failures.append(Failure(session, reason))
                queue.give_back(store, claimed, reason)
            else:
                queue.finish(store, claimed)
        for present in stores.present():
            prune.prune(present, now())
    return Summary(tuple(outcomes), tuple(failures), tuple(untold))


def _reflect(stores: Stores, claimed: Mapping[str, object], at: str) -> Outcome:
    return reflect_on(stores, str(claimed["transcript"]), at=at, host=str(claimed["host"]))


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
