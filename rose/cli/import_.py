"""`rose import`: skill libraries, editor rules and folders of Markdown become lessons."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from rose import config, session
from rose.check import context, imported
from rose.check.imported import Routed
from rose.cli import page, terminal
from rose.cli.app import app
from rose.findings import errors
from rose.reflection import journal
from rose.routing import rules
from rose.store import importing, inplace, lessons

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rose.check.imported import Claims
    from rose.findings import Finding
    from rose.layout import Store, Stores
    from rose.routing.rules import Rule
    from rose.store.importing import Imported

MOST_RULES = 5


@app.command("import", short_help="Bring in skills, editor rules and other Markdown.")
def import_lessons(
    *,
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH...", help="Folders, or .md and .mdc files.")
    ],
    in_place: Annotated[
        bool, typer.Option("--in-place", help="Read folders of the project where they lie.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would come in; write nothing.")
    ] = False,
    home: Annotated[
        bool, typer.Option("--home", help="Into the store of your home folder.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> int:
    """Bring in skills, editor rules, CLAUDE.md, AGENTS.md or any Markdown, byte for byte.

    Copied below the lessons folder, or read in place. A second run changes nothing.

    Example: rose import ~/skills .cursor/rules
    """
    stores = terminal.stores()
    store = terminal.writable(home=home)
    settings = config.read(store)[0]
    given = [terminal.given_path(path.replace("\0", "")) for path in paths]
    bring = inplace.adopt if in_place else importing.copy
    done = bring(store, settings, given, dry_run=dry_run)
    claims = imported.claims_of(done.entries)
    routed = _route(stores, store, done, claims, dry_run=dry_run)
    is_changed = bool(done.folders or routed.rules or any(e.is_new for e in done.entries))
    if is_changed and not dry_run:
        terminal.refresh(stores)
    found = [*done.findings, *claims.findings, *routed.findings]
    if as_json:
        terminal.emit(_as_json(store, done, claims, routed, found))
    else:
        _show(store, done, claims, routed, dry_run=dry_run)
        terminal.report(found, refused=bool(errors(found)))
        _say_next(routed, is_changed=is_changed, dry_run=dry_run)
    return 1 if errors(found) else 0


def _route(
    stores: Stores, store: Store, done: Imported, claims: Claims, *, dry_run: bool
) -> Routed:
    """Write the rules that the imported files ask for, or say in a dry run which they are."""
    settings = config.read(store)[0]
    roots = tuple(dict.fromkeys([*settings.lessons_paths, *done.folders]))
    drafts = imported.drafts_of(claims, store, roots)
    if not drafts:
        return Routed()
    cap = config.read(stores.first())[0].routing_max_tokens
    if dry_run:
        against = context.of_store(lessons.hold(store, cache=False), cap, cache=False)
        return imported.preview(drafts, against, [entry.path for entry in done.entries], roots)
    against = context.of_store(lessons.hold(store), cap)
    routed = imported.write(store, drafts, against, created=session.now())
    if routed.rules:
        journal.decided(store, "teach", [rule.id for rule in routed.rules], session.now())
    return routed


def _show(store: Store, done: Imported, claims: Claims, routed: Routed, *, dry_run: bool) -> None:
    new = [entry.path for entry in done.entries if entry.is_new]
    tops = dict.fromkeys(os.path.dirname(os.sep.join(path.split("/")[:3])) for path in new)
    below = f" below {', '.join(f'{top}/' for top in tops)}" if new else ""
    below += ", read in place" if done.folders else ""
    page.row("store", terminal.short(store.dot))
    page.row("comes in" if dry_run else "came in", page.count(len(new), "file") + below)
    if len(new) < len(done.entries):
        page.row("was there", page.count(len(done.entries) - len(new), "file"))
    if done.left:
        listed = (f"{number} {reason}" for reason, number in sorted(done.left.items()))
        page.row("left out", "; ".join(listed))
    if routed.rules:
        said = f"{page.count(len(routed.rules), 'rule')} for the files that they name"
        page.row("rules", said, *(_line(rule, store) for rule in routed.rules[:MOST_RULES]))
        if len(routed.rules) > MOST_RULES:
            page.row("", f"… and {len(routed.rules) - MOST_RULES} more")
    if claims.everywhere:
        say = "file says it is" if claims.everywhere == 1 else "files say they are"
        why = f"{claims.everywhere} {say} for every file (`**/*`), which tells no work apart"
        page.row("no rule", f"{why}; search finds them like any other lesson")


def _line(rule: Rule, store: Store) -> str:
    return rules.line(rule, store.prefix)


def _say_next(routed: Routed, *, is_changed: bool, dry_run: bool) -> None:
    if not is_changed:
        terminal.say("Nothing is new, and nothing was changed.")
    elif dry_run:
        terminal.say("Nothing was written. The same without --dry-run brings them in.")
    elif routed.rules:
        terminal.say(
            "Next: `rose route` says which rules are in the layer, `rose list` the lessons."
        )
    else:
        terminal.say("Next: `rose list`, or `rose search` for what they say.")


def _as_json(
    store: Store, done: Imported, claims: Claims, routed: Routed, found: Sequence[Finding]
) -> dict[str, object]:
    return {
        "store": store.dot,
        "files": [
            {
                "source": entry.source,
                "path": entry.path,
                "new": entry.is_new,
                "secrets": entry.secrets,
            }
            for entry in done.entries
        ],
        "folders": list(done.folders),
        "left": dict(sorted(done.left.items())),
        "rules": [
            {"id": rule.id, "line": _line(rule, store), "match": list(rule.match)}
            for rule in routed.rules
        ],
        "everywhere": claims.everywhere,
        "findings": [finding.as_json() for finding in found],
    }
