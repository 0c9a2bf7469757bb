"""What a condition may say: it names a kind of task, not everything, and not a lesson.

A rule that always applies tells the selector nothing, and a judgement of one lesson belongs to
that lesson. Both are refused when taught, and never injected when written by hand.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from rose import text as texts
from rose.routing import features, wording
from rose.routing import targets as target

if TYPE_CHECKING:
    from collections.abc import Container, Sequence


def _words(*lines: str) -> frozenset[str]:
    return frozenset(" ".join(lines).split())


# A condition made of these words alone holds for every session.
FILLERS = _words(
    "a all always an and any anything anytime are at be before begin beginning begins being case",
    "cases circumstance circumstances do doing done during each else ever every everything for",
    "general generally given happens happening i in is it job jobs kind kinds matter matters me",
    "new no occasion of ongoing or possible prompt prompts request requests session sessions",
    "situation situations some something start started starting starts sort task tasks that the",
    "there thing things this time times to true type types under user we what whatever when",
    "whenever where wherever work working you",
    "immer jede jeder jedes sempre siempre toujours всегда 总是 始终 總是 任何任务 所有任务",
    "いつも 常に 항상 دائما",
)
JUDGEMENTS = _words(
    "applicable applies bad best better correct good help helped helpful helps important",
    "inaccurate incorrect irrelevant misleading misled needed noise obsolete outdated relevant",
    "right stale superseded trustworthy unhelpful unimportant unnecessary useful useless valuable",
    "works worse worth worthless wrong",
)
# What may stand between a thing and the judgement of it.
_LINKS = _words("are does had has is never not often rarely seems seldom was were")
_ARTICLES = ("the", "a", "an", "this", "that")
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


def named_lesson(
    when: str, roots: Sequence[str], lessons: Container[str] = (), match: Sequence[str] = ()
) -> str | None:
    """Return the lesson that a condition is about, None for a kind of task.

    A path below a lessons root or a known id with a slash is about a lesson wherever it stands,
    other names only as the whole condition or with a judgement. What code renders from `match`
    is what it saw of tasks.
    """
    if features.says_match(when, match):
        return None
    names = [target.strip(token) for token in wording.condition(when).split()]
    for name in names:
        if _is_inside(name, roots) or ("/" in name and name.removesuffix(".md") in lessons):
            return name
    if len(names) == 1 and _is_lesson(names[0], roots, lessons):
        return names[0]
    named, rest = _subject(names)
    about = named.casefold() in _THINGS or _is_lesson(named, roots, lessons)
    judged = JUDGEMENTS.intersection(texts.canonical(" ".join(rest)).split())
    return _thing(named, rest) if about and judged else None


def _subject(names: Sequence[str]) -> tuple[str, Sequence[str]]:
    """Return the first word of a condition that is no article, and what follows it."""
    start = 1 if names and names[0].casefold() in _ARTICLES else 0
    return "".join(names[start : start + 1]), names[start + 1 :]


def _thing(named: str, rest: Sequence[str]) -> str:
    """Return what a thing is called: `x` of "the lesson x helps"."""
    called = rest[0] if named.casefold() in _THINGS and len(rest) > 1 else ""
    return named if called.casefold() in {"", *_LINKS, *FILLERS, *JUDGEMENTS} else called


def _is_inside(name: str, roots: Sequence[str]) -> bool:
    # A root may be called `docs`, and a change of it is a kind of task.
    below = any(name.startswith(root + "/") and name != root + "/" for root in roots)
    return below and target.is_inside(name)


def _is_lesson(name: str, roots: Sequence[str], lessons: Container[str]) -> bool:
    is_path = "/" in name and (target.is_target(name, roots) or name.endswith(".md"))
    is_id = any(said in lessons for said in (name, name.removesuffix(".md"), name.casefold()))
    is_file = name.casefold().endswith(".md")
    return is_path or is_id or is_file or _MADE_ID.fullmatch(name) is not None
