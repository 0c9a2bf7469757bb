"""Why a stamp can lie, and how it is kept from doing so.

A file's times move in ticks of the kernel's clock (4 to 10 ms). A file that is changed in place
twice within one tick, at the same size, shows one stamp for two contents. A stamp is trusted
only if it was older than a tick when it was taken: any later change then shows.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

TICK_NS = 12_000_000


def now_ns() -> int:
    """Return the clock that the file system's times are compared with."""
    return time.time_ns()


def is_settled(changed_ns: int, read_ns: int) -> bool:
    """Tell whether a file's last change (its ctime) lay more than a tick before it was read."""
    return read_ns - changed_ns >= TICK_NS


def wait(paths: Iterable[str]) -> None:
    """Return when the last change of every path lies a tick back, after 12 ms at most."""
    wait_since(max((_changed_ns(path) for path in paths), default=0))


def wait_since(changed_ns: int) -> None:
    """Return when a change lies a tick back, after 12 ms at most: a clock may have been set."""
    age = time.time_ns() - changed_ns
    if age < TICK_NS:
        time.sleep(min(TICK_NS - age, TICK_NS) / 1e9)


def _changed_ns(path: str) -> int:
    try:
        return os.stat(path).st_ctime_ns
    except (OSError, ValueError):
        return 0
