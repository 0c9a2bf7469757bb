"""The checks on a draft of a lesson: its file, its name among the others, and its quotes.

A lesson that a person writes may be any Markdown. One that reflection writes is minted from a
session, so it quotes the session and hides nothing (docs/decisions/017).
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rose import frontmatter, redact
from rose import text as texts
from rose.check import quotes
from rose.findings import Finding, errors
from rose.routing import rules
from rose.store import lessons, parse, write

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rose.hosts.base import Region
    from rose.routing.rules import Evidence
    from rose.store.lessons import Lesson
    from rose.store.parse import Parsed


@dataclass(frozen=True, slots=True)
class LessonDraft:
    """A lesson's bytes, where they are said to be from, and the lesson whose place they take."""

    raw: bytes
    where: str
    incumbent: Lesson | None = None


@dataclass(frozen=True, slots=True)
class LessonContext:
    """What it is held against: the other lessons, the session, and quotes matched before."""

    lessons: Sequence[Lesson]
    regions: Mapping[str, Sequence[Region]] = field(default_factory=dict)
    kept: frozenset[Evidence] = frozenset()


def is_lesson_slot(name: str) -> bool:
    """Tell whether a lesson can lie under a file name."""
    return name.endswith(".md") and name[0] != "." and lessons.is_safe_id(name)


def incumbent_of(slot: str, shelf: Sequence[Lesson]) -> tuple[Lesson | None, list[Finding]]:
    """Return the lesson under a file name; where there are several, a finding names them."""
    found = [lesson for lesson in shelf if os.path.basename(lesson.path) == slot]
    if len(found) < 2:  # noqa: PLR2004 - one is the one that is meant
        return (found[0] if found else None), []
    named = " and ".join(lesson.path for lesson in found[:5])
    message = f"{slot} is the name of {len(found)} lessons: {named}."
    repair = "Check the draft at the place of the one that is meant."
    return None, [Finding("slot-ambiguous", "slot", message, repair)]


def evidence_of(raw: bytes) -> tuple[Evidence, ...]:
    """Return the quotes in a lesson's header; a plain text is one where reflection wrote it."""
    text = raw.decode("utf-8", "replace")
    fields, _, findings = frontmatter.read(text, "")
    given = fields.get("evidence")
    items = given if isinstance(given, list) else [given] if given else []
    is_learned = fields.get("origin") == "reflection"
    quoted = [item for item in items if is_learned or not isinstance(item, str)]
    return rules.Reader(text, "", {"evidence": quoted}, findings).evidence()


def check_lesson(draft: LessonDraft, context: LessonContext) -> Iterator[Finding]:
    """Yield everything that is wrong with a draft; independent faults come together."""
    parsed = parse.parse(draft.raw, draft.where, version="")
    yield from (replace(fault, where=draft.where + fault.where) for fault in parsed.findings)
    text = draft.raw.decode("utf-8", "replace")
    fields, body, _ = frontmatter.read(text, draft.where)
    title = fields.get("title")
    yield from write.faults(parsed.title, title if isinstance(title, str) else "", text, ())
    if errors(parsed.findings):
        # What the header says is not known, so neither fields nor quotes can be judged.
        return
    yield from _name(parsed, draft, context)
    is_learned = parsed.origin == "reflection"
    for name in ("title", "gist", "tags"):
        yield from _hidden(name, fields.get(name, ""))
    if is_learned:
        yield from _hidden("body", body)
    yield from _quotes(draft, context, is_learned=is_learned)


def _name(parsed: Parsed, draft: LessonDraft, context: LessonContext) -> Iterator[Finding]:
    if not parsed.name:
        return
    others = [lesson for lesson in context.lessons if lesson != draft.incumbent]
    if not lessons.is_safe_id(parsed.name):
        message = f"The id {redact.quoted(parsed.name)} cannot be used."
        repair = "Leave it out: the path is the id."
        yield Finding("lesson-id", "id", message, repair)
    elif any(lesson.id == parsed.name for lesson in others):
        message = f"The id {parsed.name!r} is used by another lesson."
        yield Finding("lesson-id", "id", message, "Leave it out: the path is the id.")


def _hidden(name: str, value: object) -> Iterator[Finding]:
    text = "\n".join(map(str, value)) if isinstance(value, list) else str(value)
    hidden = texts.hostile_characters(text)
    if hidden:
        message = f"`{name}` holds what a reader does not see: {', '.join(hidden)}."
        yield Finding("hostile-characters", name, message, "Take them out.")


def _quotes(draft: LessonDraft, context: LessonContext, *, is_learned: bool) -> Iterator[Finding]:
    evidence = evidence_of(draft.raw)
    yield from quotes.check(evidence, context.kept, context.regions)
    if is_learned and not evidence:
        message = "A lesson of reflection's has no evidence."
        repair = "Quote what the session shows, word for word."
        yield Finding("evidence-missing", "evidence", message, repair)
    new = [item for item in evidence if item not in context.kept]
    if is_learned and quotes.is_tainted(new, context.regions):
        message = "All that speaks for the lesson came from outside the repository."
        repair = "Quote what the session did in the repository, or let a person add it."
        yield Finding("evidence-foreign", "evidence", message, repair)
