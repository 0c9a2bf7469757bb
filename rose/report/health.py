"""Everything that `rose doctor` says: the machine, the stores, what is in them, and their reach."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from rose import tokens, trust
from rose.backends import options, registry
from rose.history import program
from rose.reflection import queue
from rose.report import reach, serving, sources
from rose.report.diagnosis import Check
from rose.routing import compiled, forgotten, ledger

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rose.findings import Finding
    from rose.layout import Store, Stores
    from rose.report.diagnosis import Around, State
    from rose.report.sources import Sources


def checks(around: Around) -> Iterator[Check]:
    """Yield a line on each thing that rose needs, in the order in which one needs the other."""
    yield from _machine(around)
    yield from _stores(around)
    if not around.stores.present():
        return
    found = sources.read(around.stores)
    yield from _contents(found)
    yield from _layer(around.stores, found.first.settings.routing_max_tokens)
    for store in around.stores.present():
        yield from _ledger(store)
        yield from _queue(store, around)
    yield from _backends(around)
    yield from serving.checks(around)
    yield from reach.checks(around)


def _machine(around: Around) -> Iterator[Check]:
    """Yield what the machine offers, store or no store."""
    version = ".".join(map(str, sys.version_info[:3]))
    yield Check("python", "ok", f"{version}, {around.short(around.python)}")
    counter = tokens.counter()
    if counter.reason:
        text = f"bytes are charged for tokens: {counter.reason}"
        yield Check("tokenizer", "note", text, "Install rose again to count exactly.")
    else:
        yield Check("tokenizer", "ok", f"{counter.name}, offline")
    git = program.version()
    if git is None:
        yield Check("git", "note", "not found", "Only `git.commit: auto` and history need it.")
    else:
        yield Check("git", "ok", git)


def _stores(around: Around) -> Iterator[Check]:
    found = around.stores
    if found.project is None:
        state: State = "problem" if found.home is None else "note"
        repair = "Run `rose init` in the project's folder."
        yield Check("store", state, f"none for this folder: {found.reason}", repair)
    else:
        yield Check("store", "ok", f"{found.project.dot}: {found.reason}")
        if not trust.is_trusted(found.project, around.environ):
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
    inner = (store.sessions, store.blocks, store.begun, store.queue)
    odd = [p for p in (store.local, *inner) if os.path.lexists(p) and not os.path.isdir(p)]
    for path in odd:
        repair = "Move it elsewhere; nothing can be learned until then."
        yield Check("store", "problem", f"{path} is no folder", repair)
    if not odd and not os.access(store.dot, os.W_OK):
        repair = "Rules are still injected, but nothing is learned. Make it writable."
        yield Check("store", "problem", f"{store.dot} cannot be written", repair)


def _contents(found: Sources) -> Iterator[Check]:
    """Yield what people wrote: lessons, settings, rules, rejections."""
    for source in found.each:
        at = "" if source.store.kind == "project" else " at home"
        active, everything = len(source.shelf.active()), len(source.shelf.lessons)
        repair = "" if everything else '`rose add "TITLE" --body TEXT` writes the first one.'
        paths = ", ".join(f"{path}/" for path in source.settings.lessons_paths)
        rest = f", {everything - active} archived" if everything > active else ""
        text = f"{active} active{rest} in {paths}{at}"
        yield Check("lessons", "ok" if everything else "note", text, repair)
        yield from _findings("lessons", source.shelf.findings)
        yield from _findings("config", source.faults)
    rules = len(found.survey.places)
    broken = len(found.survey.unreadable)
    unread = f", {broken} that cannot be read" if broken else ""
    yield Check("rules", "ok", f"{found.active_rules()} active of {rules}{unread}")
    yield from _findings("rules", found.survey.findings())
    for place in found.survey.lost():
        repair = "A reflection follows a rename that git knows; `rose route --forget` deletes it."
        yield Check("rules", "note", f"{place.rule.id} is out: {place.waits}", repair)
    for source in found.each:
        of_rules = forgotten.read(source.store)[1]
        yield from _findings("rules", of_rules)
        both = sources.of_rejections(source.store)
        yield from _findings("rejections", [fault for fault in both if fault not in of_rules])


def _findings(section: str, findings: Iterable[Finding]) -> Iterator[Check]:
    for finding in findings:
        state: State = "problem" if finding.severity == "error" else "note"
        text = f"{finding.where}: {finding.rule}: {finding.message}"
        yield Check(section, state, text, finding.repair, finding)


def _layer(found: Stores, max_tokens: int) -> Iterator[Check]:
    layer = compiled.fresh(found)
    if layer is None:
        yield Check("layer", "note", "not up to date", "The next prompt or `rose route` does it.")
        return
    rules = layer["rules"]
    count = len(rules) if isinstance(rules, list) else 0
    used, counter = layer.get("tokens", "?"), layer.get("counter", "?")
    noun = "rule" if count == 1 else "rules"
    yield Check("layer", "ok", f"{count} {noun}, {used} of {max_tokens} tokens ({counter})")


def _ledger(store: Store) -> Iterator[Check]:
    paths = [str(path) for path, _ in ledger.stamps(store)]
    for path in (p for p in paths if not (os.path.isfile(p) and os.access(p, os.R_OK))):
        repair = "Make it a readable file: the record in it counts for nothing until then."
        yield Check("ledger", "problem", f"{path} cannot be read", repair)
    foreign = ledger.read(store).foreign
    if foreign:
        lines = "1 line is" if foreign == 1 else f"{foreign} lines are"
        text = f"{lines} no record of a session, and passed over"
        where = " or ".join(ledger.folders(store))
        yield Check("ledger", "note", text, f"They are in {where}; the others count.")


def _backends(around: Around) -> Iterator[Check]:
    """Yield for each model whether it can be asked here, and why not."""
    held = options.options_of(around.stores, around.environ)
    yield from _findings("config", held.findings)
    chosen = held.settings.reflection_backend
    for host in registry.OF_HOST if chosen == "auto" else ():
        backend = registry.choose(chosen, host, held, around.environ)
        who = "nobody, what is observed counts" if backend is None else backend.name
        yield Check("reflection", "ok", f"after a session of {host}, auto asks {who}")
    for name, hindrance in registry.survey(held, around.environ):
        used = " (reflection.backend)" if name == chosen else ""
        if not hindrance:
            yield Check("reflection", "ok", f"{name} can reflect here{used}")
        elif name == chosen:
            repair = "Until then sessions are recorded by what is observed."
            yield Check("reflection", "problem", f"{name} cannot reflect: {hindrance}", repair)
        else:
            yield Check("reflection", "note", f"{name} cannot reflect here: {hindrance}")


def _queue(store: Store, around: Around) -> Iterator[Check]:
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
    for path in queue.broken(store):
        text = f"{around.short(path)} is no entry of the queue, and passed over"
        repair = "Delete it; `rose reflect --all` finds the sessions of this project."
        yield Check("queue", "problem", text, repair)
