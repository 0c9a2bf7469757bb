"""Terms: the words by which a task, a lesson and a past task are compared.

They come from the one tokenizer. What a request says whatever it is about is left out, and the
endings of English words are cut, so that a task and a lesson need not use the same form.
"""

from __future__ import annotations

import functools

from rose import text as texts

# Beside the fillers of any prompt: that something is done, in the words of requests and commits.
_DOING_WORDS = (
    "add added adding adds fix fixed fixes fixing make makes making new use used uses using file "
    "files"
)
_COMMON = texts.STOP_WORDS | texts.NO_CONTENT | frozenset(_DOING_WORDS.split())
_ENDINGS = (("ing", ""), ("ies", "y"), ("ed", ""), ("es", ""), ("s", ""))
_SHORTEST_STEM = 3


def terms(text: str) -> list[str]:
    """Return the terms of a text in order, identifiers also by their parts."""
    return [stem(word) for word in query_words(text)]


def query_words(text: str) -> list[str]:
    """Return the words of a text that are worth looking for, as they stand."""
    return [word for word in texts.words(text) if _tells(word)]


def _tells(word: str) -> bool:
    return len(word) > 1 and word not in _COMMON and not word.isdigit()


@functools.lru_cache(maxsize=1 << 15)
def stem(word: str) -> str:
    """Return a word without its ending."""
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word[: -len(ending)] + instead
    return word
