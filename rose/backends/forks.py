"""What the backends that fork an ended session share: what they need before they can.

The session's id stands on a command line and its folder is where the program runs, and both come
from a hook's payload: neither is taken as it is.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rose.backends import process
from rose.backends.base import BackendFailure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rose.backends.base import Question

_SESSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")


def hindrance(program: str, environ: Mapping[str, str]) -> str:
    """Return why a program cannot fork a session here, empty where it can."""
    if reason := process.nested(environ):
        return reason
    if not process.find(program, environ):
        return f"`{program}` is not on PATH. Install it, or set `reflection.backend`."
    return ""


def find(program: str, host: str, question: Question, environ: Mapping[str, str]) -> str:
    """Return the path of the program that can answer a question; raises BackendFailure.

    Unless it stands alone, the program must be able to fork the session that it is about.
    """
    if reason := hindrance(program, environ):
        raise BackendFailure("unavailable", reason)
    if question.alone:
        return process.find(program, environ)
    subject = question.subject
    if subject.host != host:
        message = (
            f"{program} cannot fork a session of {subject.host or 'an unknown host'}. "
            "Set `reflection.backend` to auto."
        )
        raise BackendFailure("unavailable", message)
    if not _SESSION.fullmatch(subject.session):
        message = f"{subject.session!r:.80} is no id of a session that can be forked."
        raise BackendFailure("unavailable", message)
    return process.find(program, environ)
