"""`rose reflect` and `rose undo`: learn from sessions, and take it back."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Annotated

import typer

from rose import files, hook, layout, trust
from rose import session as clock
from rose.backends import registry
from rose.cli import reflectall, reflectors, reflectpage, terminal
from rose.cli.app import app
from rose.errors import Locked, RoseError, UsageError
from rose.hosts import registry as hosts
from rose.reflection import find, queue, reflect, undo, worker
from rose.report import sources

if TYPE_CHECKING:
    from collections.abc import Container

    from rose.layout import Stores

WORKER_WAIT_S = 5.0
WAIT_S = 1.0


JsonFlag = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
TranscriptPath = Annotated[
    str | None, typer.Option(metavar="PATH", help="One session, by its transcript.")
]
SessionId = Annotated[
    str | None, typer.Option(metavar="ID", help="One session, looked up where hosts keep it.")
]
PendingFlag = Annotated[
    bool, typer.Option("--pending", help="The sessions that wait in the queue.")
]
AllFlag = Annotated[bool, typer.Option("--all", help="Every session that ran in this project.")]
BackendName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Who reflects: auto, offline, claude, codex, openai or command; offline needs no "
        "model. Without it the setting reflection.backend counts, and --all asks no model.",
    ),
]
HostName = Annotated[
    str | None, typer.Option(metavar="HOST", help="Whose transcript: claude-code or codex.")
]
DryRunFlag = Annotated[
    bool, typer.Option("--dry-run", help="Say what would be learned; write nothing.")
]
WorkerFlag = Annotated[bool, typer.Option("--worker", hidden=True)]


@app.command("reflect", short_help="Learn from sessions: credit rules, write what was missing.")
def reflect_command(
    *,
    transcript: TranscriptPath = None,
    session: SessionId = None,
    pending: PendingFlag = False,
    every: AllFlag = False,
    backend: BackendName = None,
    host: HostName = None,
    dry_run: DryRunFlag = False,
    as_json: JsonFlag = False,
    is_worker: WorkerFlag = False,
) -> None:
    """Learn from sessions: credit the rules that led somewhere, write what was missing.

    A session that is recorded already changes nothing, so any run may be repeated.

    Example: rose reflect --transcript session.jsonl --dry-run
    """
    ways = {
        "--transcript": transcript is not None,
        "--session": session is not None,
        "--pending": pending,
        "--all": every,
    }
    named_ways = [name for name, given in ways.items() if given]
    _check_words(named_ways, backend, host, dry_run=dry_run)
    stores = terminal.stores()
    if is_worker:
        _work_quietly(stores)
    elif pending:
        _work(stores, backend, as_json=as_json)
    elif every:
        asked = None if backend is None else reflectors.of(stores, backend)
        reflectall.run(stores, _homes(), asked, dry_run=dry_run, as_json=as_json)
    else:
        path, named = _place(stores, transcript, session)
        asked = reflectors.of(stores, backend)
        outcome = reflect.reflect_on(
            stores, path, at=clock.now(), host=host or named, dry_run=dry_run, reflector=asked
        )
        if not dry_run:
            _settle(stores, {outcome.facts.session, path})
        _warn_outside(stores, outcome.facts.cwd)
        reflectpage.show(outcome, sources.read(stores), as_json=as_json)


def _work(stores: Stores, backend: str | None, *, as_json: bool) -> None:
    """Work the queue for a person who waits for it."""
    for store in stores.present():
        if not trust.is_trusted(store, os.environ):
            raise RoseError(
                f"{store.dot} is not trusted: its queue may have come with a clone. `rose trust` "
                "drops it; `rose reflect --session ID` learns from a session of yours."
            )
    summary = worker.run_pending(
        stores,
        now=time.time,
        at=clock.now,
        wait_s=WAIT_S,
        early=True,
        reflector=reflectors.of(stores, backend),
    )
    reflectpage.show_summary(summary, sources.read(stores), as_json=as_json)


def _check_words(ways: list[str], backend: str | None, host: str | None, *, dry_run: bool) -> None:
    """Raise UsageError unless the call says exactly which sessions are meant."""
    if len(ways) > 1:
        raise UsageError(f"{ways[0]} and {ways[1]} do not go together; give one of them.")
    if not ways:
        raise UsageError("Say which: --transcript PATH, --session ID, --pending or --all.")
    if backend is not None:
        registry.check(backend)
    if host is not None and host not in hosts.HOSTS:
        raise UsageError(f"There is no host {host!r}. There are {', '.join(hosts.HOSTS)}.")
    if dry_run and ways == ["--pending"]:
        raise UsageError("--dry-run does not go with --pending; name a session with --session.")


def _work_quietly(stores: Stores) -> None:
    """Work the queue for the hook; nobody reads the streams, so failures go to the hook's log."""
    present = stores.present()
    if not present:
        return
    store = present[0]
    try:
        summary = worker.run_pending(
            stores,
            now=time.time,
            at=clock.now,
            wait_s=WORKER_WAIT_S,
            reflector=reflectors.of(stores, None),
        )
    except Locked:
        # The worker that holds the lock takes what is new as well.
        return
    except Exception as error:
        # Detached: what rises here is read by nobody, so it is logged first.
        hook.log(store, "worker", "", f"{type(error).__name__}: {error}")
        raise
    for failure in (*summary.failures, *summary.gone):
        hook.log(store, "worker", "", f"session {failure.session}: {failure.reason}")


