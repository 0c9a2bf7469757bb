"""`rose doctor`: what is wired, what is broken, and what to do about it."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rose import files, history, tokens, trust
from rose.cli import page, terminal
from rose.cli.app import app
from rose.hosts import wiring
from rose.reflection import queue
from rose.report import sources
from rose.routing import compiled

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rose.findings import Finding
    from rose.layout import Store, Stores

State = Literal["ok", "note", "problem"]


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at; `repair` says what to do unless it is in order."""

    section: str
    state: State
    text: str
    repair: str = ""


@app.command("doctor")
def doctor(
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Look at everything rose needs, and say what is broken and how to mend it.

    Exits with 1 where something is broken.

    Example: rose doctor --json
    """
    found = terminal.stores()
    checks = [*_machine(), *_stores(found)]
    if found.present():
        checks += _contents(found)
    problems = sum(check.state == "problem" for check in checks)
    if as_json:
        listed = [
            {"section": c.section, "state": c.state, "text": c.text, "repair": c.repair}
            for c in checks
        ]
        terminal.emit({"problems": problems, "checks": listed})
    else:
        for check in checks:
            terminal.out(f"{check.state:<8} {check.section:<10} {check.text}")
            if check.repair:
                terminal.out(f"{'':<19} {check.repair}")
        terminal.say("No problems." if not problems else f"Problems: {problems}.")
    if problems:
        raise typer.Exit(1)


def _machine() -> Iterator[Check]:
    """Yield what the machine offers, store or no store."""
    version = ".".join(map(str, sys.version_info[:3]))
    yield Check("python", "ok", f"{version}, {terminal.short(sys.executable)}")
    counter = tokens.counter()
    if counter.reason:
        text = f"bytes are charged for tokens: {counter.reason}"
        yield Check("tokenizer", "note", text, "Install rose again to count exactly.")
    else:
        yield Check("tokenizer", "ok", f"{counter.name}, offline")
    git = history.version()
    if git is None:
        yield Check("git", "note", "not found", "Only `git.commit: auto` and history need it.")
    else:
        yield Check("git", "ok", git)


def _stores(found: Stores) -> Iterator[Check]:
    if found.project is None:
        state: State = "problem" if found.home is None else "note"
        repair = "Run `rose init` in the project's folder."
        yield Check("store", state, f"none for this folder: {found.reason}", repair)
    else:
        yield Check("store", "ok", f"{found.project.dot}: {found.reason}")
        if not trust.is_trusted(found.project, os.environ):
            text = "not trusted: hooks for all projects pass over it"
            yield Check("store", "note", text, "`rose route` shows them, `rose trust` uses them.")
    if found.home is None:
        repair = "`rose init --home` makes one for all projects; it is optional."
        yield Check("home", "note", "no home store", repair)
    else:
        yield Check("home", "ok", found.home.dot)
    for store in found.present():
        yield from _writable(store)


def _writable(store: Store) -> Iterator[Check]:
    if os.path.lexists(store.local) and not os.path.isdir(store.local):
        repair = "Move it elsewhere; nothing can be learned until then."
        yield Check("store", "problem", f"{store.local} is no folder", repair)
    elif not os.access(store.dot, os.W_OK):
        repair = "Rules are still injected, but nothing is learned. Make it writable."
        yield Check("store", "problem", f"{store.dot} cannot be written", repair)


def _contents(found: Stores) -> Iterator[Check]:
    """Yield what is in the stores: lessons, rules, settings, layer, queue, hook."""
    read = sources.read(found)
    for source in read.each:
        at = "" if source.store.kind == "project" else " at home"
        active, everything = len(source.shelf.active()), len(source.shelf.lessons)
        repair = "" if everything else '`rose add "TITLE" --body TEXT` writes the first one.'
        paths = ", ".join(f"{path}/" for path in source.settings.lessons_paths)
        rest = f", {everything - active} archived" if everything > active else ""
        text = f"{active} active{rest} in {paths}{at}"
        yield Check("lessons", "ok" if everything else "note", text, repair)
        yield from _findings("lessons", source.shelf.findings)
        yield from _findings("config", source.faults)
    rules = len(read.survey.places)
    broken = len(read.survey.unreadable)
    unread = f", {broken} that cannot be read" if broken else ""
    yield Check("rules", "ok", f"{read.active_rules()} active of {rules}{unread}")
    yield from _findings("rules", read.survey.findings())
    yield from _layer(found, read.first.settings.routing_max_tokens)
    for store in found.present():
        yield from _queue(store)
    yield from _wiring(found)
    for store in found.present():
        yield from _hook(store)


def _findings(section: str, findings: Iterable[Finding]) -> Iterator[Check]:
    for finding in findings:
        state: State = "problem" if finding.severity == "error" else "note"
        text = f"{finding.where}: {finding.rule}: {finding.message}"
        yield Check(section, state, text, finding.repair)


def _layer(found: Stores, max_tokens: int) -> Iterator[Check]:
    layer = compiled.fresh(found)
    if layer is None:
        yield Check("layer", "note", "not up to date", "The next prompt or `rose route` does it.")
        return
    rules = layer["rules"]
    count = len(rules) if isinstance(rules, list) else 0
    used, counter = layer.get("tokens", "?"), layer.get("counter", "?")
    yield Check(
        "layer", "ok", f"{page.count(count, 'rule')}, {used} of {max_tokens} tokens ({counter})"
    )


def _queue(store: Store) -> Iterator[Check]:
    waiting = 0
    for entry in queue.entries(store):
        if entry["state"] != "failed":
            waiting += 1
            continue
        text = f"session {entry['session']} failed: {entry['reason']}"
        repair = f"`rose reflect --transcript {entry['transcript']}` tries again."
        yield Check("queue", "problem", text, repair)
    if waiting:
        yield Check("queue", "note", f"{waiting} waiting", "`rose reflect --pending` works them.")


def _wiring(found: Stores) -> Iterator[Check]:
    """Yield where each host finds rose, and whether one has ever called it here."""
    folder = None if found.project is None else found.project.base
    wired = wiring.wired(folder, os.environ)
    for each in wired:
        start = f"{each.host} calls rose from {terminal.short(each.path)}"
        if each.fault:
            yield Check("hosts", "problem", f"{start}, but {each.fault}", each.repair)
        elif each.missing:
            text = f"{start}, but not at {', '.join(each.missing)}"
            yield Check("hosts", "note", text, "`rose install` writes what is missing.")
        elif each.untrusted:
            text = f"{start}, but passes over {', '.join(each.untrusted)}: not trusted yet"
            yield Check("hosts", "note", text, "Run `/hooks` in it, in a project that it trusts.")
        else:
            yield Check("hosts", "ok", f"{start}: {each.command}")
    if not wired:
        repair = "`rose install` wires the programs that it finds."
        yield Check("hosts", "note", "no agent program calls rose here", repair)
    if any(name.endswith(".jsonl") for name in _names(found.first().sessions)):
        yield Check("hook", "ok", "has been called here")


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        # Made by the first session that is sent something.
        return []


def _hook(store: Store) -> Iterator[Check]:
    last: dict[str, object] = {}
    try:
        for _, line in files.read_jsonl(store.log):
            last = line
    except OSError as error:
        yield Check("hook", "problem", f"{store.log}: {error.strerror}", "Make it readable.")
    if last:
        text = (
            f"last failure {last.get('at', '?')}: {last.get('event', '?')}: {last.get('problem')}"
        )
        yield Check("hook", "note", text, f"All of them: {terminal.short(store.log)}")
