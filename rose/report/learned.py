"""What reflection did lately: which session, which rules changed, and the quotes behind them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rose import files
from rose.report.rulebook import place_of
from rose.routing import features, forgotten
from rose.routing import targets as target

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rose.layout import Store
    from rose.reflection.observe import Facts
    from rose.report.sources import Sources
    from rose.routing.rules import Rule

# The log grows by about a thousand bytes a session; the latest ones are near its end.
TAIL_BYTES = 1 << 18
VERBS = {"add": "added", "widen-match": "widened", "widen-targets": "widened"}


@dataclass(frozen=True, slots=True)
class Change:
    """One change to a rule: `verb` is added, widened, refused or retired.

    `line` is the rule as it now renders, `quotes` its evidence from that session, `why` the
    findings of a refusal or the reason of a retirement.
    """

    verb: str
    rule: str
    line: str
    quotes: tuple[str, ...]
    why: str

    def as_json(self) -> dict[str, object]:
        return {
            "change": self.verb,
            "rule": self.rule or None,
            "line": self.line,
            "quotes": list(self.quotes),
            "why": self.why or None,
        }


@dataclass(frozen=True, slots=True)
class Reflection:
    """One reflected session; `is_undone` when it was taken back since."""

    session: str
    host: str
    at: str
    n: int
    changes: tuple[Change, ...]
    is_undone: bool

    def taught(self) -> bool:
        """Tell whether a rule changed."""
        return any(change.verb != "refused" for change in self.changes)

    def as_json(self) -> dict[str, object]:
        return {
            "session": self.session,
            "host": self.host,
            "at": self.at,
            "n": self.n,
            "changes": [change.as_json() for change in self.changes],
            "undone": self.is_undone,
        }


def lately(sources: Sources, most: int) -> list[Reflection]:
    """Return the latest reflections that changed a rule or were refused one, newest first."""
    found: list[Reflection] = []
    for source, record in zip(sources.each, sources.survey.records, strict=True):
        standing = {case.session for case in record.cases}
        lines = [line for line in _tail(source.store) if _has_change(line)][-most:]
        found += [_reflection(line, sources, standing) for line in lines]
    found.sort(key=lambda one: (one.at, one.n), reverse=True)
    return found[:most]


def _has_change(line: Mapping[str, object]) -> bool:
    return bool(line.get("operations") or line.get("retired")) and bool(line.get("session"))


def _tail(store: Store) -> Iterator[Mapping[str, object]]:
    """Yield the objects near the end of the log; torn lines are passed over."""
    path = os.path.join(store.traces, "reflect.jsonl")
    try:
        with open(path, "rb") as stream:
            size = stream.seek(0, os.SEEK_END)
            stream.seek(max(0, size - TAIL_BYTES))
            raw = stream.read()
    except OSError:
        # No log yet: it is a trace, and the ledger is the record.
        return
    for text in raw.split(b"\n"):
        try:
            value = files.parse_json(text.decode("utf-8"))
        except ValueError:
            continue
        if isinstance(value, Mapping):
            yield value


def _reflection(line: Mapping[str, object], sources: Sources, standing: set[str]) -> Reflection:
    session, n = str(line["session"]), line.get("n")
    operations = [_operation(one, session, sources) for one in _mappings(line.get("operations"))]
    retired = [_retirement(one, sources) for one in _mappings(line.get("retired"))]
    return Reflection(
        session=session,
        host=str(line.get("host", "")),
        at=str(line.get("at", "")),
        n=n if isinstance(n, int) else 0,
        changes=(*operations, *retired),
        is_undone=session not in standing,
    )


def _mappings(value: object) -> Sequence[Mapping[str, object]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _operation(one: Mapping[str, object], session: str, sources: Sources) -> Change:
    rule = str(one.get("rule") or "")
    place = place_of(sources, rule)
    line = f"- When {one.get('when', '')}: {one.get('then', '')}" if place is None else place.text
    if one.get("accepted") is not True:
        findings = one.get("findings")
        why = "; ".join(map(str, findings)) if isinstance(findings, list) else ""
        return Change("refused", rule, line, (), why)
    quotes = () if place is None else place.rule.evidence
    own = tuple(item.quote for item in quotes if item.session == session)
    verb = VERBS.get(str(one.get("kind")), "changed")
    gone = "the rule is not there any more" if place is None else ""
    return Change(verb, rule, line, own, gone)


def _retirement(one: Mapping[str, object], sources: Sources) -> Change:
    rule = str(one.get("rule") or "")
    place = place_of(sources, rule)
    text = "" if place is None else place.text
    return Change("retired", rule, text, (), str(one.get("reason") or ""))


def why_nothing(facts: Facts, sources: Sources) -> str:
    """Return why a session changed no rule, as far as its facts and the store say."""
    if not facts.opened:
        return "no lesson was opened"
    if not facts.used:
        return "lessons were opened, but none is known to have been used"
    rules = [place.rule for place in sources.survey.places if place.rule.effect == "prefer"]
    delivered = [rule for rule in rules if rule.id in (facts.delivered or ())]
    missed = [used.lesson for used in facts.used if not _leading(delivered, used.lesson.path)]
    if not missed:
        return "what was used had been offered by a rule; it is credited"
    names = ", ".join(lesson.id for lesson in missed)
    met = [
        r for r in rules if r.status == "active" and features.features_meet(r.match, facts.kinds)
    ]
    known = [rule.id for lesson in missed for rule in _leading(met, lesson.path)]
    if known:
        return f"{known[0]} leads to {names} already, but it was not delivered in this session"
    gone = [old for source in sources.each for old in forgotten.read(source.store)[0]]
    left = [old.rule for old in gone for lesson in missed if _names(old.targets, lesson.path)]
    if left:
        return f"a rule that led to {names} was forgotten by a person ({left[0]})"
    return f"the record does not tie {names} to this kind of task yet; that takes two sessions"


def _leading(rules: Sequence[Rule], path: str) -> list[Rule]:
    return [rule for rule in rules if _names(rule.targets, path)]


def _names(targets: Sequence[str], path: str) -> bool:
    return any(target.matches(one, path) for one in targets)
