"""The arguments of a tool call: a program wrote them, so each is looked at before it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rose import redact
from rose.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

_SHOWN = 40


class Arguments:
    """Reads the arguments of one call; raises UsageError with what is wrong with one."""

    def __init__(self, given: Mapping[str, object], known: Mapping[str, object]) -> None:
        """Take what was given; what the tool does not know is refused."""
        unknown = [name for name in given if name not in known]
        if unknown:
            listed = ", ".join(f"`{name}`" for name in known)
            shown = redact.beginning(unknown[0], _SHOWN)
            raise UsageError(f"No argument {shown!r}; there are {listed}.")
        # What a program gives as null it does not give.
        self._given = {name: value for name, value in given.items() if value is not None}

    def has(self, name: str) -> bool:
        return name in self._given

    def text(self, name: str, most: int, *, needed: bool = False) -> str:
        """Return a text, empty where it is not given."""
        value = self._given.get(name, "")
        if needed and not (isinstance(value, str) and value.strip()):
            raise UsageError(f"`{name}` is missing: give a text.")
        return _text(value, f"`{name}`", most)

    def texts(self, name: str, most: int, most_chars: int) -> list[str]:
        """Return a list of texts; one text stands for a list of it."""
        value = self._given.get(name, [])
        listed = [value] if isinstance(value, str) else value
        if not isinstance(listed, list) or len(listed) > most:
            raise UsageError(f"`{name}` must be a list of at most {most} texts.")
        return [_text(one, f"each of `{name}`", most_chars) for one in listed]

    def number(self, name: str, default: int, most: int) -> int:
        """Return a whole number from 1 to `most`."""
        value = self._given.get(name, default)
        if type(value) is not int or not 1 <= value <= most:
            raise UsageError(f"`{name}` must be a whole number from 1 to {most}.")
        return value


def _text(value: object, name: str, most: int) -> str:
    if not isinstance(value, str):
        raise UsageError(f"{name} must be a text.")
    if len(value) > most:
        raise UsageError(f"{name} has {len(value)} characters; the most is {most}.")
    if "\0" in value or any("\ud800" <= char <= "\udfff" for char in value):
        raise UsageError(f"{name} holds what is no text.")
    return value
