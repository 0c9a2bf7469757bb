"""`rose install` and `rose uninstall`: the hooks in each agent program's settings."""

from __future__ import annotations

import difflib
import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from rose.cli import reflectors, terminal, trust
from rose.cli.app import app
from rose.errors import NoStore, RoseError, UsageError
from rose.findings import Refused
from rose.hosts import agents_md, installation, receipt, wiring

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rose.findings import Finding
    from rose.hosts.installation import Outcome, Target
    from rose.layout import Store

HostOption = Annotated[
    list[str] | None,
    typer.Option("--host", help=f"One of {', '.join(installation.HOSTS)}; may be repeated."),
]
ScopeOption = Annotated[
    str, typer.Option("--scope", help="project: this folder alone. user: all your projects.")
]
SharedOption = Annotated[
    bool,
    typer.Option(
        "--shared", help="The committed .claude/settings.json, for all who have rose on PATH."
    ),
]
BlockOption = Annotated[
    bool,
    typer.Option(
        "--agents-md", help="For a Codex without hooks: a block in AGENTS.md, and no hooks."
    ),
]
DryOption = Annotated[
    bool, typer.Option("--dry-run", help="Print the difference, and write nothing.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


@dataclass(frozen=True, slots=True)
class Call:
    """What was asked for, and where it goes; `folder` is the project's.

    `trusts` is the store to trust once a program is wired: who wires a project by hand says that.
    """

    remove: bool
    is_block: bool
    dry_run: bool
    folder: str | None
    receipt: str
    targets: tuple[Target, ...]
    trusts: Store | None = None


@app.command("install", short_help="Let agent programs call rose: write its hooks.")
def install(
    *,
    host: HostOption = None,
    scope: ScopeOption = "project",
    shared: SharedOption = False,
    block: BlockOption = False,
    dry_run: DryOption = False,
    as_json: JsonOption = False,
) -> None:
    """Let agent programs call rose: write its hooks into their settings, and nothing else.

    Without --host, every program that is found here. Calling it again changes nothing.

    Example: rose install --host claude-code
    """
    _expect_block(host, scope, shared=shared, block=block)
    call = _call(host, scope, shared=shared, block=block, remove=False, dry_run=dry_run)
    _run(call, as_json=as_json)


@app.command("uninstall", short_help="Take rose's hooks out of agent programs' settings.")
def uninstall(
    *,
    host: HostOption = None,
    scope: ScopeOption = "project",
    shared: SharedOption = False,
    block: BlockOption = False,
    dry_run: DryOption = False,
    as_json: JsonOption = False,
) -> None:
    """Take rose's hooks out of agent programs' settings, which are then as they were before.

    The store stays. Without --host, out of every program's.

    Example: rose uninstall --scope user
    """
    _expect_block(host, scope, shared=shared, block=block)
    call = _call(host, scope, shared=shared, block=block, remove=True, dry_run=dry_run)
    _run(call, as_json=as_json)


def _expect_block(named: list[str] | None, scope: str, *, shared: bool, block: bool) -> None:
    if block and (shared or scope != "project" or set(named or ("codex",)) != {"codex"}):
        raise UsageError("--agents-md is for --host codex in the project's scope alone.")


def _call(
    named: list[str] | None,
    scope: str,
    *,
    shared: bool,
    block: bool,
    remove: bool,
    dry_run: bool,
) -> Call:
    if scope not in installation.SCOPES:
        raise UsageError(f"unknown scope: {scope}. Known are {', '.join(installation.SCOPES)}.")
    store = terminal.stores().project
    if scope == "project" and store is None:
        reason = terminal.stores().reason
        raise NoStore(
            f"No store: {reason} Run `rose init` in the project's folder, or give --scope user."
        )
    folder = None if store is None else wiring.folder_of(store.base, os.getcwd())
    local = store.local if store is not None and scope == "project" else None
    trusts = None if local is None or remove or dry_run or not trust.is_new(store) else store
    place = receipt.place(local, os.environ)
    if block:
        aim = agents_md.target(folder or "")
        return Call(remove, True, dry_run, folder, place, (aim,), trusts)
    hosts = list(dict.fromkeys(named or ()))
    if not hosts and shared:
        hosts = ["claude-code"]
    elif not hosts:
        found = installation.present(folder, os.environ)
        hosts = list(installation.HOSTS) if remove else found
    if not hosts:
        known = ", ".join(installation.HOSTS)
        raise RoseError(f"No agent program was found. Name one with --host: {known}.")
    targets = tuple(
        installation.target(name, scope, folder or "", os.environ, shared=shared) for name in hosts
    )
    return Call(remove, False, dry_run, folder, place, targets, trusts)


def _run(call: Call, *, as_json: bool) -> None:
    outcomes: list[Outcome] = []
    refused: list[Finding] = []
    if call.trusts is not None:
        trust.drop(call.receipt)
    for aim in call.targets:
        made = _tried(call, aim)
        if isinstance(made, Refused):
            refused += made.findings
        else:
            outcomes.append(made)
    if outcomes and call.trusts is not None:
        trust.begin_wired(call.trusts, call.receipt)
    if as_json:
        terminal.emit(
            {
                "dry_run": call.dry_run,
                "files": [_listed(call, outcome) for outcome in outcomes],
                "refused": [finding.as_json() for finding in refused],
            }
        )
    else:
        _print(call, outcomes)
    terminal.report(refused, refused=True)
    if refused:
        raise typer.Exit(1)


def _tried(call: Call, aim: Target) -> Outcome | Refused:
    """Change one file; one that is refused must not keep the others from being changed."""
    try:
        return _change(call, aim)
    except Refused as error:
        return error


def _change(call: Call, aim: Target) -> Outcome:
    if call.is_block:
        return agents_md.change(aim, remove=call.remove, dry_run=call.dry_run)
    known = receipt.read(call.receipt).get(aim.path)
    outcome = installation.plan(aim, known, sys.executable, remove=call.remove)
    # An uninstall that has nothing to do leaves no lock file behind either.
    if call.dry_run or (call.remove and known is None and not outcome.is_change):
        return outcome
    return installation.apply(aim, call.receipt, sys.executable, remove=call.remove)


def _listed(call: Call, outcome: Outcome) -> dict[str, object]:
    return {
        "host": outcome.target.host.name,
        "scope": outcome.target.scope,
        "path": outcome.target.path,
        "changed": outcome.is_change,
        "keys": list(outcome.touched),
        "deleted": outcome.after is None and outcome.before is not None,
        "notes": _notes(call, outcome),
    }


def _print(call: Call, outcomes: list[Outcome]) -> None:
    shown = [each for each in outcomes if each.is_change or not call.remove]
    for outcome in shown:
        path = terminal.short(outcome.target.path)
        terminal.out(f"{outcome.target.host.name:<12} {path}: {_done(call, outcome)}")
        for key in outcome.touched:
            terminal.out(f"{'':<12} {key}")
        if call.dry_run:
            _print_difference(outcome)
        for note in _notes(call, outcome):
            terminal.say(f"{'':<12} {note}")
    if call.remove and not shown and outcomes:
        terminal.say("Nothing of rose was found there.")
    for line in _after(call):
        terminal.say(line)


def _after(call: Call) -> Iterator[str]:
    """Yield what of rose is left elsewhere, or who will be asked after each session."""
    if call.dry_run:
        return
    if call.remove:
        for each in wiring.wired(call.folder, os.environ):
            yield f"{terminal.short(each.path)} calls rose still: {each.removal} takes it out."
        block = agents_md.target(call.folder or "")
        if call.folder and agents_md.faults(block) is not None:
            path = terminal.short(block.path)
            yield f"{path} holds rose's block still: `rose uninstall --agents-md` takes it out."
        return
    stores = terminal.stores()
    if stores.project is None or call.is_block:
        return
    names = ", ".join(reflectors.names(stores, (aim.host.name for aim in call.targets)))
    if names:
        yield (
            f"After each session {names} is asked what it taught, within the limits of `rose "
            "config`; `rose config reflection.backend offline` asks nobody."
        )


def _done(call: Call, outcome: Outcome) -> str:
    if not outcome.is_change:
        return "nothing to change"
    would = "would be " if call.dry_run else ""
    if outcome.after is None:
        return would + "deleted"
    return would + ("written" if outcome.before is None else "changed")


def _print_difference(outcome: Outcome) -> None:
    lines = difflib.unified_diff(
        (outcome.before or "").splitlines(),
        (outcome.after or "").splitlines(),
        outcome.target.path if outcome.before is not None else os.devnull,
        outcome.target.path if outcome.after is not None else os.devnull,
        lineterm="",
        n=1,
    )
    for line in lines:
        terminal.out(line)


def _notes(call: Call, outcome: Outcome) -> list[str]:
    """Return what a person has to know about one host, beyond what was written."""
    aim = outcome.target
    if call.remove:
        return []
    notes = []
    if os.path.islink(aim.path):
        notes.append(f"It is a link; what was changed is {os.path.realpath(aim.path)}.")
    if call.is_block:
        notes.append("It is for a Codex without hooks, from which rose learns nothing by itself.")
        return notes + agents_md.shortfalls(outcome)
    if aim.host.name == "codex":
        also = ", and only in a project that it trusts" if aim.scope == "project" else ""
        notes.append(f"Codex runs a hook only once you have trusted it in `/hooks`{also}.")
        notes.append("For a version that has no `/hooks`: `rose install --agents-md`.")
    if not aim.host.was_run:
        notes.append("By document, not run: rose was not tried with this program.")
    if aim.scope == "project" and not aim.is_shared:
        notes.append("It holds paths of this machine: keep it out of git.")
    for other in wiring.wired(call.folder, os.environ):
        is_same = other.path == aim.path and not other.plugin
        if other.host == aim.host.name and not is_same:
            place = terminal.short(other.path)
            place += f" (plugin {other.plugin})" if other.plugin else ""
            notes.append(f"{place} calls rose too, so both run. {other.removal} takes one out.")
    return notes
