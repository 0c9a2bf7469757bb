"""`rose trust` and `rose off`: what a person allows, here and for one session."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from rose import files, layout, refresh, session, trust
from rose.cli import terminal
from rose.cli.app import app
from rose.errors import UsageError
from rose.hosts import wire

if TYPE_CHECKING:
    from rose.layout import Store


@app.command("trust")
def trust_command(
    *, revoke: Annotated[bool, typer.Option("--revoke", help="Trust it no longer.")] = False
) -> None:
    """Let the hook use a store that came with a cloned repository.

    Rules in it reach your agent's context, and its config may name a program that
    reflection runs, so look at them first: rose route, rose config.
    A store that `rose init` made is trusted already.

    Example: rose trust
    """
    found = terminal.stores()
    store = found.project or found.first()
    if store.kind == "home":
        terminal.out("The home store is your own; nothing to decide.")
        return
    changed = trust.remove(store, os.environ) if revoke else begin(store)
    state = "trusted" if trust.is_trusted(store, os.environ) else "not trusted"
    terminal.out(f"{terminal.short(store.dot)} is {state}{'' if changed else ' already'}.")


def is_new(store: Store | None) -> bool:
    """Tell whether there is a store that is not trusted yet."""
    return store is not None and not trust.is_trusted(store, os.environ)


def begin(store: Store, kept: tuple[str, ...] = ()) -> bool:
    """Trust a store from now on, and tell whether that is new.

    What its local folder held is dropped, but for the files in `kept`.
    """
    if not is_new(store):
        return False
    # First: what cannot be made anew is not to be trusted.
    if dropped := refresh.afresh(terminal.stores(), store, kept):
        count = "1 file" if dropped == 1 else f"{dropped} files"
        where = terminal.short(store.local)
        terminal.say(f"rose: dropped {count} under {where}: no record from before is trusted.")
    return trust.add(store, os.environ)


def drop(receipt: str) -> None:
    """Delete a receipt that came with a clone: it says what an uninstallation deletes."""
    files.delete(receipt)


def begin_wired(store: Store, receipt: str) -> None:
    """Trust a store whose project was wired by hand, and say so; the new receipt stays."""
    if begin(store, (receipt,)):
        terminal.say(f"{terminal.short(store.dot)} is trusted from now on (`rose trust --revoke`).")


@app.command("off", short_help="Switch rose off for one session.")
def off_command(
    *,
    named: Annotated[
        str, typer.Option("--session", metavar="ID", help="Which; without it, the one we run in.")
    ] = "",
) -> None:
    """Switch rose off for one session: nothing is sent from now on and nothing is learned.

    `ROSE_OFF=1` does it for a process, `rose config routing.enabled false` for a project.

    Example: rose off --session 3f2a9c1e-0000-4000-8000-000000000000
    """
    store = terminal.stores().first()
    which = terminal.session(named)
    if not which:
        raise UsageError("Which session? `rose off --session ID`; `ROSE_OFF=1` needs no id.")
    paths = [
        session.note_path(store.sessions, layout.session_name(host, which)) for host in wire.HOSTS
    ]
    if not any(map(os.path.exists, paths)):
        terminal.say(f"warning: no session {which!r} has been sent anything yet; ids count whole.")
    for path in paths:
        files.append_line(path, session.off_line())
    terminal.out(f"rose is off for session {which}.")
