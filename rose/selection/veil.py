"""The veil: a lesson's text as a tool may show it, without secrets and hidden characters.

Secrets are looked for in the whole text, so that a part that begins within one does not show the
rest of it. Nothing else is changed: what a tool gives back is marked as its result by the host.
"""

from __future__ import annotations

from typing import Any

from rose import redact
from rose import text as texts
from rose.selection.windows import Window


class Veil:
    """One text, of which parts are shown."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._secrets = redact.find(text)

    def part(self, start: int, end: int) -> str:
        """Return a part as it may be shown, its line feeds and tabs as they are."""
        parts = []
        done = start
        for secret in self._secrets:
            if secret.start < end and secret.end > start:
                parts += [self._text[done : secret.start], f"{redact.MARK}{secret.kind}]"]
                done = secret.end
        # What hidden characters parted may be a secret once they are gone.
        return redact.redact(_visible("".join([*parts, self._text[done:end]])))

    def window(self, one: Window, start: int = 0) -> Window:
        """Return a window of what begins at `start`, as one of the whole, as it may be shown."""
        span = start + one.start, start + one.end
        return Window(*span, texts.normalise(self.part(*span)))


def anything(value: Any) -> Any:
    """Return a value of JSON with every text in it as it may be shown."""
    return redact.throughout(value, lambda text: redact.redact(_visible(text)))


def line(text: str) -> str:
    """Return a title, or another text that stands on one line, as it may be shown."""
    return redact.redact(texts.clean_line(text))


def _visible(text: str) -> str:
    lines = (row.split("\t") for row in text.split("\n"))
    return "\n".join("\t".join(map(texts.visible, cells)) for cells in lines)
