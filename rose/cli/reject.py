"""`rose reject`, `rose rejected`, `rose reconsider`: what was turned down, and what it rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from rose import session as clock
from rose import text as texts
from rose.cli import page, terminal
from rose.cli.app import app
from rose.errors import UsageError
from rose.selection import reconsider as reconsidering
from rose.selection import reject as rejecting
from rose.selection import rejection_page, rejections, sessions
from rose.store import lessons

if TYPE_CHECKING:
    from rose.routing.skips import Skip
    from rose.selection.reconsider import Reached, Reconsidered
    from rose.selection.reject import Listed

SHORT_ID = 8

JsonFlag = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


@app.command("reject", short_help="Turn a lesson down for this session.")
def reject_lesson(
    *,
    node: Annotated[str, typer.Argument(metavar="NODE", help="A lesson's id or path.")],
    query: Annotated[str, typer.Option("--query", metavar="Q", help="What was looked for.")],
    why: Annotated[str, typer.Option("--why", metavar="W", help="Why it does not help there.")],
    named: Annotated[
        str,
        typer.Option("--session", metavar="ID", help="Which; without it, the one we run in."),
    ] = "",
    by_scope: Annotated[
        bool,
        typer.Option("--scope-reason", help="The task alone rules it out; no text was needed."),
    ] = False,
) -> None:
    """Turn a lesson down: this session is not given it again for the same need.

    A record of the session must have shown its text (`rose search` or `rose evidence` in it, or
    what `rose recall` served).

    Example: rose reject deploy/canary --query "slow tests" --why "about shipping, not tests"
    """
    holdings = lessons.hold_all(terminal.stores())
    stores = [holding.store for holding in holdings]
    session = sessions.of_new(stores, named) if named else terminal.session("")
    for name, value in (("--query", query), ("--why", why)):
        if _is_blank(value):
            raise UsageError(f"{name} is empty: say it in words.")
    if _is_blank(session):
        raise UsageError("Which session? `rose reject NODE --session ID …`.")
    done = rejecting.reject(
        holdings, node, query=query, why=why, session=session, at=clock.now(), by_scope=by_scope
    )
    place = terminal.short(rejection_page.path_of(holdings[0].store, session))
    terminal.out(f"{done.row.node} is turned down: {_seen(done)}.")
    terminal.say(f"It is judged again once its section is taken out of {place}.")


@app.command("rejected", short_help="List what was turned down, and on what.")
def list_rejected(
    *,
    session: Annotated[
        str, typer.Option("--session", metavar="ID", help="Of one session; without it, of all.")
    ] = "",
    as_json: JsonFlag = False,
) -> None:
    """List the lessons that sessions turned down: how much they had seen, and what changed since.

    Example: rose rejected --session 3f2a9c1e-0000-4000-8000-000000000000
    """
    holdings = lessons.hold_all(terminal.stores())
    if session:
        session = sessions.resolve([holding.store for holding in holdings], session)
    found = rejecting.listing(holdings, session)
    if as_json:
        rows = [one.as_json() for one in found.rows]
        terminal.emit({"rejections": rows, "findings": [x.as_json() for x in found.findings]})
        return
    for one in found.rows:
        who = one.row.session[:SHORT_ID]
        page.paragraph(f"{one.row.node} ({_seen(one)})", first="", rest="  ")
        place = f"{page.quoted(one.row.query)}, session {who}, {one.row.where}"
        page.paragraph(place, first="  ", rest="    ")
        if one.row.why:
            page.paragraph(f"why: {one.row.why}", first="  ", rest="    ")
    if not found.rows:
        whose = f"Session {session}" if session else "No session"
        has = "has turned nothing down" if session else "has turned anything down"
        terminal.say(f"{whose} {has}.")
    terminal.report(found.findings)


@app.command("reconsider", short_help="What was turned down and is still found, or changed.")
def reconsider_all(*, as_json: JsonFlag = False) -> None:
    """List rejected lessons that their queries still find, and skip rules that may be out of date.

    Decides nothing and writes nothing. A skip rule is out of date where its lessons changed or
    were used since.

    Example: rose reconsider --json
    """
    found = reconsidering.reconsider(lessons.hold_all(terminal.stores()))
    if as_json:
        terminal.emit(found.as_json())
        return
    if found.lessons:
        terminal.out("Turned down, and still found:")
    for one in found.lessons:
        _print_lesson(one)
    if found.rules:
        terminal.out("Skip rules to look at again:")
    for skip in found.rules:
        _print_skip(skip)
    if found.unchecked:
        terminal.out("Could not be checked:")
    page.items(f"{what}: {reason}" for what, reason in found.unchecked)
    terminal.report(found.findings)
    _say(found)


def _is_blank(value: str) -> bool:
    """Tell whether a value says nothing as far as it is kept."""
    return not texts.clean_line(value[: rejections.MOST_CHARS])


def _seen(one: Listed) -> str:
    """Return in words what a rejection rests on, and whether the lesson is still the same."""
    seen = one.seen
    words: list[str] = [seen.stage]
    if seen.stage == "scope":
        # What was seen of its text is no part of the reason.
        words.append("the task alone")
    elif seen.chars is None:
        words.append("characters not counted")
    elif seen.stage != "unrecorded":
        words.append(page.count(seen.chars, "character") + " seen")
    if seen.trace:
        words.append(seen.trace)
    if one.now is None:
        words.append("gone since")
    elif one.is_changed:
        words.append("changed since")
    elif not one.row.version:
        words.append("for any version")
    return ", ".join(words)


def _print_lesson(one: Reached) -> None:
    changed = {True: " (changed since)", None: " (nobody knows whether it changed)"}
    title = f"{one.lesson.id} - {one.lesson.title}{changed.get(one.is_changed, '')}"
    page.paragraph(title, first="  ", rest="    ")
    for row in one.rows:
        rank = one.ranks.get(row.row.query)
        place = "not found any more" if rank is None else f"found as number {rank}"
        page.paragraph(
            f"{page.quoted(row.row.query)}: {place}; {_seen(row)}", first="    ", rest="      "
        )
        if row.row.why:
            page.paragraph(f"why: {row.row.why}", first="      ", rest="      ")


def _print_skip(skip: Skip) -> None:
    page.paragraph(f"{skip.rule.id}  {skip.line}", first="  ", rest="    ")
    for path, how in skip.changes:
        page.paragraph(f"{how}: {path}", first="    ", rest="      ")
    for node, times in skip.used.items():
        sessions = page.count(times, "session")
        page.paragraph(f"used since in {sessions}: {node}", first="    ", rest="      ")
    if skip.misled:
        page.paragraph(f"misled {page.count(skip.misled, 'session')}", first="    ", rest="")


def _say(found: Reconsidered) -> None:
    looked = page.count(found.rejections, "rejection")
    looked += f" and {page.count(found.skips, 'skip rule')}"
    if not (found.lessons or found.rules):
        rest = ", as far as it could be checked" if found.unchecked else ""
        terminal.say(f"Nothing to reconsider in {looked}{rest}.")
        return
    terminal.say(f"Looked at {looked}. Nothing is decided here.")
    if found.lessons:
        terminal.say("A section taken out of .rose/rejections/ opens its lesson again.")
    if found.rules:
        terminal.say("`rose route --approve ID` keeps a rule for its lessons as they are now,")
        terminal.say("`rose route --forget ID` lifts it.")
