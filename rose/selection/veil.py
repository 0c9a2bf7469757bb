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

    def window(self, one: Window) -> Window:
        """Return a window with its text as it may be shown; the offsets are those of the file."""
        return Window(one.start, one.end, texts.normalise(self.part(one.start, one.end)))


def anything(value: Any) -> Any:
    """Return a value of JSON with every text in it as it may be shown."""
    if isinstance(value, str):
        return redact.redact(_visible(value))
    if isinstance(value, dict):
        return {name: anything(part) for name, part in value.items()}
    return [anything(part) for part in value] if isinstance(value, list | tuple) else value


def line(text: str) -> str:
    """Return a title, or another text that stands on one line, as it may be shown."""
    return redact.redact(texts.clean_line(text))


def _visible(text: str) -> str:
    lines = (row.split("\t") for row in text.split("\n"))
    return "\n".join("\t".join(map(texts.visible, cells)) for cells in lines)
