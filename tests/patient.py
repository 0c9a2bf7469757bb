"""The prompt hook in a process of its own, with limits that a busy machine keeps.

A model has the time that it has with the hook's own limits. What follows it, and what comes before,
may take a minute more.
"""

from __future__ import annotations

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# A prompt that asks nobody waits for {all_s}; {stuck} is what recall is busy with at {where}.
SCRIPT = """
import os, re, sys, time
sys.path.append({root!r})
from rose import hook, prompt
hook._load_packages()
from rose.selection import aides, serve
from rose.store import lessons
real, calls = {where}, []
if {stuck!r}:
    {where} = lambda *given, **named: calls.append(1) or eval({stuck!r})
prompt.STDIN_S, prompt.ALL_S, prompt.LAST_S = 60, {all_s}, 60
aides.RESERVE_S += hook.START_S + 60
hook.START_S = -60
os._exit(prompt.main(sys.argv[1:], os.environ))
"""


def words(
    event: str, *more: str, all_s: float = 60, stuck: str = "", where: str = "serve.serve"
) -> list[str]:
    """Return the command line that answers an event."""
    script = SCRIPT.format(root=ROOT, all_s=all_s, stuck=stuck, where=where)
    return [sys.executable, "-IS", "-c", script, event, *more]
