"""Rose's commits: which files of a store go into one, and what its message tells.

The message holds text of a session, so each piece of it is one cleaned, redacted, indented line:
none of it can pass for a trailer, for another paragraph, or for an order to a hosting site.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rose import files, redact
from rose import text as texts
from rose.errors import RoseError
from rose.history import commit as committing
from rose.history.past import SESSION
from rose.reflection import notes
from rose.routing import ledger, table, wording

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rose.layout import Store
    from rose.reflection.changes import Step
    from rose.routing.rules import Rule
    from rose.store.lessons import Holding

MOST_NAMED = 2
MOST_TOLD = 20
MOST_CHARS = 160
SHORT = 8
# `fixes #12` would close an issue, `[skip ci]` would keep the tests from running.
_ORDERS = re.compile(r"#(?=\d)|[\[\]]|\bGH-(?=\d)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Told:
    """One change as a commit tells it: what was done to which rule or lesson, and why."""

    verb: str
    name: str
    line: str = ""
    why: str = ""
    quote: str = ""


def message(session: str, changes: Sequence[Told], origin: str = "session") -> str:
    """Return the message of a commit: rules and session, the reason of each, one trailer.

    Without a session there is no trailer.
    """
    name = re.sub(r"[^\w.:-]+", "-", redact.redact(session))[:MOST_CHARS]
    named = [f"{told.verb} {told.name}" for told in changes]
    more = f" and {len(named) - MOST_NAMED} more" if len(named) > MOST_NAMED else ""
    head = ", ".join(named[:MOST_NAMED]) + more or "record"
    origin = f" ({origin} {name[:SHORT]})" if name else ""
    blocks = [f"rose: {_clean(head)}{origin}"]
    blocks += [_paragraph(told) for told in changes[:MOST_TOLD]]
    if len(changes) > MOST_TOLD:
        blocks.append(f"And {len(changes) - MOST_TOLD} more.")
    blocks += [f"{SESSION}: {name}"] if name else []
    return "\n\n".join(blocks) + "\n"


def _paragraph(told: Told) -> str:
    lines = [f"{told.verb.capitalize()} {_clean(told.name)}:"]
    lines += [f"  {_clean(told.line)}"] if told.line else []
    lines += [f"  why: {_clean(told.why)}"] if told.why else []
    lines += [f'  quote: "{_clean(told.quote)}"'] if told.quote else []
    return "\n".join(lines) if len(lines) > 1 else lines[0].rstrip(":") + "."


def _clean(text: str) -> str:
    line = _ORDERS.sub("", redact.redact(texts.clean_line(text)))
    return line if len(line) <= MOST_CHARS else line[: MOST_CHARS - 1] + "…"


def told(
    steps: Sequence[Step],
    retired: Sequence[tuple[str, str]],
    rules: Iterable[Rule],
    session: str,
) -> list[Told]:
    """Return what a reflection did to rules, which are given as they are now.

    What was refused is none of it.
    """
    known = {rule.id: rule for rule in rules}
    found = []
    for step in steps:
        rule = known.get(step.rule or "")
        if rule is None:
            continue
        verb, line = step.change.kind.partition("-")[0], wording.line(rule.when, rule.then)
        quotes = [item.quote for item in rule.evidence if item.session == session]
        found.append(Told(verb, rule.id, line, step.change.why, (quotes or [""])[-1]))
        found += [
            Told("retire", old.id, why=f"merged into {rule.id}") for old in step.change.others
        ]
    return found + [Told("retire", rule_id, why=reason) for rule_id, reason in retired]


def of_reflection(
    holding: Holding,
    name: str,
    steps: Sequence[Step],
    retired: Sequence[tuple[str, str]],
) -> str:
    """Commit what a reflection changed in a store, by the name of its note; returns what git said.

    Empty where the settings ask for no commit, or nothing is to be committed.
    """
    note = notes.read(holding.store, name) if holding.settings.git_commit == "auto" else None
    if note is None:
        return ""
    changed = {
        path: (change.digest_before(), change.after)
        for _, path, change in note.places(holding.store)
        if change.after is not None
    }
    first = {path: notes.digest(change.before) for _, path, change in note.places(holding.store)}
    rules = table.read(holding.store, holding.settings.lessons_paths).rules
    lessons = [Told("add", path) for path in sorted(note.lessons)]
    text = message(note.session, [*told(steps, retired, rules, note.session), *lessons])
    return commit(holding, changed, text, first)


def commit(
    holding: Holding,
    changed: Mapping[str, tuple[str, str]],
    text: str,
    first: Mapping[str, str] | None = None,
) -> str:
    """Commit the files that rose changed, each by the digests before and after; see above.

    `first` gives the digest before an earlier run, which may have been killed before its commit.
    A file that is not as rose left it any more is not among them.
    """
    store, settings = holding.store, holding.settings
    if settings.git_commit != "auto":
        return ""
    paths = [path for path, (_, now) in sorted(changed.items()) if _digest(path) == now]
    if settings.ledger_share == "commit":
        paths.append(os.path.join(store.ledger("commit"), ledger.writer_name(store) + ".jsonl"))
    if not paths:
        return ""
    was = {path: {before, (first or {}).get(path, before)} for path, (before, _) in changed.items()}
    done = committing.commit(store.base, paths, text, was=was)
    reshaped = {
        path: (changed[path][1], made)
        for path in paths
        if path in changed
        and (made := done.digests.get(os.path.realpath(path), changed[path][1])) != changed[path][1]
        and _digest(path) == made
    }
    if reshaped:
        _follow(store, reshaped)
    return done.reason


def _digest(path: str) -> str | None:
    try:
        return notes.digest(notes.text_of(path))
    except RoseError:
        return None


def _follow(store: Store, reshaped: Mapping[str, tuple[str, str]]) -> None:
    """Take what a hook of the repository made of rose's files for rose's own."""
    try:
        with files.lock(store.lock):
            notes.follow(store, reshaped)
    except RoseError:
        # The commit stands; an undo will take the file for one that a person edited.
        return
