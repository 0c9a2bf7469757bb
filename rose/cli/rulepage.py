"""How `rose route` looks: the list of rules, and everything about one of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rose.cli import page, terminal
from rose.report import learned, rulebook
from rose.report.sources import paths_of
from rose.routing import rank

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rose.evaluate.effects import Effect
    from rose.report.rulebook import Rulebook
    from rose.report.sources import Sources
    from rose.routing.survey import Place

MAX_PATHS = 5
TEACH = 'rose route --when "the task runs the tests" --then "read nodes/testing/ first"'


def show(book: Rulebook, *, home: bool, as_json: bool) -> None:
    """Print the rulebook; with `home` the rules of the home store alone."""
    shown = _of_home(book) if home else book
    if as_json:
        terminal.emit(shown.as_json())
        return
    page.bet(book.sources.routing_line())
    page.row("layer", layer_text(book))
    if not any((shown.chosen, shown.waiting, shown.proposed, shown.out_of_use)):
        _show_empty(book.sources)
    elif shown.chosen or shown.waiting:
        page.row("record", "helped and wasted are live + replayed credit; seen is sessions")
    cap = book.sources.first.settings.routing_max_tokens
    _group("In the layer, best first", shown.chosen)
    for why, places in _by_reason(shown.waiting, cap).items():
        _group(f"Not in the layer: {why}", places)
    _group("Proposed", shown.proposed, cap)
    _show_questions(shown)
    _group("Out of use", shown.out_of_use, cap)
    broken = book.sources.survey.findings()
    if broken:
        terminal.out("\nBroken files")
        page.items(finding.line() for finding in broken)


def _show_questions(book: Rulebook) -> None:
    if not book.questions:
        return
    terminal.out("\nQuestions: opposite rules for one condition; which one holds?")
    page.items(question.line() for question in book.questions)
    page.items(
        [
            "rose route --approve ID keeps one and declines what says the opposite",
            "rose route --decline ID drops one",
        ]
    )


def _of_home(book: Rulebook) -> Rulebook:
    def at_home(places: Sequence[Place]) -> tuple[Place, ...]:
        return tuple(place for place in places if place.is_home)

    return replace(
        book,
        chosen=at_home(book.chosen),
        waiting=at_home(book.waiting),
        proposed=at_home(book.proposed),
        out_of_use=at_home(book.out_of_use),
    )


def layer_text(book: Rulebook) -> str:
    """Return the size of the layer in words."""
    settings = book.sources.first.settings
    tokens, cap = book.sources.survey.tokens, settings.routing_max_tokens
    total = book.sources.active_rules()
    return f"{len(book.chosen)} of {page.count(total, 'rule')}, {tokens} of {cap} tokens"


def _show_empty(sources: Sources) -> None:
    sessions = len(sources.cases())
    if sessions:
        why = f"No rule yet from {page.count(sessions, 'session')}: "
        why += learned.why_nothing_yet(sources)
    else:
        serves = sources.first.settings.recall_serve != "off"
        why = "No rule yet. Reflection writes the first one with the second session of one kind of"
        why += " work, unless recall finds its lesson by itself" if serves else " work"
    terminal.out()
    page.paragraph(f"{why}. To teach one:", first="", rest="")
    terminal.out(f"  {TEACH}")


def _by_reason(places: Sequence[Place], cap: int) -> dict[str, list[Place]]:
    """Return the waiting rules by the reason that they share, in order of rank."""
    found: dict[str, list[Place]] = {}
    for place in places:
        found.setdefault(rulebook.reason(place, cap), []).append(place)
    return found


def _group(title: str, places: Sequence[Place], cap: int | None = None) -> None:
    """Print rules under a title; with a cap each with the reason why it is not in the layer."""
    if not places:
        return
    terminal.out()
    page.paragraph(title, first="", rest="  ")
    for place in places:
        page.paragraph(place.text, first="  ", rest="      ")
        terminal.out(f"    {record_text(place)}")
        if cap is not None:
            page.paragraph(rulebook.reason(place, cap), first="    ", rest="      ")


def record_text(place: Place) -> str:
    """Return a rule's id, score and record in one line."""
    standing = place.standing
    helped = f"{standing.live_helped}+{standing.helped - standing.live_helped}"
    wasted = f"{standing.live_wasted}+{standing.wasted - standing.live_wasted}"
    home = "  (home)" if place.is_home else ""
    skip = "skip  " if place.rule.effect == "skip" else ""
    return (
        f"{place.rule.id}  {skip}score {rank.score(standing):.2f}  helped {helped}  "
        f"wasted {wasted}  seen {standing.seen}{home}"
    )


def explain(found: Sources, place: Place, effect: Effect | None, *, as_json: bool) -> None:
    """Print everything that is known of one rule; `effect` is None for one outside the layer."""
    source = found.source_of(place)
    if as_json:
        changed = None if effect is None else effect.as_json()
        terminal.emit({**rulebook.explain_json(place, source), "effects": changed})
        return
    rule, standing = place.rule, place.standing
    terminal.out(place.text)
    cap = found.first.settings.routing_max_tokens
    page.row("rule", f"{rule.id}, {rule.effect}, {_status(place)}")
    page.row("file", terminal.short(rule.path))
    page.row("layer", rulebook.reason(place, cap) or "in the layer")
    page.row("tokens", f"{place.tokens} with its line feed ({found.survey.counter})")
    page.row(
        "record",
        f"helped {standing.helped} ({standing.live_helped} live), wasted {standing.wasted} "
        f"({standing.live_wasted} live), seen in {page.count(standing.seen, 'session')} "
        f"since n {rule.born}; delivered {standing.delivered}, verdicts {standing.verdicts}",
    )
    page.row("score", rulebook.FORMULA, f"= {rulebook.arithmetic(standing)}")
    if effect is not None and effect.met:
        page.row(
            "effect",
            f"met {page.count(effect.met, 'past task')} and changed the first three of "
            f"{effect.changed}: {effect.gained} used lessons gained, {effect.lost} lost",
        )
    page.row("match", ", ".join(rule.match) or "none: it is credited by verdicts alone")
    page.row("targets", *_targets(found, place))
    page.row("evidence", *(f"{page.quoted(e.quote)} {_from(e.session)}" for e in rule.evidence))
    if rule.note.strip():
        page.row("why", *rule.note.strip().splitlines())


def _status(place: Place) -> str:
    rule = place.rule
    decided = f", {rule.approval} by a person" if rule.approval else ""
    return f"{rule.status}, from {'a person' if rule.origin == 'manual' else 'reflection'}{decided}"


def _from(session: str) -> str:
    return f"(session {session})" if session else ""


def _targets(found: Sources, place: Place) -> list[str]:
    """Return each target with the lessons that it matches now."""
    if not place.rule.targets:
        return ["none: the rule names no lesson"]
    lines = []
    for target, paths in paths_of(found.source_of(place), place.rule.targets).items():
        more = f" and {len(paths) - MAX_PATHS} more" if len(paths) > MAX_PATHS else ""
        listed = ", ".join(paths[:MAX_PATHS]) + more if paths else "no lesson now"
        lines.append(f"{target} -> {listed}")
    return lines
