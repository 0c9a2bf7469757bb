"""The lessons that a model finds missing: checked like any draft, stored where the settings say so.

They are written only where no lesson bears their title, and never over a file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rose import frontmatter, redact
from rose import text as texts
from rose.check.lesson import LessonContext, LessonDraft, check_lesson
from rose.findings import Finding, Refused, errors
from rose.routing import rules
from rose.routing.rules import Evidence
from rose.store import write

if TYPE_CHECKING:
    from collections.abc import Sequence

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
            message = "There is a lesson of this title."
            doubt = Finding("lesson-exists", made.path, message, "Add to it by hand.")
            made = Minted(made.title, made.path, made.text, (*made.findings, doubt))
        minted.append(made)
    return tuple(minted)


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
    doubts = [] if frontmatter.split(new.body).header is None else [_header(where)]
    context = LessonContext(one.holding.shelf.lessons, regions={session: proposed.quotes.regions})
    found = check_lesson(LessonDraft(text.encode("utf-8", "replace"), where), context)
    return Minted(new.title, path, text, (*doubts, *found))


def _header(where: str) -> Finding:
    """Return the finding for a body whose own header would speak for the lesson."""
    return Finding("lesson-header", where, "The body begins with a header.", "Give the text alone.")