def _place(stores: Stores, transcript: str | None, session: str | None) -> tuple[str, str | None]:
    """Return the path and the host of the one session that is meant."""
    if transcript is not None:
        return os.path.abspath(terminal.given_path(transcript)), None
    queued = {
        str(entry["session"]): (str(entry["transcript"]), str(entry["host"]))
        for store in stores.present()
        for entry in queue.entries(store)
        if entry["transcript"] and queue.has_transcript(entry)
    }
    return find.find_transcript(session or "", _homes(), queued)


def _settle(stores: Stores, names: Container[object]) -> None:
    """Take what was reflected on by hand out of the queue, unless a worker has it.

    `names` are its session and its transcript: either may be how the queue knows it.
    """
    store = stores.first()
    for entry in queue.entries(store):
        is_ours = entry["session"] in names or entry["transcript"] in names
        if is_ours and entry["state"] != "working":
            queue.finish(store, entry)


def _warn_outside(stores: Stores, cwd: str) -> None:
    """Say that a session ran in another place than the project whose record it is now in."""
    project = stores.project
    if project is None or not cwd:
        return
    is_below = files.is_below(os.path.join(os.path.realpath(cwd), ""), project.base)
    # A worktree leads to the store of its main checkout.
    ran = layout.find(cwd, {}).project
    if not is_below and (ran is None or ran.base != project.base):
        terminal.say(f"warning: this session ran in {cwd}, outside {project.base}.")


def _homes() -> find.Homes:
    """Return where the hosts keep their sessions on this machine."""
    home = os.environ.get("HOME", "")

    def folder(variable: str, name: str) -> str:
        return os.environ.get(variable) or (os.path.join(home, name) if home else "")

    return find.Homes(folder("CLAUDE_CONFIG_DIR", ".claude"), folder("CODEX_HOME", ".codex"))


@app.command("undo")
def undo_command(
    *,
    session: Annotated[
        str | None, typer.Argument(metavar="[SESSION]", help="A session id, or a part of it.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Take back what was learned from a session.

    Without one, from the last that changed a rule; where none did, from the last recorded.
    A rule or lesson that somebody edited since is left as it is, and said.

    Example: rose undo
    """
    stores = terminal.stores()
    undo.expect_trust(stores, os.environ)
    undone = undo.take_back(stores, session, at=clock.now())
    reflectpage.show_undone(undone, sources.read(stores), as_json=as_json)
