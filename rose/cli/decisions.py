"""Changes to one rule from the command line, each with what follows: layer, index, commit."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from rose import config, session
from rose.check import accept, context, decide
from rose.check.checks import Draft
from rose.cli import page, terminal
from rose.history.commit import commit
from rose.reflection import journal
from rose.report import rulebook, sources
from rose.routing import ledger, rules
from rose.store import lessons

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rose.check.checks import Context
    from rose.check.decide import Decided
    from rose.layout import Store, Stores
    from rose.routing.rules import Rule
    from rose.store.lessons import Holding


def teach(stores: Stores, when: str, then: str, *, skip: bool, home: bool, as_json: bool) -> None:
    """Check a rule that a person typed, write it and print it; raises Refused."""
    store = terminal.writable(home=home)
    draft = Draft(when, then, effect="skip" if skip else "prefer")
    accepted = accept.accept_rule(
        store,
        draft,
        _context(stores, store),
        born=ledger.read(store).greatest_n,
        created=session.now(),
    )
    rule = accepted.rule
    journal.decided(store, "teach", [rule.id], session.now())
    _follow_up(stores, store, [rule.path], f"teach {rule.id}", _line(store, rule))
    _print(stores, store, decide.Decided(rule, accepted.warnings), as_json=as_json)


def decide_on(stores: Stores, source: Holding, action: str, rule_id: str, *, as_json: bool) -> None:
    """Carry out forget, restore, approve or decline, and print what became of the rule."""
    store = source.store
    if action == "forget":
        _forget(stores, source, rule_id, as_json=as_json)
        return
    if action == "decline":
        decided = decide.decline(store, rule_id, source.settings.lessons_paths)
    else:
        change = decide.restore if action == "restore" else decide.approve
        decided = change(store, rule_id, _context(stores, store))
    journal.decided(store, action, [decided.rule.id], session.now())
    if decided.declined:
        others = [other.id for other in decided.declined]
        journal.decided(store, "decline", others, session.now())
    changed = [rule.path for rule in (decided.rule, *decided.declined)]
    _follow_up(stores, store, changed, f"{action} {rule_id}", _line(store, decided.rule))
    _print(stores, store, decided, as_json=as_json)


def _forget(stores: Stores, source: Holding, rule_id: str, *, as_json: bool) -> None:
    store = source.store
    path = os.path.join(store.routing, f"{rule_id}.md")
    left = decide.forget(store, rule_id, source.settings.lessons_paths, session.now())
    journal.decided(store, "forget", [rule_id], session.now())
    changed = [path] if left is None else [path, left]
    _follow_up(stores, store, changed, f"forget {rule_id}", "")
    if as_json:
        terminal.emit({"id": rule_id, "forgotten": True, "rejection": left})
        return
    terminal.out(f"{rule_id} is forgotten.")
    if left is not None:
        terminal.out("Reflection will not write this condition for these lessons again while")
        terminal.out(f"{terminal.short(left)} is there.")
    terminal.out(sources.read(stores).routing_line())


def _context(stores: Stores, store: Store) -> Context:
    cap = config.read(stores.first())[0].routing_max_tokens
    return context.of_store(lessons.hold(store), cap)


def _line(store: Store, rule: Rule) -> str:
    return rules.line(rule, store.prefix)


def _follow_up(stores: Stores, store: Store, paths: Sequence[str], subject: str, line: str) -> None:
    """Bring index and layer up to date, and commit where the config asks for it."""
    terminal.refresh(stores)
    if config.read(store)[0].git_commit != "auto":
        return
    message = f"rose: {subject}\n\n{line}".rstrip()
    done = commit(store.base, paths, message)
    if done.reason != "committed":
        terminal.say(f"rose: not committed: {done.reason}.")


def _print(stores: Stores, store: Store, decided: Decided, *, as_json: bool) -> None:
    rule = decided.rule
    found = sources.read(stores)
    place = rulebook.place_of(found, rule.id)
    terminal.report(decided.warnings)
    if as_json:
        shown = {} if place is None else rulebook.rule_json(place, found.source_of(place))
        warnings = [warning.as_json() for warning in decided.warnings]
        declined = [other.id for other in decided.declined]
        terminal.emit({**shown, "warnings": warnings, "declined": declined})
        return
    terminal.out(_line(store, rule))
    terminal.out(f"{rule.id}  {rule.status}  {terminal.short(rule.path)}")
    for other in decided.declined:
        terminal.out(f"{other.id}  declined, since it says the opposite:")
        page.items([_line(store, other)])
    cap = found.first.settings.routing_max_tokens
    if place is not None and place.waits:
        terminal.out(f"not in the layer: {rulebook.reason(place, cap)}")
    terminal.out(found.routing_line())
