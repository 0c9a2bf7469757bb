"""Why a lesson or a rule was or was not offered, as fields and in sentences."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rose.errors import RoseError
from rose.mcp.desk import Answer
from rose.report import leads, rulebook, sources
from rose.selection import explain, veil
from rose.store import lessons

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rose.layout import Stores
    from rose.report.leads import Lead
    from rose.selection.explain import Explanation

_RULE = re.compile(r"r_[0-9a-f]+")


def names_rule(ref: str) -> bool:
    """Tell whether a reference has the form of a rule's id, or of its beginning."""
    return _RULE.fullmatch(rulebook.part_of(ref)) is not None


def of_rule(stores: Stores, ref: str) -> Answer:
    """Return what `rose route --explain` says of a rule; raises RoseError."""
    found = sources.read(stores)
    source, rule_id = rulebook.resolve(found, ref, home=False)
    place = rulebook.place_of(found, rule_id)
    if place is None:
        faults = "; ".join(f.line() for f in found.survey.findings() if rule_id in f.where)
        raise RoseError(f"{rule_id} cannot be read, so there is nothing to explain. {faults}")
    why = rulebook.reason(place, found.first.settings.routing_max_tokens)
    said = f"{rule_id} is not in the layer: {why}." if why else f"{rule_id} is in the layer."
    fields = {**rulebook.explain_json(place, source), "said": [said]}
    one = place.standing
    kept = f"helped {one.helped}, wasted {one.wasted}, seen {one.seen}"
    return Answer(fields, "\n".join([place.text, said, f"Its record: {kept}."]))


def of_lesson(
    stores: Stores, ref: str, query: str, *, scope: Sequence[str], session: str, at: str
) -> Answer:
    """Return a lesson's part in recall for a query, and the rules that lead to it.

    Raises RoseError where the reference names no lesson.
    """
    found = sources.read(stores)
    lesson = lessons.resolve([held.shelf for held in found.each], ref)
    recalled = None
    if query:
        recalled = explain.explain(found.each, lesson, query, scope=scope, session=session, at=at)
    ways = leads.leads(found, lesson, query)
    said = [_recalled(recalled)] if recalled else []
    if found.first.settings.recall_serve == "off":
        said.append("`recall.serve` is off: lessons are given where `rose recall` asks for them.")
    said += [_way(way) for way in ways] or ["No rule leads to it."]
    fields = {
        "node": lesson.id,
        "path": lesson.path,
        "title": veil.line(lesson.title),
        "status": lesson.status,
        "version": lesson.version,
        "recall": None if recalled is None else recalled.as_json(),
        "rules": [way.as_json() for way in ways],
        "said": said,
    }
    head = f"{lesson.id} ({lesson.path}, {lesson.status})"
    return Answer(fields, "\n".join([head, *said]))


def _recalled(one: Explanation) -> str:
    place = f"It is candidate {one.rank} of {one.of}" if one.rank else "It is no candidate"
    gave = "".join(f", {name} {value:g}" for name, value in one.why.items())
    score = f" with a score of {one.score:.2f}{gave}" if one.score is not None else ""
    return f"{place}{score}. {one.outcome.said()}."


def _way(way: Lead) -> str:
    met = "" if way.met is None else f", met to {way.met:g}"
    where = f"not in the layer: {way.said}" if way.said else "in the layer"
    return f"Rule {way.place.rule.id} leads to it by {way.target} ({where}{met}): {way.place.text}"
