"""How `rose reflect` and `rose undo` look: what was seen, what was learned, or why nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from rose import text as texts
from rose.cli import page, terminal
from rose.report import learned, rulebook
from rose.routing import rules

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rose.reflection.ask import Asked
    from rose.reflection.changes import Step
    from rose.reflection.minted import Minted
    from rose.reflection.reflect import Outcome
    from rose.reflection.undo import Undone
    from rose.reflection.worker import Summary
    from rose.report.sources import Sources

MAX_LISTED = 8
QUIET = ("", "committed", "nothing changed")


def show(outcome: Outcome, found: Sources, *, as_json: bool) -> None:
    """Print what became of one session."""
    if as_json:
        terminal.emit(outcome_json(outcome))
        return
    facts = outcome.facts
    page.row(
        "session",
        f"{facts.session} ({facts.host}), {page.count(facts.rows, 'row')}, "
        f"{page.count(facts.prompts, 'prompt')}",
    )
    page.row("opened", _listed([f"{o.lesson.id} ({o.how})" for o in facts.opened]))
    page.row("used", *([f"{u.lesson.id}: {page.quoted(u.span)}" for u in facts.used] or ["none"]))
    page.row("rules", *_rules(outcome))
    if outcome.asked is not None:
        page.row("asked", *_asked(outcome.asked))
    page.row("learned", *learned_lines(outcome, found))
    if outcome.commit not in QUIET:
        terminal.say(f"rose: not committed: {outcome.commit}.")
    page.bet(found.routing_line())


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else ""
    return ", ".join(names[:MAX_LISTED]) + more if names else "none"


def _rules(outcome: Outcome) -> Iterator[str]:
    facts = outcome.facts
    if not facts.sent and not facts.delivered:
        yield "none sent"
        return
    arrived = "unknown" if facts.delivered is None else str(len(facts.delivered))
    yield f"{len(facts.sent)} sent, {arrived} delivered"
    for rule, verdict in sorted(facts.verdicts.items()):
        yield f"{rule} {verdict}"


def _asked(asked: Asked) -> Iterator[str]:
    model = f" ({texts.clean_line(asked.model)})" if asked.model else ""
    said = asked.proposal
    if said is None:
        yield f"{asked.backend} gave no answer ({asked.kind}): {asked.reason}"
        yield "what was observed counts"
        return
    spent = asked.usage
    cost = f"{spent.input_tokens} tokens read, {spent.output_tokens} written"
    if not (spent.input_tokens or spent.output_tokens):
        cost = "it does not tell its tokens"
    yield f"{asked.backend}{model}: " + ("an answer that was kept" if asked.is_kept else cost)
    if said.malformed:
        yield f"{page.count(len(said.malformed), 'part')} of the answer set aside, see the trace"


def learned_lines(outcome: Outcome, found: Sources) -> Iterator[str]:
    """Yield what was learned with its quotes and the way back, or why nothing was."""
    for step in outcome.steps:
        yield from _refusal(step) if step.rule is None else _change(step, outcome, found)
    if not outcome.steps and not outcome.retired and not outcome.lessons:
        why = outcome.reason or learned.why_nothing(outcome)
        yield f"nothing: {why}"
    for rule, reason in outcome.retired:
        yield f"retired {rule}: {reason}"
    for new in outcome.lessons:
        yield from _lesson(new, is_stored=found.first.settings.learning_lessons == "on")
    if outcome.state == "dry-run":
        yield "dry run: nothing was written"
    elif outcome.learned or outcome.retired or any(new.is_sound for new in outcome.lessons):
        yield page.undo_line(outcome.facts.session)


def _lesson(new: Minted, *, is_stored: bool) -> Iterator[str]:
    title = texts.clean_line(new.title)
    if new.is_sound:
        where = new.path if is_stored else "not stored (rose config learning.lessons on)"
        yield f"missing lesson: {title}: {where}"
    else:
        yield f"refused lesson: {title}"
        yield from (finding.line() for finding in new.findings)


def _refusal(step: Step) -> Iterator[str]:
    change = step.change
    named = change.when or ", ".join(rule.id for rule in change.rules())
    yield f"refused: {texts.clean_line(f'{change.kind} (When {named})')}"
    yield from (finding.line() for finding in step.findings)


def _change(step: Step, outcome: Outcome, found: Sources) -> Iterator[str]:
    change, verb = step.change, learned.VERBS[step.change.kind]
    place = rulebook.place_of(found, step.rule or "")
    if outcome.state == "dry-run" or place is None:
        yield f"would have {verb} {'a rule' if change.rule is None else step.rule}"
        yield texts.clean_line(f"- When {change.when}: {change.then}")
        return
    waits = f", waits for you: rose route --approve {step.rule} or --decline {step.rule}"
    waits = waits if step.status == "proposed" else ""
    met = f" (match: {', '.join(place.rule.match)})" if place.rule.match else ""
    yield f"{verb} {step.rule}{met}{waits}"
    yield place.text
    for item in place.rule.evidence:
        if item.session == outcome.facts.session:
            yield page.quoted(item.quote)


def outcome_json(outcome: Outcome) -> dict[str, object]:
    """Return one outcome as `--json` prints it."""
    facts = outcome.facts
    reason = outcome.reason
    if not reason and not outcome.steps and not outcome.retired:
        reason = learned.why_nothing(outcome)
    return {
        "state": outcome.state,
        "session": facts.session,
        "host": facts.host,
        "rows": facts.rows,
        "prompts": facts.prompts,
        "n": outcome.n,
        "kinds": list(facts.kinds),
        "opened": [
            {"lesson": o.lesson.id, "version": o.version, "how": o.how, "turn": o.turn}
            for o in facts.opened
        ],
        "listed": [lesson.id for lesson in facts.listed],
        "used": [{"lesson": u.lesson.id, "span": u.span} for u in facts.used],
        "sent": list(facts.sent),
        "delivered": None if facts.delivered is None else list(facts.delivered),
        "verdicts": dict(facts.verdicts),
        "operations": [step.as_json() for step in outcome.steps],
        "retired": [{"rule": rule, "reason": why} for rule, why in outcome.retired],
        "lessons": [new.as_json() for new in outcome.lessons],
        "asked": None if outcome.asked is None else outcome.asked.trace(),
        "reason": reason or None,
        "commit": outcome.commit or None,
    }


def in_one_line(outcome: Outcome) -> str:
    """Return one session of many in one line."""
    facts = outcome.facts
    head = f"{facts.session} {outcome.state}"
    if outcome.reason:
        return head
    said = f"{head}: {len(facts.opened)} opened, {len(facts.used)} used"
    for step in outcome.steps:
        verb = learned.VERBS[step.change.kind] if step.rule else "refused"
        said += f", {verb} {step.rule or 'a rule'}"
    return said + "".join(f", retired {rule}" for rule, _ in outcome.retired)


def progress(number: int, total: int, line: str) -> None:
    """Print one session of many as it is done."""
    width = len(str(total))
    terminal.out(f"{number:{width}}/{total}  {texts.clean_line(line)}")


def show_summary(summary: Summary, found: Sources, *, as_json: bool) -> None:
    """Print what a run over the queue did; exits with 1 where a session failed."""
    if as_json:
        terminal.emit(summary_json(summary))
    else:
        _print_summary(summary, found)
    if summary.failures:
        raise typer.Exit(1)


def _print_summary(summary: Summary, found: Sources) -> None:
    if not (summary.outcomes or summary.failures or summary.untold or summary.gone):
        terminal.out("The queue is empty.")
        return
    for outcome in summary.outcomes:
        page.paragraph(in_one_line(outcome), first="", rest="  ")
        if outcome.steps or outcome.retired:
            page.items(learned_lines(outcome, found))
    for session in summary.untold:
        page.paragraph(f"{session} has no transcript: nothing to learn from", first="", rest="  ")
    for failure in summary.gone:
        page.paragraph(f"{failure.session} is dropped: {failure.reason}", first="", rest="  ")
    for failure in summary.failures:
        page.paragraph(f"{failure.session} failed: {failure.reason}", first="", rest="  ")
    page.bet(found.routing_line())


def summary_json(summary: Summary) -> dict[str, object]:
    """Return a run over many sessions as `--json` prints it."""
    return {
        "outcomes": [outcome_json(outcome) for outcome in summary.outcomes],
        "failures": [{"session": f.session, "reason": f.reason} for f in summary.failures],
        "without_transcript": list(summary.untold),
        "dropped": [{"session": f.session, "reason": f.reason} for f in summary.gone],
    }


def show_undone(undone: Undone, found: Sources, *, as_json: bool) -> None:
    """Print what was taken back and what was left alone."""
    if as_json:
        terminal.emit(
            {
                "session": undone.session,
                "n": undone.n,
                "restored": list(undone.restored),
                "deleted": list(undone.deleted),
                "gone": list(undone.gone),
                "left": [{"rule": rule, "reason": why} for rule, why in undone.left],
                "commit": undone.commit or None,
            }
        )
        return
    page.paragraph(f"Session {undone.session} is taken back.", first="", rest="  ")
    page.items(f"{rule} is deleted" for rule in undone.deleted)
    page.items(f"{rule} was gone already" for rule in undone.gone)
    page.items(f"{rule} is as it was before" for rule in undone.restored)
    page.items(f"{name} is left alone: {why}{_deleting(name)}" for name, why in undone.left)
    if not (undone.deleted or undone.gone or undone.restored or undone.left):
        page.items(["it had changed no rule; its credit no longer counts"])
    if undone.commit not in QUIET:
        terminal.say(f"rose: not committed: {undone.commit}.")
    page.bet(found.routing_line())


def _deleting(name: str) -> str:
    """Return how a rule that was left alone is deleted all the same."""
    return f"; rose route --forget {name} deletes it" if rules.ID.fullmatch(name) else ""
