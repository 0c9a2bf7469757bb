"""What reflection did lately: which session, which rules changed, and the quotes behind them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
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
VERBS = {
    "add": "added",
    "widen-match": "widened",
    "widen-targets": "widened",
    "reword": "reworded",
    "merge": "merged",
    "retire": "retired",
}


@dataclass(frozen=True, slots=True)
class Change:
    """One change to a rule: `verb` is added, widened, refused or retired.

    `line` is the rule as it now renders, `quotes` its evidence from that session, `why` the
    findings of a refusal or the reason of a retirement, `since` what became of the change.
    """

    verb: str
    rule: str
    line: str
    quotes: tuple[str, ...]
    why: str
    since: str = ""

    def as_json(self) -> dict[str, object]:
        return {
            "change": self.verb,
            "rule": self.rule or None,
            "line": self.line,
            "quotes": list(self.quotes),
            "why": self.why or None,
            "since": self.since or None,
        }


@dataclass(frozen=True, slots=True)
class Reflection:
    """One reflected session; `is_undone` when it was taken back since, all of it or in part.

    `by` is who judged, `failed` why a model that was asked gave no answer, `lessons` the titles
    and places of lessons that it found missing. `n` is 0 where nothing was recorded.
    """

    session: str
    host: str
    at: str
    n: int
    changes: tuple[Change, ...]
    is_undone: bool
    by: str = "offline"
    failed: str = ""
    lessons: tuple[tuple[str, str], ...] = ()

    def can_be_undone(self) -> bool:
        """Tell whether a change of it still stands."""
        changed = any(change.verb != "refused" and not change.since for change in self.changes)
        return changed and not self.is_undone

    def as_json(self) -> dict[str, object]:
        return {
            "session": self.session,
            "host": self.host,
            "at": self.at,
            "n": self.n,
            "changes": [change.as_json() for change in self.changes],
            "undone": self.is_undone,
            "by": self.by,
            "failed": self.failed or None,
            "lessons": [{"title": title, "path": path} for title, path in self.lessons],
        }


def lately(sources: Sources, most: int) -> list[Reflection]:
    """Return the latest reflections that changed a rule or were refused one, newest first."""
    found: list[Reflection] = []
    for source in sources.each:
        undone: dict[str, Mapping[str, object]] = {}
        taken: list[Reflection] = []
        # From the end: what stands after a reflection says what became of it.
        for line in reversed([*tail(source.store)]):
            session = str(line.get("session", ""))
            if line.get("undone") is True:
                undone[session] = line
            elif session and len(taken) < most:
                after = undone.pop(session, None)
                if any(line.get(key) for key in ("operations", "retired", "failed", "lessons")):
                    taken.append(_reflection(line, sources, after))
        found += taken
    found.sort(key=lambda one: (one.at, one.n), reverse=True)
    return found[:most]


def tail(store: Store) -> Iterator[Mapping[str, object]]:
    """Yield the objects near the end of the log; torn lines are passed over."""
    try:
        with open(store.trace, "rb") as stream:
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


def _reflection(
    line: Mapping[str, object], sources: Sources, undone: Mapping[str, object] | None
) -> Reflection:
    session, n = str(line["session"]), line.get("n")
    operations = [_operation(one, session, sources) for one in _mappings(line.get("operations"))]
    retired = [_retirement(one, sources) for one in _mappings(line.get("retired"))]
    changes = [replace(one, since=_since(one, sources, undone)) for one in (*operations, *retired)]
    return Reflection(
        session=session,
        host=str(line.get("host", "")),
        at=str(line.get("at", "")),
        n=n if isinstance(n, int) else 0,
        changes=tuple(changes),
        is_undone=undone is not None,
        by=str(line.get("by", "")) or "offline",
        failed=_failed(line),
        lessons=tuple(
            (str(new.get("title", "")), str(new["path"]))
            for new in _mappings(line.get("lessons"))
            if new.get("path")
        ),
    )


def _failed(line: Mapping[str, object]) -> str:
    """Return why a model gave no answer, empty where none was asked or one did."""
    failed, asked = line.get("failed"), line.get("asked")
    if not isinstance(failed, Mapping):
        return ""
    name = asked.get("backend") if isinstance(asked, Mapping) else ""
    return f"{name} ({failed.get('kind')}): {failed.get('reason')}"


def _since(change: Change, sources: Sources, undone: Mapping[str, object] | None) -> str:
    """Return what became of a change, as the rule's file, the rejections and the log show it."""
    if change.verb == "refused":
        return ""
    is_there = any(change.rule in rows.ids() for rows in sources.survey.tables)
    if not is_there and any(change.rule == old.rule for old in _forgotten(sources)):
        return "forgotten since"
    if undone is None:
        return "" if is_there else "deleted since"
    left = undone.get("left")
    is_left = isinstance(left, list) and change.rule in left
    return "edited since and left alone" if is_left and is_there else "taken back since"


def _forgotten(sources: Sources) -> list[forgotten.Forgotten]:
    return [old for source in sources.each for old in forgotten.read(source.store)[0]]


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
    return Change(verb, rule, line, own, "")


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
    left = [
        old.rule
        for old in _forgotten(sources)
        for lesson in missed
        if target.lead_to(old.targets, lesson.path)
    ]
    if left:
        return f"a rule that led to {names} was forgotten by a person ({left[0]})"
    return f"the record does not tie {names} to this kind of task yet; that takes two sessions"


def _leading(rules: Sequence[Rule], path: str) -> list[Rule]:
    return [rule for rule in rules if target.lead_to(rule.targets, path)]
