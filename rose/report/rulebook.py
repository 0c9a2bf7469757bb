"""The rules as `rose route` shows them: record, score, place, and the questions they raise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rose import refs
from rose.report.sources import paths_of
from rose.routing import layer, questions, rank, survey

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rose.report.sources import Sources
    from rose.routing.evidence import Standing
    from rose.routing.questions import Question
    from rose.routing.survey import Place, Survey
    from rose.store.lessons import Holding

FORMULA = f"(helped - wasted/2) / (seen + {rank.PRIOR_SEEN}) + sqrt({rank.OPTIMISM} / (seen + 1))"


@dataclass(frozen=True, slots=True)
class Rulebook:
    """Every rule in the order in which it is shown, and what else the listing needs."""

    chosen: tuple[Place, ...]
    waiting: tuple[Place, ...]
    proposed: tuple[Place, ...]
    out_of_use: tuple[Place, ...]
    questions: tuple[Question, ...]
    sources: Sources

    def as_json(self) -> dict[str, object]:
        found = self.sources.survey
        shown = (*self.chosen, *self.waiting, *self.proposed, *self.out_of_use)
        return {
            "routing": self.sources.routing_json(),
            "layer": {
                "rules": len(self.chosen),
                "tokens": found.tokens,
                "max_tokens": self.sources.first.settings.routing_max_tokens,
                "counter": found.counter,
            },
            "rules": [rule_json(place, self.sources.source_of(place)) for place in shown],
            "questions": [question.as_json() for question in self.questions],
            "broken": [finding.as_json() for finding in found.findings()],
        }


def read(sources: Sources) -> Rulebook:
    """Return the rulebook: the layer's rules best first, then the others."""
    places = sources.survey.places
    return Rulebook(
        chosen=tuple(place for place in places if not place.waits),
        waiting=tuple(p for p in places if p.waits and p.rule.status == "active"),
        proposed=tuple(place for place in places if place.rule.status == "proposed"),
        out_of_use=tuple(place for place in places if place.rule.status in questions.SILENT),
        questions=questions_of(sources.survey),
        sources=sources,
    )


def questions_of(found: Survey) -> tuple[Question, ...]:
    """Return the open questions; paths of the home store are not those of the project."""
    return tuple(
        question
        for at_home in (False, True)
        for question in questions.find(p.rule for p in found.places if p.is_home is at_home)
    )


def reason(place: Place, max_tokens: int) -> str:
    """Return why a rule is not in the layer, as a person reads it; empty for one that is."""
    rule_id = place.rule.id
    key = "routing.enabled true" if max_tokens else "--unset routing.max_tokens"
    words = {
        layer.OVER_CAP: f"the cap of {max_tokens} tokens is full with rules of a better record",
        layer.NEWCOMERS: "little tried rules share a quarter of the cap while proven ones wait",
        layer.OVERSIZED: f"its line alone takes more than a quarter of {max_tokens} tokens",
        survey.OFF: f"routing is off (`rose config {key}`)",
        "proposed": f"waits for a decision: rose route --approve {rule_id}",
        "declined": f"declined: rose route --approve {rule_id} would use it after all",
        "retired": f"retired: rose route --restore {rule_id} brings it back",
    }
    return words.get(place.waits, place.waits)


def resolve(sources: Sources, wanted: str, *, home: bool) -> tuple[Holding, str]:
    """Return the store and the id of the rule that an id, or an unambiguous part of one, names.

    Broken rule files count too. Raises RoseError with candidates.
    """
    known = files_of(sources)
    if home:
        known = {name: source for name, source in known.items() if source.store.kind == "home"}
    return choose(known, part_of(wanted))


def files_of(sources: Sources) -> dict[str, Holding]:
    """Return the store of each rule's file by id, those of broken files too."""
    known: dict[str, Holding] = {}
    for source, rows in zip(sources.each, sources.survey.tables, strict=True):
        known = {**dict.fromkeys(sorted(rows.ids()), source), **known}
    return known


def part_of(wanted: str) -> str:
    """Return the id, or the part of one, in what a person typed: a path of its file will do."""
    return wanted.strip().removesuffix(".md").rpartition("/")[2].lower()


def choose(known: Mapping[str, Holding], part: str) -> tuple[Holding, str]:
    """Return the store and the id of the known rule that is meant; raises RoseError."""
    # What every id begins with is no part of one.
    readings = refs.parts(part, [*known]) if part != "r_" else []
    hint = "`rose route` lists the rules."
    found = refs.choose(part, readings, [*known], noun="rule", hint=hint)
    return known[found], found


def place_of(sources: Sources, rule_id: str) -> Place | None:
    """Return a readable rule with its record and its place."""
    return next((place for place in sources.survey.places if place.rule.id == rule_id), None)


def record_json(standing: Standing) -> dict[str, object]:
    """Return a record with what verdicts said and what was replayed apart."""
    return {
        "helped": standing.helped,
        "wasted": standing.wasted,
        "seen": standing.seen,
        "live": {"helped": standing.live_helped, "wasted": standing.live_wasted},
        "replayed": {
            "helped": standing.helped - standing.live_helped,
            "wasted": standing.wasted - standing.live_wasted,
        },
        "verdicts": standing.verdicts,
        "delivered": standing.delivered,
    }


def arithmetic(standing: Standing) -> str:
    """Return the score of a record as the sum that it is."""
    value = rank.score(standing)
    return (
        f"({standing.helped} - {standing.wasted}/2) / ({standing.seen} + {rank.PRIOR_SEEN}) "
        f"+ sqrt({rank.OPTIMISM} / ({standing.seen} + 1)) = {value:.3f}"
    )


def rule_json(place: Place, source: Holding) -> dict[str, object]:
    """Return one rule as the object that `--json` prints."""
    rule = place.rule
    return {
        "id": rule.id,
        "line": place.text,
        "when": rule.when,
        "then": rule.then,
        "effect": rule.effect,
        "targets": list(rule.targets),
        "match": list(rule.match),
        "origin": rule.origin,
        "status": rule.status,
        "approval": rule.approval,
        "born": rule.born,
        "created": rule.created,
        "store": source.store.kind,
        "file": rule.path,
        "in_layer": not place.waits,
        "reason": place.waits or None,
        "tokens": place.tokens,
        "score": round(rank.score(place.standing), 4),
        "record": record_json(place.standing),
    }


def explain_json(place: Place, source: Holding) -> dict[str, object]:
    """Return everything that is known of one rule."""
    evidence = [
        {"session": item.session, "quote": item.quote, "region": item.region}
        for item in place.rule.evidence
    ]
    return {
        **rule_json(place, source),
        "arithmetic": arithmetic(place.standing),
        "matches": paths_of(source, place.rule.targets),
        "evidence": evidence,
        "note": place.rule.note,
    }
