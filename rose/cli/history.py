"""`rose history`: a rule's life, or the latest changes of all rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from rose import text as texts
from rose.cli import page, terminal
from rose.cli.app import app
from rose.report import life, rulebook, sources

if TYPE_CHECKING:
    from rose.report.events import Event
    from rose.report.life import Life
    from rose.report.sources import Sources

SHORT_ID = 8
WHEN = 18
WHAT = 18


@app.command("history", short_help="Tell the life of a rule, or what changed lately.")
def history(
    *,
    rule: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="A rule's id, or a part of it.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Tell what happened to a rule: who wrote, reworded, approved or retired it, and its credit.

    Without one, the latest changes of all rules, newest first. Works without git, and says what
    only git could tell.

    Example: rose history e5fea0
    """
    found = sources.read(terminal.stores())
    if rule is None:
        _show_latest(found, as_json=as_json)
    else:
        told = life.of_rule(found, rule)
        if as_json:
            terminal.emit(told.as_json(found))
        else:
            _show(told)


def _show_latest(found: Sources, *, as_json: bool) -> None:
    happened, unknown = life.latest(found)
    if as_json:
        terminal.emit({"events": [event.as_json() for event in happened], "unknown": unknown})
        return
    for event in happened:
        source = texts.clean_line(event.session or event.by)[:SHORT_ID]
        head = f"{_time(event.at)}{event.what:<11}{event.rule}  {source:<{SHORT_ID}}  "
        terminal.out(_clipped(head + texts.clean_line(event.detail)))
    if not happened:
        terminal.out("No rule has changed yet.")
    if unknown:
        terminal.say(unknown)


def _clipped(line: str) -> str:
    return line.rstrip() if len(line) <= page.WIDTH else line[: page.WIDTH - 1] + "…"


def _time(at: str) -> str:
    day, _, clock = at.partition("T")
    return f"{day} {clock[:5]}".strip().ljust(WHEN)


def _show(told: Life) -> None:
    place = told.place
    if place is None:
        terminal.out(f"{told.rule}  gone, or not to be read")
    else:
        is_approved = place.rule.approval == "approved"
        state = place.rule.status + ", approved by a person" * is_approved
        terminal.out(f"{told.rule}  {state}  {terminal.short(place.rule.path)}")
        page.paragraph(place.text, first="", rest="  ")
    terminal.out()
    for event in told.happened:
        _show_event(event)
        for quote in told.quotes.get(event.session, ()) if event.session else ():
            _indented(page.quoted(quote))
    if told.sessions:
        terminal.out("\nSessions it was sent to")
    if told.earlier:
        terminal.out(f"{' ' * WHEN}{page.count(told.earlier, 'earlier session')}")
    for event in told.sessions:
        _show_event(event)
    if place is not None:
        terminal.out()
        page.row("score", rulebook.arithmetic(place.standing))
    for sentence in told.unknown:
        terminal.say(sentence)


def _show_event(event: Event) -> None:
    head = f"{_time(event.at)}{event.what}".ljust(WHEN + WHAT)
    parts = [f"session {event.session[:SHORT_ID]}"] if event.session else []
    parts += [f"commit {event.commit[:SHORT_ID]} by {event.by}"] if event.commit else []
    page.paragraph(", ".join(parts) or event.detail, first=head, rest=" " * (WHEN + WHAT))
    if parts and event.detail:
        _indented(event.detail)


def _indented(text: str) -> None:
    page.paragraph(text, first=" " * WHEN, rest=" " * (WHEN + 2))
