"""What reflection did lately: which session, which rules changed, and the quotes behind them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rose.reflection import gates, journal
from rose.report.rulebook import place_of
from rose.routing import forgotten

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rose.reflection.gates import Gate
    from rose.reflection.journal import Line
    from rose.reflection.reflect import Outcome
    from rose.report.sources import Sources

GATES: dict[gates.Name, str] = {
    "offered": "{rule} had offered {lessons}",
    "found": "search finds {lessons} for such a task already, so no rule is needed",
    "once": "this is the first session that used {lessons}; a rule takes two of one kind",
    "apart": "the sessions that used {lessons} share no word, command or folder yet",
    "loose": "what the sessions that used {lessons} share stands in too many others",
    "chance": "what the sessions that used {lessons} share may be chance",
    "unnamed": "no rule can name {lessons}, or what the sessions that used it share",
    "turned-down": "a person deleted or declined a rule that led to {lessons}",
    "standing": "{rule} leads to {lessons} already, but was not delivered",
    "waiting": "{rule} leads to {lessons} and waits for you: rose route --approve {rule}",
    "best": "{rule} leads to {lessons}, and no wider condition is worth more",
    "taken": "a rule with the condition for {lessons} stands already",
}
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
        undone: dict[str, Line] = {}
        taken: list[Reflection] = []
        # From the end: what stands after a reflection says what became of it.
        for line in reversed([*journal.read(source.store)]):
            if line.is_undone:
                undone[line.session] = line
            elif line.session and len(taken) < most:
                after = undone.pop(line.session, None)
                if line.operations or line.retired or line.failed or line.lessons:
                    taken.append(_reflection(line, sources, after))
        found += taken
    found.sort(key=lambda one: (one.at, one.n), reverse=True)
    return found[:most]


def _reflection(line: Line, sources: Sources, undone: Line | None) -> Reflection:
    operations = [_operation(one, line.session, sources) for one in line.operations]
    retired = [_retirement(one, sources) for one in line.retired]
    changes = [replace(one, since=_since(one, sources, undone)) for one in (*operations, *retired)]
    return Reflection(
        session=line.session,
        host=line.host,
        at=line.at,
        n=line.n,
        changes=tuple(changes),
        is_undone=undone is not None,
        by=line.by or "offline",
        failed=_failed(line),
        lessons=tuple(
            (str(new.get("title", "")), str(new["path"])) for new in line.lessons if new.get("path")
        ),
    )


def _failed(line: Line) -> str:
    """Return why a model gave no answer, empty where none was asked or one did."""
    if not line.failed:
        return ""
    name, failed = line.asked.get("backend", ""), line.failed
    return f"{name} ({failed.get('kind')}): {failed.get('reason')}"


def _since(change: Change, sources: Sources, undone: Line | None) -> str:
    """Return what became of a change, as the rule's file, the rejections and the log show it."""
    if change.verb == "refused":
        return ""
    is_there = any(change.rule in rows.ids() for rows in sources.survey.tables)
    if not is_there and any(change.rule == old.rule for old in _forgotten(sources)):
        return "forgotten since"
    if undone is None:
        return "" if is_there else "deleted since"
    is_left = change.rule in undone.left
    return "edited since and left alone" if is_left and is_there else "taken back since"


def _forgotten(sources: Sources) -> list[forgotten.Forgotten]:
    return [old for source in sources.each for old in forgotten.read(source.store)[0]]


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


def why_nothing(outcome: Outcome) -> str:
    """Return why a session changed no rule."""
    facts, asked = outcome.facts, outcome.asked
    if asked is not None and asked.proposal is not None:
        sound = " that could be read" if asked.proposal.malformed else ""
        return f"{asked.backend} proposed no change to the rules{sound}"
    if not facts.opened:
        return "no lesson was opened"
    if not facts.used:
        return "lessons were opened, but none is known to have been used"
    return in_words(outcome.gates) or "what was used lies in a store for which no rule is written"


def in_words(fell: Iterable[Gate]) -> str:
    """Return for each used lesson why no rule was written, those with one reason together."""
    together: dict[tuple[gates.Name, str], list[str]] = {}
    for gate in fell:
        together.setdefault((gate.name, gate.rule), []).append(gate.lesson)
    told = (
        GATES[name].format(lessons=", ".join(named), rule=rule)
        for (name, rule), named in together.items()
    )
    return "; ".join(told)


def why_nothing_yet(sources: Sources) -> str:
    """Return why the recorded sessions wrote no rule, as the last says it that used a lesson."""
    cases = sources.cases()
    if not cases:
        return ""
    latest = ""
    for line in journal.read(sources.first.store):
        # What is said of a first session is no longer so after the next.
        fell = in_words(gate for gate in line.gates if gate.name != "once")
        is_judged = line.by not in ("", "offline")
        latest = f"{line.by} proposed no change to the rules" if is_judged else fell or latest
    used = Counter(lesson for case in cases for lesson in set(case.used))
    if latest or not used:
        return latest or "no lesson is known to have been used"
    if max(used.values()) == 1:
        return "it takes two that used the same lesson"
    return "what used the same lesson has too little in common"
