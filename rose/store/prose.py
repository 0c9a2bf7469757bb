"""What a lesson's text begins with: its first heading and the first sentence of its prose."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rose import text as texts

if TYPE_CHECKING:
    from collections.abc import Iterator

# How much of a line is looked at: a title or a first sentence is never that long.
MAX_LINE = 2_000
MAX_LINES = 2_000
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(.*)")
_CLOSING = re.compile(r"(?:^|[ \t]+)#+[ \t]*$")
_FENCE = re.compile(r" {0,3}(```|~~~)")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*")
_NO_PROSE = re.compile(r" {0,3}(#{1,6}[ \t]|<!--|!\[|\[!\[|\||---|\*\*\*|___|:::|<[A-Za-z/])")
_LIST_MARK = re.compile(r"[ \t]*(?:>[ \t]*)*(?:[-*+]|[0-9]{1,3}[.)])?[ \t]+(?=\S)|[ \t]*>[ \t]*")
# A full stop before a small letter is an abbreviation more often than an end.
_SENTENCE_END = re.compile(r"[.!?](?=[ ][^a-z ]|$)|[\u3002\uff01\uff1f]")


def first_heading(body: str) -> str:
    """Return the first heading outside of code, empty where there is none."""
    above = ""
    for line in _prose(body):
        found = _HEADING.match(line)
        if found is not None:
            title = texts.clean_line(_CLOSING.sub("", found[1]))
            if title:
                return title
        elif above.strip() and "=" in line and _UNDERLINE.fullmatch(line):
            return texts.clean_line(above)
        above = line
    return ""


def first_sentence(body: str) -> str:
    """Return the first sentence of the first paragraph of prose."""
    sentence = texts.clean_line(" ".join(_first_paragraph(body))[:MAX_LINE])
    end = _SENTENCE_END.search(sentence)
    return sentence if end is None else sentence[: end.end()]


def _first_paragraph(body: str) -> list[str]:
    paragraph: list[str] = []
    for line in _without_markup(list(_prose(body))):
        mark = _LIST_MARK.match(line)
        begins_item = mark is not None and bool(mark[0].strip())
        if paragraph and (not line or begins_item or sum(map(len, paragraph)) > MAX_LINE):
            break
        if line:
            paragraph.append(line if mark is None else line[mark.end() :])
    return paragraph


def _without_markup(lines: list[str]) -> Iterator[str]:
    """Yield each line of prose, and a blank one for every line of markup."""
    in_comment = False
    for number, line in enumerate(lines):
        was_in_comment = in_comment
        in_comment = (in_comment or "<!--" in line) and "-->" not in line
        below = lines[number + 1] if number + 1 < len(lines) else ""
        is_title = "=" in below and _UNDERLINE.fullmatch(below) is not None
        is_markup = (
            was_in_comment
            or is_title
            or not line.strip()
            or _NO_PROSE.match(line) is not None
            or _UNDERLINE.fullmatch(line) is not None
        )
        yield "" if is_markup else line


def _prose(body: str) -> Iterator[str]:
    """Yield the lines of a body outside its code fences, each cut to what is looked at."""
    fence = ""
    start = 0
    for _ in range(MAX_LINES):
        if start >= len(body):
            return
        end = body.find("\n", start)
        end = len(body) if end < 0 else end
        line = body[start : min(end, start + MAX_LINE)].rstrip("\r")
        start = end + 1
        mark = _FENCE.match(line)
        if mark is not None and fence in ("", mark[1]):
            fence = "" if fence else mark[1]
        elif not fence:
            yield line
