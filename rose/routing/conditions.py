"""What a condition may say: it names a kind of task, not everything, and not a lesson.

A rule that always applies tells the selector nothing, and a judgement of one lesson belongs to
that lesson. Both are refused when taught, and never injected when written by hand.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from rose import text as texts
from rose.routing import targets as target
from rose.routing import wording

if TYPE_CHECKING:
    from collections.abc import Container, Sequence


def _words(*lines: str) -> frozenset[str]:
    return frozenset(" ".join(lines).split())


# A condition made of these words alone holds for every session.
FILLERS = _words(
    "a all always an and any anything anytime are at be begin beginning begins being case cases",
    "circumstance circumstances do doing done during each ever every everything for general",
    "generally given happens happening i in is it job jobs kind kinds matter matters me new no",
    "occasion of ongoing or possible prompt prompts request requests session sessions situation",
    "situations some something start started starting starts sort task tasks that the there thing",
    "things this time times to true type types under user we what whatever when whenever where",
    "wherever work working you",
    "immer jede jeder jedes sempre siempre toujours всегда 总是 始终 總是 任何任务 所有任务",
    "いつも 常に 항상 دائما",
)
JUDGEMENTS = _words(
    "applicable applies bad best better correct good help helped helpful helps important",
    "inaccurate incorrect irrelevant misleading misled needed noise obsolete outdated relevant",
    "right stale superseded trustworthy unhelpful unimportant unnecessary useful useless valuable",
    "works worse worth worthless wrong",
)
_SUBJECT = re.compile(
    r"(?:(?:the|a|an|this|that)\s+)?(?:(?:lesson|note|node|rule)\s+(?=\S*[_/.]))?(\S+)",
    re.IGNORECASE,
)
_MADE_ID = re.compile(r"[nr]_[0-9a-z]{3,}", re.IGNORECASE)
_THINGS = frozenset(["lesson", "lessons", "note", "node", "rule"])


def key(when: str) -> str:
    """Return what two conditions share when they say the same in other letters."""
    said = wording.condition(when)
    # Signs alone, such as emoji, are all that some conditions have.
    return texts.canonical(said) or unicodedata.normalize("NFKC", said).casefold().strip()


def is_vacuous(when: str) -> bool:
    """Tell whether a condition holds for every task."""
    words = texts.canonical(wording.condition(when)).split()
    if words:
        return all(word in FILLERS for word in words)
    return not any(unicodedata.category(char) == "So" for char in when)


def named_lesson(when: str, roots: Sequence[str], lessons: Container[str] = ()) -> str | None:
    """Return the lesson that a condition is, or passes judgement on, None for a kind of task."""
    said = wording.condition(when)
    whole = target.strip(said)
    if _is_lesson(whole, roots, lessons):
        return whole
    subject = _SUBJECT.match(said)
    if subject is None:
        return None
    name = target.strip(subject[1])
    about = _is_lesson(name, roots, lessons) or name.casefold() in _THINGS
    judged = JUDGEMENTS.intersection(texts.canonical(said[subject.end() :]).split())
    return name if about and judged else None


def _is_lesson(name: str, roots: Sequence[str], lessons: Container[str]) -> bool:
    if not name or len(name.split()) != 1:
        return False
    # A root may be called `docs`, which alone is a kind of task.
    is_path = "/" in name and (target.is_target(name, roots) or name.endswith(".md"))
    return is_path or name in lessons or _MADE_ID.fullmatch(name) is not None
