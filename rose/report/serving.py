"""What `rose doctor` says of recall: what a prompt is served, by whom, and what that lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rose.backends import options
from rose.report.diagnosis import Check
from rose.selection import aides

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rose.report.diagnosis import Around


def checks(around: Around) -> Iterator[Check]:
    """Yield how recall is set, and each thing that keeps a setting of it from having an effect."""
    held = options.options_of(around.stores, around.environ)
    settings = held.settings
    if settings.recall_selector == "agent":
        said = "the working agent selects by itself; no prompt is served"
    else:
        by = f"selector {settings.recall_selector}, judge {settings.recall_judge}"
        said = f"{settings.recall_serve}; {by}, at most {settings.recall_timeout_s} s"
    yield Check("recall", "ok", said)
    for lack in aides.lacks(held, around.environ):
        yield Check("recall", "note", lack)
