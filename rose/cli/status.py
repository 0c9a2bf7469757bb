"""`rose status`: one screen on what there is, what was learned, what failed and what it costs."""

from __future__ import annotations

import os
import time
from collections import Counter
from typing import TYPE_CHECKING, Annotated

import typer

from rose import refresh, trust
from rose.cli import page, terminal
from rose.cli.app import app
from rose.hosts import wiring
from rose.report import activity, overview

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rose.backends.base import Usage
    from rose.config import Settings
    from rose.report.activity import Cost, Delivery, Queue
    from rose.report.learned import Change, Reflection
    from rose.report.overview import Overview

MAX_BROKEN = 3
MAX_LEARNED = 8
MAX_FAILED = 3
MAX_QUESTIONS = 3
SHORT_ID = 8


@app.command("status", short_help="Say what there is, what was learned, and what is broken.")
def status(
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Say what there is, what was learned lately, what is broken and what the layer costs.

    Example: rose status --json
    """
    stores = terminal.stores()
    found = overview.read(stores, time.time())
    if found.is_behind:
        # Every command brings the layer up to date, so that the next prompt finds it so.
        refresh.layer(stores, exact=True)
    if as_json:
        terminal.emit(found.as_json())
        return
    page.row("store", *_stores(found))
    page.row("lessons", _lessons(found))
    page.bet(found.sources.routing_line())
    if found.trend is not None:
        page.row("trend", found.trend.line())
    page.row("layer", *_layer(found.cost))
    _show_learned(found)
    page.row("questions", *_questions(found))
    page.row("delivery", *_delivery(found.delivery))
    if found.spent.calls:
        page.row("asked", _spent(found.spent, found.sources.first.settings))
    page.row("queue", *_queue(found.queue))
    page.row("hook", _hook(found))
    page.row("broken", *_broken(found))
    page.row("note", *_note(found))
    lost = found.sources.survey.lost()
    if lost:
        one = page.count(len(lost), "rule leads", "rules lead")
        page.row("lost", f"{one} to no lesson in use: rose route shows which")


def _stores(found: Overview) -> Iterator[str]:
    for source in found.sources.each:
        kind = "" if source.store.kind == "project" else " (home)"
        is_used = trust.is_trusted(source.store, os.environ)
        doubt = "" if is_used else ", not trusted: user-wide hooks pass over it (rose trust)"
        yield f"{terminal.short(source.store.dot)}{kind}{doubt}"


def _lessons(found: Overview) -> str:
    states = Counter(
        lesson.status for source in found.sources.each for lesson in source.shelf.lessons
    )
    active = states.pop("active", 0)
    if not active and not states:
        folders = " and ".join(f"{root}/" for root in found.sources.first.settings.lessons_paths)
        return f'none in {folders} yet: rose add "TITLE", or rose init --adopt'
    others = [f"{number} {state}" for state, number in sorted(states.items())]
    return ", ".join([f"{active} active", *others])


def _layer(cost: Cost) -> Iterator[str]:
    if not cost.is_enabled or not cost.max_tokens:
        key = "--unset routing.max_tokens" if cost.is_enabled else "routing.enabled true"
        yield f"off: nothing is sent (rose config {key})"
        return
    if not cost.rules:
        yield f"empty: nothing is sent, 0 of {cost.max_tokens} tokens"
        return
    yield (
        f"{page.count(cost.rules, 'rule')}, {cost.tokens} of {cost.max_tokens} tokens "
        f"({cost.counter}), {cost.block_bytes} bytes"
    )
    if cost.counter_reason:
        yield f"counted in bytes, which is never too few: {cost.counter_reason}"
    if cost.repeat == "every-prompt":
        yield f"every prompt pays {cost.tokens} tokens (routing.repeat: every-prompt)"
    else:
        yield f"each session pays {cost.tokens} tokens once; again per subagent and compaction"


def _show_learned(found: Overview) -> None:
    if not found.lessons_learned:
        page.row("learned", _nothing_learned(found))
        return
    told: list[str] = []
    for reflection in found.lessons_learned:
        full = list(_learned(reflection))
        is_room = not told or len(told) + len(full) <= MAX_LEARNED
        told += full if is_room else [_in_short(reflection)]
    page.row("learned", *told)


def _nothing_learned(found: Overview) -> str:
    if not found.delivery.sessions:
        return "no session yet: rose reflect --transcript PATH learns from one"
    sessions = page.count(found.delivery.sessions, "session")
    return f"nothing yet from {sessions}: {found.why_nothing}"


def _in_short(reflection: Reflection) -> str:
    """Return one reflection of several in a line."""
    day, _, clock = reflection.at.partition("T")
    told = [*map(_what, reflection.changes)]
    told += [f"found a lesson missing: {title}" for title, _ in reflection.lessons]
    told += [f"no answer from {reflection.failed}"] if reflection.failed else []
    what = ", ".join(told)
    return f"{day} {clock[:5]} session {reflection.session[:SHORT_ID]}: {what}"


def _learned(reflection: Reflection) -> Iterator[str]:
    yield _in_short(reflection)
    for change in reflection.changes:
        yield from _change(change)
    if reflection.can_be_undone():
        yield page.undo_line(reflection.session)


def _what(change: Change) -> str:
    since = f" ({change.since})" if change.since else ""
    return f"{change.verb} {change.rule or 'a rule'}{since}"


def _change(change: Change) -> Iterator[str]:
    if change.line:
        yield change.line
    if change.verb in ("refused", "retired") and change.why:
        yield f"{change.verb}: {change.why}"


def _spent(spent: Usage, settings: Settings) -> str:
    read = spent.input_tokens + spent.output_tokens
    return (
        f"{page.count(spent.calls, 'call')} of models in 24 hours, {read} tokens, "
        f"{spent.seconds:.0f} s (at most {settings.spend_calls_per_day} calls: "
        "rose config spend.calls_per_day N)"
    )


def _questions(found: Overview) -> Iterator[str]:
    if found.proposed:
        yield f"{page.count(found.proposed, 'proposed rule')} not used until approved: rose route"
    for question in found.questions[:MAX_QUESTIONS]:
        yield question.line()
    if len(found.questions) > MAX_QUESTIONS:
        yield f"and {len(found.questions) - MAX_QUESTIONS} more: rose route"
    if found.questions:
        yield "which one holds? rose route --approve ID or --decline ID"


def _delivery(delivery: Delivery) -> Iterator[str]:
    sent = delivery.sessions - delivery.unsent
    if not delivery.sessions:
        yield "no session recorded yet"
        return
    parts = [f"{page.count(delivery.sessions, 'session')} recorded, rules sent in {sent}"]
    parts += [f"delivered in {delivery.delivered}"] if sent else []
    parts += [f"not in {delivery.missing}"] if delivery.missing else []
    yield ", ".join(parts)
    if delivery.unknown:
        yield f"unknown in {delivery.unknown}: no copy of what was sent is left to compare"
    never = activity.never(delivery.matrix)
    for row in delivery.matrix:
        yield row.line() + (": never delivered on this host" if row.host in never else "")


def _queue(queue: Queue) -> Iterator[str]:
    waiting = queue.pending + queue.working
    if not waiting and not queue.failed:
        yield "empty"
        return
    if queue.working:
        yield f"{queue.pending} pending, {queue.working} in work: a worker is at it"
    elif waiting:
        yield f"{queue.pending} pending: rose reflect --pending works them now"
        yield "a third try that fails too counts what was observed, without a model"
    for failed in queue.failed[-MAX_FAILED:]:
        yield f"failed after {page.count(failed.tries, 'try', 'tries')}: {failed.reason}"
        yield f"  again: {page.retry(failed.session)}"
    if len(queue.failed) > MAX_FAILED:
        yield f"and {len(queue.failed) - MAX_FAILED} more that failed (rose status --json)"


def _hook(found: Overview) -> str:
    if found.failure is not None:
        return found.failure.line()
    project = found.stores.project
    folder = None if project is None else wiring.folder_of(project.base, terminal.cwd())
    if not found.delivery.sessions and not wiring.wired(folder, os.environ):
        return "no agent program calls rose here: rose install"
    return "no failure in the last week"


def _broken(found: Overview) -> Iterator[str]:
    findings = found.sources.broken()
    for finding in findings[:MAX_BROKEN]:
        yield f"{finding.where}: {finding.rule}: {finding.message}"
    if len(findings) > MAX_BROKEN:
        yield f"and {len(findings) - MAX_BROKEN} more: rose doctor lists them"
    elif findings:
        yield "rose doctor says what to do"
    else:
        yield "nothing"


def _note(found: Overview) -> Iterator[str]:
    recovered = len(found.sources.recovered())
    if recovered:
        yield f"{page.recovered(recovered)}: rose doctor"
