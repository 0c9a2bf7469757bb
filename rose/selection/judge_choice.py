"""Which judges there are, and who judges where nobody was named.

The local judge and a program of one's own are taken where they are named and never otherwise: a
weaker judgement must not stand in for one that was expected.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rose.backends import registry
from rose.errors import UsageError
from rose.selection import judge_local
from rose.selection.judge import JudgeFailure
from rose.selection.judge_model import ModelJudge

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rose.backends.base import Backend
    from rose.backends.options import Options
    from rose.backends.spend import Purse
    from rose.selection.judge import Judge

NAMES = (judge_local.NAME, *(name for name in registry.NAMES if name != "offline"))
# The programs of the hosts first: whoever works here is set up for one of them.
ORDER = ("claude", "codex", "openai")
NAMES_SAID = f"{', '.join(NAMES[:-1])} or {NAMES[-1]}"
REPAIR = "Give --judge-cmd CMD, name one with --judge, or set `reflection.backend`."


def check(name: str) -> None:
    """Raise UsageError for a name that no judge has."""
    if name not in NAMES:
        raise UsageError(f"There is no judge {name!r}. There are {NAMES_SAID}.")


def model(
    name: str, options: Options, environ: Mapping[str, str], *, cwd: str, purse: Purse
) -> Judge:
    """Return the model of a backend's name as a judge; raises JudgeFailure where there is none.

    One that was named is returned even where it cannot run, so that it can say why.
    """
    found = _first(options, environ) if name == "auto" else _named(name, options, environ)
    if found is None:
        raise JudgeFailure(f"No judge: no model can be asked here. {REPAIR}")
    return ModelJudge(found, cwd=cwd, purse=purse)


def _named(name: str, options: Options, environ: Mapping[str, str]) -> Backend | None:
    return registry.choose(name, "", options, environ)


def _first(options: Options, environ: Mapping[str, str]) -> Backend | None:
    for name in ORDER:
        found = _named(name, options, environ)
        if found is not None and not found.hindrance():
            return found
    return None
