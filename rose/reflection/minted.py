"""The lessons that a model finds missing: checked like any draft, stored where the settings say so.

They are written only where no lesson bears their title, and never over a file.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rose import frontmatter, redact
from rose import text as texts
from rose.check.lesson import LessonContext, LessonDraft, check_lesson
from rose.findings import Finding, Refused, errors
from rose.routing import rules
from rose.routing.rules import Evidence
from rose.store import write

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rose.layout import Store
    from rose.reflection.passes import Pass
    from rose.reflection.planning import Proposed
    from rose.reflection.proposal import NewLesson

FOLDER = "learned"


@dataclass(frozen=True, slots=True)
class Minted:
    """A lesson that a model proposed: its store path and text, or the findings that refused it."""

    title: str
    path: str
    text: str
    findings: tuple[Finding, ...] = ()

    @property
    def is_sound(self) -> bool:
        return not errors(self.findings)

    def as_json(self) -> dict[str, object]:
        """Return it as it stands in traces and in `--json`; a refused text is not repeated."""
        return {
            "title": redact.redact(self.title),
            "path": self.path if self.is_sound else None,
            "findings": [redact.redact(finding.line()) for finding in self.findings],
        }


def mint(one: Pass, new: Sequence[NewLesson], proposed: Proposed) -> tuple[Minted, ...]:
    """Return the lessons ready to be written, each checked; nothing is written."""
    shelf = one.holding.shelf.lessons
    titles = {lesson.title.casefold() for lesson in shelf}
    minted: list[Minted] = []
    for number, lesson in enumerate(new, 1):
        made = _minted(one, lesson, proposed, f"lessons {number}")
        if lesson.title.casefold() in titles or any(made.path == old.path for old in minted):
            made = _refused(made, "There is a lesson of this title.")
        minted.append(made)
    return tuple(minted)


def as_it_stands(store: Store, minted: Sequence[Minted]) -> tuple[Minted, ...]:
    """Return the lessons with what came to lie in their places since; the caller has the lock."""
    message = "[acceptance] There is a file of this name by now."
    return tuple(
        _refused(new, message) if os.path.lexists(os.path.join(store.base, new.path)) else new
        for new in minted
    )


def _refused(new: Minted, message: str) -> Minted:
    doubt = Finding("lesson-exists", new.path, message, "Add to it by hand.")
    return replace(new, findings=(*new.findings, doubt))


def _minted(one: Pass, new: NewLesson, proposed: Proposed, where: str) -> Minted:
    settings, session = one.holding.settings, one.facts.session
    item = Evidence(session, texts.normalise(new.quote))
    fields = {
        "title": texts.clean_line(new.title),
        "created": one.at,
        "origin": "reflection",
        "evidence": [rules.evidence_fields(item)],
    }
    place = f"{settings.lessons_paths[0]}/{FOLDER}"
    path = write.free_path(one.holding.store, place, new.title)
    try:
        text = frontmatter.edit(new.body, fields, where)
    except Refused as refused:
        return Minted(new.title, path, "", refused.findings)
    doubts = [*_doubts(new, where), *_place_doubts(one.holding.store, place)]
    context = LessonContext(one.holding.shelf.lessons, regions={session: proposed.quotes.regions})
    found = check_lesson(LessonDraft(text.encode("utf-8", "surrogatepass"), where), context)
    return Minted(new.title, path, text, (*doubts, *found))


def _doubts(new: NewLesson, where: str) -> Iterator[Finding]:
    """Yield what the lesson's file would not show any more."""
    if frontmatter.split(new.body).header is not None:
        # It would speak for the lesson.
        message = "The body begins with a header."
        yield Finding("lesson-header", where, message, "Give the text alone.")
    if len(new.title.splitlines()) > 1:
        yield Finding("one-line", "title", "The title has more than one line.", "Write one.")
    hidden = texts.hostile_characters(new.title)
    if hidden:
        message = f"The title holds what a reader does not see: {', '.join(hidden)}."
        yield Finding("hostile-characters", "title", message, "Take them out.")


def _place_doubts(store: Store, place: str) -> Iterator[Finding]:
    """Yield why a folder gets no lesson: a link of a cloned repository may lead anywhere."""
    folder = os.path.join(store.base, place)
    inner = os.path.relpath(os.path.realpath(folder), os.path.realpath(store.base))
    is_ours = not any(part.startswith(".") for part in inner.split(os.sep))
    if not is_ours or (os.path.lexists(folder) and not os.path.isdir(folder)):
        message = f"{place} is no folder of the project's lessons."
        yield Finding("folder", place, message, "Make it one.")
