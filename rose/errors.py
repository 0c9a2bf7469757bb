"""The errors that rose expects, each with its exit code.

0 done, 1 refused or findings, 2 usage, 3 unexpected, 130 interrupted. Everything else is a bug
and rises to the edge.
"""

from __future__ import annotations


class RoseError(Exception):
    """A refusal that a person can act on; its text says what to do."""

    exit_code = 1


class UsageError(RoseError):
    """The words of the call are off."""

    exit_code = 2


class NoStore(RoseError):
    """No store was found from the given directory upward."""


class Locked(RoseError):
    """Another process held the lock for longer than we may wait."""


class Unwritable(RoseError):
    """The disk refused a write; what was there before is intact."""


class Deadline(BaseException):
    """The hook's time is up; no `except Exception` may keep it."""
