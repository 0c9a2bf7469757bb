"""Who reflects: the settings, the environment and the command line as one reflector."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from rose.backends import options, registry
from rose.cli import terminal
from rose.reflection.ask import Reflector

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rose.backends.base import Backend
    from rose.layout import Stores


def of(stores: Stores, named: str | None) -> Reflector:
    """Return who is asked; a backend that was named on the command line must answer."""
    held = options.options_of(stores, os.environ)
    terminal.report(held.findings)
    name = named or held.settings.reflection_backend

    def choose(host: str) -> Backend | None:
        return registry.choose(name, host, held, os.environ)

    must_answer = named not in (None, "auto")
    return Reflector(choose, held.settings, time.time, "raise" if must_answer else "observe")


def names(stores: Stores, hosts: Iterable[str]) -> list[str]:
    """Return the backends that are asked after the sessions of some hosts, each once."""
    reflector = of(stores, None)
    asked = [reflector.choose(host) for host in hosts]
    return sorted({backend.name for backend in asked if backend is not None})
