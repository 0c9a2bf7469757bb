"""Changes to one rule from the command line, each with what follows: layer, index, commit."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from rose import config, session
from rose.check import accept, context, decide
from rose.check.checks import Draft
from rose.cli import page, terminal
from rose.errors import RoseError
from rose.reflection import commits, journal, notes
from rose.reflection.commits import Told
from rose.report import rulebook, sources
from rose.routing import forgotten, rules, table
from rose.store import lessons

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rose.check.checks import Context
    from rose.check.decide import Decided
    from rose.layout import Stores
    from rose.store.lessons import Holding


def teach(stores: Stores, when: str, then: str, *, skip: bool, home: bool, as_json: bool) -> None:
    """Check a rule that a person typed, write it and print it; raises Refused."""
    source = lessons.hold(terminal.writable(home=home))
    draft = Draft(when, then, effect="skip" if skip else "prefer")
    against = _context(stores, source)
    accepted = accept.accept_rule(source.store, draft, against, created=session.now())
    rule = accepted.rule
    journal.decided(source.store, "teach", [rule.id], session.now())
    told = [Told("teach", rule.id, rules.line(rule))]
    _follow_up(stores, source, {rule.path: ""}, told)
    _print(stores, source, decide.Decided(rule, accepted.warnings), as_json=as_json)


def decide_on(stores: Stores, source: Holding, action: str, rule_id: str, *, as_json: bool) -> None:
    """Carry out forget, restore, approve or decline, and print what became of the rule."""
    store = source.store
    if action == "forget":
        _forget(stores, source, rule_id, as_json=as_json)
        return
    was = _digests(table.read(store, source.settings.lessons_paths).stamps)
    if action == "decline":
        decided = decide.decline(store, rule_id, source.settings.lessons_paths)
    else:
        change = decide.restore if action == "restore" else decide.approve
        decided = change(store, rule_id, _context(stores, source))
    journal.decided(store, action, [decided.rule.id], session.now())
    told = [Told(action, rule_id, rules.line(decided.rule))]
    if decided.declined:
        others = [other.id for other in decided.declined]
        journal.decided(store, "decline", others, session.now())
        told += [Told("decline", other.id, rules.line(other)) for other in decided.declined]
    paths = [rule.path for rule in (decided.rule, *decided.declined)]
    _follow_up(stores, source, {path: was.get(path, "") for path in paths}, told)
    _print(stores, source, decided, as_json=as_json)


def _forget(stores: Stores, source: Holding, rule_id: str, *, as_json: bool) -> None:
    store = source.store
    was = _digests([table.path_of(store, rule_id), forgotten.path_of(store, rule_id)])
    left = decide.forget(store, rule_id, source.settings.lessons_paths, session.now())
    journal.decided(store, "forget", [rule_id], session.now())
    _follow_up(stores, source, was, [Told("forget", rule_id)])
    if as_json:
        terminal.emit({"id": rule_id, "forgotten": True, "rejection": left})
        return
    terminal.out(f"{rule_id} is forgotten.")
    if left is not None:
        terminal.out("Reflection will not write this condition for these lessons again while")
        terminal.out(f"{terminal.short(left)} is there.")
    page.bet(sources.read(stores).routing_line())


def _context(stores: Stores, source: Holding) -> Context:
    return context.of_store(source, config.read(stores.first())[0].routing_max_tokens)


def _digests(paths: Iterable[str]) -> dict[str, str]:
    """Return the digests of files as they are now; one that cannot be read is left out."""
    found = {}
    for path in paths:
        with contextlib.suppress(RoseError):
            found[path] = notes.digest(notes.text_of(path))
    return found


def _follow_up(
    stores: Stores, source: Holding, was: Mapping[str, str], told: Sequence[Told]
) -> None:
    """Bring index and layer up to date, and commit where the config asks for it.

    `was` holds the digest that each file which changed had before.
    """
    now = _digests(was)
    terminal.refresh(stores)
    changed = {path: (was[path], digest) for path, digest in now.items()}
    said = commits.commit(source, changed, commits.message("", told))
    if said not in ("", "committed"):
        terminal.say(f"rose: not committed: {said}.")


def _print(stores: Stores, source: Holding, decided: Decided, *, as_json: bool) -> None:
    rule, prefix = decided.rule, source.store.prefix
    found = sources.read(stores)
    place = rulebook.place_of(found, rule.id)
    terminal.report(decided.warnings)
    if as_json:
        shown = {} if place is None else rulebook.rule_json(place, found.source_of(place))
        warnings = [warning.as_json() for warning in decided.warnings]
        declined = [other.id for other in decided.declined]
        terminal.emit({**shown, "warnings": warnings, "declined": declined})
        return
    terminal.out(rules.line(rule, prefix))
    terminal.out(f"{rule.id}  {rule.status}  {terminal.short(rule.path)}")
    for other in decided.declined:
        terminal.out(f"{other.id}  declined, since it says the opposite:")
        page.items([rules.line(other, prefix)])
    cap = found.first.settings.routing_max_tokens
    if place is not None and place.waits:
        terminal.out(f"not in the layer: {rulebook.reason(place, cap)}")
    page.bet(found.routing_line())
