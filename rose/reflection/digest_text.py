"""Turns text from outside into lines that can stand in a question to a model.

A line made here holds no words of rose's own, no secret and no hidden character. Each gets a
prefix from whoever places it, so nothing that a session or a store says can end its section.
"""

from __future__ import annotations

import re

from rose import redact
from rose import text as texts
from rose.hosts.base import HEADINGS, REFLECTION_END, REFLECTION_MARKER, strip_own

CUT = "[…]"
# What a piece of data begins with, and what alone may be quoted.
QUOTABLE = "| "

_OWN = re.compile("|".join(map(re.escape, (*HEADINGS, REFLECTION_MARKER, REFLECTION_END))))


def plain(text: str) -> str:
    """Return a text without rose's own words and without secrets."""
    return redact.redact(strip_own(text))


def lines(text: str, most_chars: int) -> list[str]:
    """Return a text as lines, none blank; its middle is cut out where it is too long."""
    return clean(clip(plain(text), most_chars).split("\n"))


def line(text: str, most_chars: int) -> str:
    """Return a text as one line."""
    return own_words_out(" ".join(lines(text, most_chars)))


def head(text: str, most_chars: int) -> str:
    """Return the beginning of a text as one line."""
    # More is read than is shown, so that no secret is cut before it is known for one.
    found = " ".join(clean(plain(redact.beginning(text, 10 * most_chars)).split("\n")))
    shown = found if len(found) <= most_chars else _whole_words(found[:most_chars], at_end=True)
    return own_words_out(shown if shown == found else f"{shown} {CUT}")


def clean(raw: list[str]) -> list[str]:
    """Return lines in printable form, without the blank ones.

    Taking hidden characters out can join what they parted, so the result is looked at again.
    """
    printable = [found for found in (_printable(one) for one in raw) if found]
    return own_words_out(redact.redact("\n".join(printable))).split("\n") if printable else []


def own_words_out(text: str) -> str:
    """Return a text without the words that mark rose's block and rose's question."""
    return _OWN.sub("[rose]", text)


def clip(text: str, most_chars: int) -> str:
    """Return a text whole, or its beginning and its end with a mark between them."""
    if len(text) <= most_chars:
        return text
    tail = most_chars // 3
    begin = _whole_words(text[: most_chars - tail], at_end=True)
    end = _whole_words(text[len(text) - tail :], at_end=False)
    return f"{begin}\n{CUT}\n{end}"


def clip_line(text: str, most_chars: int) -> str:
    """Return one line whole, or its beginning and its end."""
    return " ".join(clip(text, most_chars).split("\n"))


def _whole_words(text: str, *, at_end: bool) -> str:
    """Return a text without the word that a cut went through, where there are others."""
    parts = text.rsplit(None, 1) if at_end else text.split(None, 1)
    return parts[0 if at_end else -1] if len(parts) > 1 else text


def _printable(line: str) -> str:
    if line.isascii() and line.isprintable():
        return " ".join(line.split())
    return texts.clean_line(line)
