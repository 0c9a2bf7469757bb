"""Draws a progress bar on a terminal that can show one, and nothing anywhere else."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def can_draw() -> bool:
    """Tell whether standard error is a terminal that can take back what it shows."""
    return sys.stderr.isatty() and os.environ.get("TERM", "") not in ("dumb", "unknown")


@contextlib.contextmanager
def bar(task: str, *, least: int = 0) -> Iterator[Callable[[int, int], None]]:
    """Give what draws so many of a total, from its first call on; a total up to `least` is none."""
    drawn: Any = None

    def show(done: int, total: int) -> None:
        nonlocal drawn
        if total <= least or not can_draw():
            return
        if drawn is None:
            from rich.console import Console
            from rich.progress import Progress

            drawn = Progress(console=Console(stderr=True), transient=True)
            drawn.start()
            drawn.add_task(task, total=total)
        drawn.update(drawn.task_ids[0], completed=done, total=total)

    try:
        yield show
    finally:
        if drawn is not None:
            drawn.stop()
