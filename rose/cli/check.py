"""`rose check`: every finding about a draft before it is submitted; nothing is written."""

from __future__ import annotations

import os
from enum import Enum
from typing import TYPE_CHECKING, Annotated

import typer

from rose.check import drafts, judgement, lesson
from rose.cli import page, terminal
from rose.cli.app import app
from rose.errors import UsageError
from rose.reflection import shown
from rose.store import lessons

if TYPE_CHECKING:
    from rose.check.judgement import Judgement, Submission


class Kind(str, Enum):
    """What a draft can be."""

    rule = "rule"
    lesson = "lesson"


@app.command("check", short_help="Judge a draft of a rule or a lesson; nothing is written.")
def check(
    *,
    draft: Annotated[str, typer.Argument(metavar="DRAFT", help="The draft's file.")],
    kind: Annotated[Kind, typer.Option("--as", help="What the draft is to become.")],
    slot: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The file name it is meant for, such as r_1a2b3c.md."),
    ] = None,
    session: Annotated[
        str | None,
        typer.Option(metavar="TRANSCRIPT", help="The session that its quotes are from."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Judge a draft of a rule or a lesson as if it lay at its slot already; write nothing.

    Exits with 1 where there is a finding. A pass is not acceptance.

    Example: rose check draft.md --as rule --session transcript.jsonl
    """
    given = _submission(draft, kind, slot, session)
    holding = lessons.hold(terminal.stores().first(), cache=False)
    if kind is Kind.rule:
        cap = holding.settings.routing_max_tokens
        found = judgement.of_rule(
            holding, given, cap, lambda path: shown.of_transcript(path, holding)
        )
    else:
        found = judgement.of_lesson(holding, given)
    if as_json:
        terminal.emit(_as_json(found, given, kind))
    else:
        _show(found, given)
    if found.findings:
        raise typer.Exit(1)


def _submission(draft: str, kind: Kind, slot: str | None, session: str | None) -> Submission:
    """Return what was handed in; raises UsageError before anything is read."""
    can_lie = drafts.is_rule_slot if kind is Kind.rule else lesson.is_lesson_slot
    if slot is not None and (os.path.basename(slot) != slot or not slot or not can_lie(slot)):
        named = "r_ and six hex digits" if kind is Kind.rule else "a name"
        raise UsageError(f"--slot takes a bare file name, {named} and .md; not {slot!r}.")
    path = os.path.abspath(terminal.given_path(draft))
    own = os.path.basename(path)
    return judgement.Submission(
        path,
        terminal.short(path),
        slot if slot is not None else own * can_lie(own),
        "" if session is None else os.path.abspath(terminal.given_path(session)),
        is_elsewhere=slot is not None,
    )


def _as_json(found: Judgement, given: Submission, kind: Kind) -> dict[str, object]:
    return {
        "draft": given.where,
        "as": kind.value,
        "slot": given.slot or None,
        "replaces": found.incumbent or None,
        "status": found.status or None,
        "waits": found.waits or None,
        "clean": not found.findings,
        "findings": [finding.as_json() for finding in found.findings],
        "acceptance": list(found.residue),
    }


def _show(found: Judgement, given: Submission) -> None:
    for finding in found.findings:
        line = finding.line()
        place = "" if finding.where.startswith((given.where, os.sep)) else f"{given.where}: "
        expected = "" if finding.expected is None else f" Expected: {finding.expected}."
        page.paragraph(f"{place}{line}{expected}", first="", rest="  ")
    if found.waits:
        page.paragraph(f"It would be kept as proposed: {found.waits}.", first="", rest="  ")
    for line in found.residue:
        page.paragraph(line, first="", rest="  ")
    if found.findings:
        terminal.say(f"{page.count(len(found.findings), 'finding')}; nothing was written.")
    else:
        terminal.out("No finding. This is not acceptance: nothing was written or decided.")
