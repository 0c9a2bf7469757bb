"""`rose trace` and `rose replay`: what a selection did, and whether it would do it again."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rose import text as texts
from rose.cli import page, terminal
from rose.cli.app import app
from rose.errors import UsageError
from rose.selection import outcome, replay, sessions, trace
from rose.store import lessons

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rose.layout import Store
    from rose.selection.trace import Row

LATEST = 20
# Kinds of nothing that are no matter of how many of how many.
NOTHING = {"left-out": "left out", "unasked": "no words", "not-found": "none", "failed": "failed"}
SHORT_ID = 8
COUNTED = {"k": "lesson", "windows": "passage", "tokens": "token", "bytes": "byte"}

TraceId = Annotated[str, typer.Argument(metavar="ID", help="A trace's id, or a part of it.")]
JsonFlag = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


@app.command("trace", short_help="Show what a search or a recall found and chose.")
def show_trace(
    *,
    which: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="A trace's id, or a part of it.")
    ] = None,
    session: Annotated[
        str, typer.Option("--session", metavar="ID", help="Only the calls of one session.")
    ] = "",
    as_json: JsonFlag = False,
) -> None:
    """Show what a search, a look at evidence or a recall found, chose and served.

    Without an id, the latest calls that left a record, newest first.

    Example: rose trace t_257165417b25
    """
    if which is not None and session:
        raise UsageError("Name a trace or a session, not both.")
    stores = _stores()
    if which is None:
        rows = _latest(stores, session)
        latest = sorted(rows, key=lambda row: str(row.get("at")))[: -LATEST - 1 : -1]
        if as_json:
            terminal.emit(latest)
        else:
            _list(latest)
        return
    row = trace.find(stores, which)
    if as_json:
        terminal.emit(row)
    else:
        _show(row)


@app.command("replay", short_help="Make a recorded call again, without a model.")
def replay_trace(
    *,
    which: TraceId,
    view: Annotated[
        str, typer.Option("--view", help="recorded: is it the same? current: what falls now?")
    ] = "recorded",
    output: Annotated[
        str, typer.Option("--output", metavar="PATH", help="Write the new record to a new file.")
    ] = "",
) -> None:
    """Make a recorded call again, without a model, and say what has come out differently.

    Exits with 1 at a difference. `--view current` says what would be excluded today instead.

    Example: rose replay t_257165417b25 --view current
    """
    if view not in ("recorded", "current"):
        raise UsageError(f"--view takes recorded or current, not {view!r}.")
    holdings = lessons.hold_all(terminal.stores())
    row = trace.find([holding.store for holding in holdings], which)
    if os.path.lexists(path := terminal.given_path(output)):
        raise UsageError(f"{path} is there already. Name a new file.")
    again = replay.replay(row, holdings)
    if output:
        _write(path, again)
    if view == "current":
        excluded = replay.today(row, again, holdings)
        for node, why in excluded.items():
            page.paragraph(f"{node}: {why}", first="", rest="  ")
        if not excluded:
            terminal.out("Nothing would be excluded today.")
        return
    difference = replay.difference(row, again)
    terminal.out(texts.clean_line(difference) if difference else "identical")
    if difference:
        _say_store(row, again)
        raise typer.Exit(1)


def _latest(stores: Sequence[Store], session: str) -> list[Row]:
    if not session:
        return [row for store in stores for row in trace.latest(store, LATEST)]
    meant = sessions.resolve(stores, session)
    return [row for store in stores for row in trace.in_session(store, meant)]


def _stores() -> list[Store]:
    """Return the stores that apply here; raises NoStore."""
    found = terminal.stores()
    found.first()
    return found.present()


def _write(path: str, row: Row) -> None:
    with open(path, "x", encoding="utf-8") as stream:
        stream.write(json.dumps(row, indent=2) + "\n")


def _say_store(row: Row, again: Row) -> None:
    """Say that the lessons are not those of then, which may be all that differs."""
    then, now = row.get("store"), again.get("store")
    if isinstance(then, dict) and isinstance(now, dict) and then.get("digest") != now["digest"]:
        terminal.say("The lessons have changed since the call.")


def _list(rows: Sequence[Row]) -> None:
    for row in rows:
        at = str(row.get("at"))[5:16].replace("T", " ")
        found = f"{len(trace.items(row, 'candidates'))} found"
        if row.get("kind") == "recall":
            found = f"{len(trace.items(row, 'admitted'))} of {found.removesuffix(' found')}"
            came_to = outcome.of(row)
            is_degraded = came_to == "failed" and trace.items(row, "selected")
            found = "degraded" if is_degraded else NOTHING.get(came_to, found)
        words = (str(row.get("kind")), str(row.get("session") or "-")[:SHORT_ID], found)
        fields = (row["id"], at, *(f"{word:<{SHORT_ID}}" for word in words))
        line = "  ".join([*map(texts.visible, fields), texts.clean_line(str(row.get("query")))])
        terminal.out(line if len(line) <= page.WIDTH else line[: page.WIDTH - 1] + "…")
    if not rows:
        terminal.say("No call has left a record yet; `rose recall` leaves one.")


def _show(row: Row) -> None:
    page.row("trace", f"{row['id']}, {row.get('kind')} at {row.get('at')}")
    page.row("query", str(row.get("query")))
    if row.get("session"):
        page.row("session", str(row["session"]))
    for name in ("scope", "judge", "failure"):
        if row.get(name):
            page.row(name, _words(row[name]))
    later = row.get("later_failure")
    if later:
        page.row("afterwards", ": ".join(filter(None, [str(later), outcome.LATER.get(str(later))])))
    if row.get("condition") != "retrieval":
        page.row("condition", str(row.get("condition")))
    _show_limits(row.get("budget"))
    if row.get("kind") == "recall":
        page.row("stages", outcome.said(row))
        counter = f", by {row['counter']}" if row.get("counter") else ""
        page.row("tokens", f"{row.get('tokens')}{counter}")
    looks = trace.items(row, "looked")
    if looks:
        page.row("looked", *(f"{one.get('tool')} {one.get('given')}" for one in looks))
    _show_lessons(row)
    output = row.get("output")
    if isinstance(output, dict):
        page.row("opened", _words(output.get("opened")) or "none")
        page.row("used", _words(output.get("used")) or "none")
        page.row("cited", _words(row.get("citations")) or "none")
    lines = str(row.get("text") or "").split("\n")
    for line in filter(None, lines):
        page.paragraph(line, first="  ", rest="    ")


def _show_lessons(row: Row) -> None:
    """Print each lesson once: candidates in their order, with what became of each."""
    became = {node: fate.said() for node, fate in outcome.of_lessons(row).items()}
    judged = {str(one.get("node")): _judged(one.get("why")) for one in trace.items(row, "selected")}
    others = [str(one.get("node")) for one in trace.items(row, "candidates")]
    left = "not selected" if row.get("kind") == "recall" else ""
    lines = []
    for one in trace.items(row, "candidates"):
        node, score = str(one.get("node")), one.get("score")
        said = became.pop(node, left)
        found = [f"{score:.2f}"] if isinstance(score, float) else []
        lines.append(_lesson(node, [*found, *judged.get(node, [])], said))
    for node, said in became.items():
        if node not in others:
            lines.append(_lesson(node, judged.get(node, []), said))
    page.row("lessons", *lines)


def _lesson(node: str, scores: Sequence[str], said: str) -> str:
    worth = f" ({', '.join(scores)})" if scores else ""
    return f"{node}{worth}{f': {said}' if said else ''}"


def _judged(why: Any) -> list[str]:
    """Return what a judge gave to a lesson, in the order in which it was asked."""
    given = why if isinstance(why, dict) else {}
    return [f"{mode} {given[mode]}" for mode in outcome.JUDGED if mode in given]


def _show_limits(budget: Any) -> None:
    """Print the limits of a call as a person would say them."""
    if not isinstance(budget, dict):
        page.row("limits", _words(budget))
        return
    words = [page.count(budget[name], one) for name, one in COUNTED.items() if name in budget]
    if "chars" in budget:
        words.append(f"windows of {budget['chars']} characters")
    if "first" in budget:
        words.append(f"lines {budget['first']} to {budget.get('last')}")
    if budget.get("serving") == "pointers":
        words.append("a line for each")
    page.row("limits", ", ".join(words))
    if budget.get("selector"):
        page.row("selector", str(budget["selector"]))
    asked = budget.get("judged")
    if isinstance(asked, list):
        modes = ", ".join(mode for mode in outcome.JUDGED if mode in asked)
        # Only what a judge may turn down is held against a score.
        least = f"; kept from {budget.get('threshold')}" if modes != "rerank" else ""
        page.row("judged", f"{modes}{least}")


def _words(value: Any) -> str:
    """Return a list or an object of the record as one line."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {part}" for name, part in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value or "")
