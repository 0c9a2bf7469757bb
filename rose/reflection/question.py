"""Builds the question that a model is asked about one session.

The wording is in prompts/; here data is put into it, bounded and in lines that cannot end their
section. The same material gives the same bytes (docs/decisions/016).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rose import files, redact, tokens
from rose.backends.prompts import Prompts
from rose.reflection import digest as digests
from rose.reflection import digest_text, schema, spans
from rose.reflection.digest_fit import Budget, Part, Piece
from rose.routing import features, rules
from rose.routing import targets as target
from rose.routing.evidence import Standing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from rose.reflection.observe import Facts
    from rose.routing.cases import Case
    from rose.routing.rules import Rule
    from rose.store.lessons import Lesson

VERSION = 1
MAX_TOKENS = 40_000
MOST_RULES = 60
MOST_CASES = 8
MOST_LISTED = 40
# What each section may cost. The digest gets what is left of the whole, within its own limit.
_CAPS = {
    "facts": 2_300,
    "delivered": 2_500,
    "rules": 4_500,
    "cases": 1_200,
    "lessons": 2_300,
}
# The joints between counted texts may cost a token each.
_SLACK = 50

_PROMPTS = Prompts(__file__)
_NAMES = ("question", "forked", "digested", "digest")
_LINE_CHARS = 600
_TASK_CHARS = 300
_SHOWN_LINES = 6
_BODY_CHARS = 50_000
_SHOWN_IDS = 8
_STANDING = ("active", "proposed", "declined")
_UNTRIED = Standing()


@dataclass(frozen=True, slots=True)
class Material:
    """What a question is made of.

    `rules` are those of the store that learns; `elsewhere` those of the other store, which can be
    judged and not changed. `bodies` are the texts of the opened lessons. `digest` gives that of the
    session within so many tokens; without it the question is for a model that is in the session.
    """

    facts: Facts
    roots: tuple[str, ...]
    rules: Sequence[Rule] = ()
    elsewhere: Sequence[Rule] = ()
    standings: Mapping[str, Standing] = field(default_factory=dict)
    cases: Sequence[Case] = ()
    bodies: Mapping[Lesson, str] = field(default_factory=dict)
    digest: Callable[[int], str] | None = None


def build(material: Material) -> str:
    """Return the text of the question: at most MAX_TOKENS, and the same for the same material.

    Raises what the material's digest raises.
    """
    sections = {
        "version": str(VERSION),
        "source": _PROMPTS.text("forked" if material.digest is None else "digested").rstrip(),
        "roots": digest_text.line(", ".join(f"{root}/" for root in material.roots), _LINE_CHARS),
        "facts": _section(_facts(material.facts), _CAPS["facts"]),
        "delivered": _section(_delivered(material), _CAPS["delivered"]),
        "rules": _others(material),
        "cases": _section(_cases(material.cases), _CAPS["cases"]),
        "lessons": _section(_lessons(material), _CAPS["lessons"]),
        "digest": "",
    }
    if material.digest is not None:
        taken = tokens.count(_PROMPTS.filled("question", sections)) + tokens.count(
            _PROMPTS.text("digest")
        )
        shown = material.digest(min(digests.MAX_TOKENS, MAX_TOKENS - taken - _SLACK))
        sections["digest"] = _PROMPTS.filled("digest", {"text": shown.removesuffix("\n")})
    return _PROMPTS.filled("question", sections)


def fingerprint() -> str:
    """Return the digest of everything that is asked the same of each session."""
    parts = [str(VERSION), *map(_PROMPTS.text, _NAMES), files.dump_json(schema.SCHEMA)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def cache_key(text: str, backend: str, model: str) -> str:
    """Return the name under which an answer to a question is kept."""
    key = files.dump_json([fingerprint(), backend, model, text])
    return hashlib.sha256(key.encode()).hexdigest()


def _section(pieces: Sequence[Piece], cap: int, of: int = 0) -> str:
    """Return the lines of the pieces that fit under a cap; `of` counts those not given as well."""
    if not pieces and not of:
        return "- none"
    budget = Budget(cap)
    more, count = "- more: {}", max(of, len(pieces))
    budget.left -= budget.cost([more.format(count)])
    fitted = budget.fit(pieces)
    lines = [line for piece in fitted for line in piece.lines]
    if len(fitted) < count:
        lines.append(more.format(count - len(fitted)))
    return "\n".join(lines)


def _line(label: str, said: str, most_chars: int = _LINE_CHARS) -> Part:
    return Part(label, digest_text.line(said, most_chars))


def _piece(*parts: Part) -> Piece:
    return Piece(0, parts)


def _named(lesson: Lesson) -> str:
    return f"{lesson.path}, id {lesson.id}" + (", home store" if lesson.store == "home" else "")


def _facts(facts: Facts) -> list[Piece]:
    task = tuple(digest_text.lines(facts.task, _LINE_CHARS))
    spans_of = {found.lesson: found.span for found in facts.used}
    pieces = [
        _piece(_line("- host: ", f"{facts.host}; prompts that were typed: {facts.prompts}")),
        _piece(Part("- opening prompt:", body=task)),
    ]
    for kind in features.KINDS:
        found = [feature for feature in facts.kinds if feature.startswith(f"{kind}:")]
        if found:
            pieces.append(_piece(_line("- features: ", ", ".join(found), 2_000)))
    for opened in facts.opened:
        how = f"- opened ({opened.how}, turn {opened.turn}): "
        parts = [_line(how, _named(opened.lesson))]
        if opened.lesson in spans_of:
            parts.append(_line("- its words stand in a later call: ", spans_of[opened.lesson]))
        pieces.append(_piece(*parts))
    pieces += [
        _piece(_line("- seen by name alone: ", _named(lesson)))
        for lesson in facts.listed[:MOST_LISTED]
    ]
    return pieces


def _delivered(material: Material) -> list[Piece]:
    """Return the rules that arrived and still read as they did then; no other can be credited."""
    pieces = []
    for rule in (*material.rules, *material.elsewhere):
        verdict = material.facts.verdicts.get(rule.id)
        if verdict is not None:
            seen = _line(f"- {rule.id}, what the program saw: ", verdict)
            pieces.append(_piece(*_rule(rule, material.standings), seen))
    return pieces


def _others(material: Material) -> str:
    """Return the rules that were not shown: all of few, else those near the session."""
    facts = material.facts
    rest = [
        rule
        for rule in material.rules
        if rule.id not in facts.verdicts and rule.status in _STANDING
    ]
    near = rest if len(rest) <= MOST_RULES else [rule for rule in rest if _is_near(rule, facts)]
    pieces = [_piece(*_rule(rule, material.standings)) for rule in near[:MOST_RULES]]
    return _section(pieces, _CAPS["rules"], of=len(rest))


def _is_near(rule: Rule, facts: Facts) -> bool:
    if features.features_meet(rule.match, facts.kinds):
        return True
    lessons = [*(found.lesson for found in facts.opened), *facts.listed]
    return any(target.lead_to(rule.targets, lesson.path) for lesson in lessons)


def _rule(rule: Rule, standings: Mapping[str, Standing]) -> Iterator[Part]:
    by = "by a person" if rule.origin == "manual" else "by reflection"
    kept = standings.get(rule.id, _UNTRIED)
    record = (
        f"helped {kept.helped}, wasted {kept.wasted}, seen {kept.seen}, delivered {kept.delivered}"
    )
    yield _line(f"- {rule.id}, {by}, {rule.status}, {rule.effect}: ", rules.line(rule)[2:])
    if rule.match:
        yield _line(f"- {rule.id}, match: ", ", ".join(rule.match))
    yield _line(f"- {rule.id}, record: ", record)


def _cases(cases: Sequence[Case]) -> list[Piece]:
    pieces = []
    for case in cases[:MOST_CASES]:
        task = case.task or ", ".join(case.kinds)
        used = ", ".join(case.used[:_SHOWN_IDS]) or "none"
        pieces.append(
            _piece(_line("- task: ", task, _TASK_CHARS), _line("- lessons it used: ", used))
        )
    return pieces


def _lessons(material: Material) -> list[Piece]:
    """Return what each opened lesson is about, and its lines that are most its own."""
    pieces = []
    for opened in material.facts.opened:
        lesson = opened.lesson
        parts = [_line("- ", f"{_named(lesson)}: {lesson.title}. {lesson.gist}")]
        telling = _telling_lines(material.bodies.get(lesson, ""), lesson.path)
        parts += [_line("- it says: ", line, _TASK_CHARS) for line in telling]
        pieces.append(_piece(*parts))
    return pieces


def _telling_lines(body: str, path: str) -> list[str]:
    """Return the lines of a lesson that hold its commands, flags, paths and the like."""
    known = spans.spans(body, path)
    lines = digest_text.plain(redact.beginning(body, _BODY_CHARS)).split("\n")
    return [line for line in lines if any(span in line for span in known)][:_SHOWN_LINES]
