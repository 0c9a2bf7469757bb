"""The worker: takes the sessions in the queue one after the other, each at most three times.

One session that cannot be read never keeps the others waiting, and none is dropped in silence:
its reason stays in the queue. Only where its transcript is gone too is it dropped, and said.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rose import config, redact, refresh
from rose.errors import RoseError
from rose.reflection import prune, queue, recalls
from rose.reflection.reflect import Outcome, reflect_on
from rose.selection import learned
from rose.store import lessons

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from rose.layout import Store, Stores
    from rose.reflection.ask import Reflector


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
    gone: tuple[Failure, ...] = ()


@contextmanager
def _turn(store: Store, wait_s: float) -> Iterator[None]:
    """Hold the worker's lock; raises Locked at once where another worker waits for it already."""
    with ExitStack() as held:
        with queue.next_lock(store):
            held.enter_context(queue.working_lock(store, wait_s))
        yield


def run_pending(
    stores: Stores,
    *,
    now: Callable[[], float],
    at: Callable[[], str],
    wait_s: float,
    early: bool = False,
    reflector: Reflector | None = None,
) -> Summary:
    """Work the queue of the first store until nothing is open, and return what was done.

    `now` is the time in seconds for leases, `at` as it is recorded, `early` as in `queue.claim`,
    `reflector` says which model is asked; where its last try fails too, what was observed counts.
    The derived files are brought up to date first: a prompt that had no time for that starts a
    worker too. Raises Locked where other workers are at it.
    """
    store = stores.first()
    done: set[str] = set()
    outcomes: list[Outcome] = []
    failures: list[Failure] = []
    untold: list[str] = []
    learns = config.read(store)[0].routing_enabled
    with _turn(store, wait_s):
        given_up = _failed(store)
        refresh.everything(stores)
        while (claimed := queue.claim(store, now(), done, early=early)) is not None:
            session = str(claimed["session"])
            done.add(session)
            if not (claimed["transcript"] and learns):
                # No transcript was kept, or rose is off for the project: nothing to learn from.
                untold.append(session)
                queue.finish(store, claimed)
                continue
            try:
                outcomes.append(_reflect(stores, claimed, at(), reflector))
            except Exception as error:  # noqa: BLE001 - one bad transcript must not stop the others
                reason = str(error) if isinstance(error, RoseError) else _named(error)
                failures.append(Failure(session, reason))
                queue.give_back(store, claimed, redact.redact(reason), now())
            else:
                queue.finish(store, claimed)
        gone = _give_up(store, _failed(store) - given_up, at())
        _tidy(stores, now())
    dropped = {failure.session for failure in gone}
    failures = [failure for failure in failures if failure.session not in dropped]
    return Summary(tuple(outcomes), tuple(failures), tuple(untold), tuple(gone))


def _give_up(store: Store, sessions: frozenset[str], at: str) -> list[Failure]:
    """Say in the records of some sessions that nobody learns of them, and return what is dropped.

    That are the failed sessions whose transcript is gone.
    """
    for session in sessions:
        recalls.give_up(store, session, at)
    return [
        Failure(str(entry["session"]), f"the transcript is gone: {entry['transcript']}")
        for entry in queue.take_gone(store)
    ]


def _failed(store: Store) -> frozenset[str]:
    """Return the sessions that are not tried again."""
    entries = queue.entries(store)
    return frozenset(str(entry["session"]) for entry in entries if entry["state"] == "failed")


def _tidy(stores: Stores, now: float) -> None:
    """Clear away what is old, and learn for the next prompt where prompts are served lessons."""
    for present in stores.present():
        prune.prune(present, now)
    if config.read(stores.first())[0].recall_serve != "off":
        learned.relearn([lessons.hold(present) for present in stores.present()])


def _reflect(
    stores: Stores, claimed: Mapping[str, object], at: str, reflector: Reflector | None
) -> Outcome:
    if reflector is not None:
        is_last = claimed["tries"] == queue.MAX_TRIES
        reflector = replace(reflector, on_failure="observe" if is_last else "retry")
    path, host = str(claimed["transcript"]), str(claimed["host"])
    return reflect_on(stores, path, at=at, host=host, reflector=reflector)


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
