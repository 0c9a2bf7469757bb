"""The only door to tiktoken: count tokens exactly, or say that bytes were charged instead.

The vocabulary of `o200k_base` travels in the package (rose/data/NOTICE), and the encoding is built
from it in memory. tiktoken's own loader is never called, so nothing is downloaded and no cache
folder is needed; it is no slower than reading tiktoken's own file (docs/measurements.md).
Where the vocabulary cannot be had a text is charged its UTF-8 bytes, which is the only estimate
that is never below the true count.
"""

from __future__ import annotations

import functools
import os
import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

EXACT = "o200k_base"
BYTES = "bytes"

PACKED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data", "o200k_base.xz")
# Of the unpacked content. benchmarks/pack_vocabulary.py prints it, and packs nothing but the file
# whose digest tiktoken pins.
UNPACKED_SHA256 = "bac143fe7fe950090c6e4ed9a2f80de5412a92495758b52becbbe5a7eea25ecb"

# As tiktoken registers it for o200k_base; a test compares the two.
PATTERN = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n/]*"
    r"|\s*[\r\n]+"
    r"|\s+(?!\S)"
    r"|\s+"
)


# The same for a text in which each character beyond ASCII is replaced by one that stands for its
# kind: \x01 for a letter without case, \x02 for a mark.
_PARTS = re.compile(
    r"[^\r\nA-Za-z\x010-9]?[A-Z\x01\x02]*[a-z\x01\x02]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\nA-Za-z\x010-9]?[A-Z\x01\x02]+[a-z\x01\x02]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[0-9]{1,3}| ?[^\sA-Za-z\x010-9]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    re.ASCII,
)
_KINDS = {"Lu": "A", "Lt": "A", "Ll": "a", "Lm": "\x01", "Lo": "\x01"}
_KINDS |= {"Mn": "\x02", "Mc": "\x02", "Me": "\x02", "Nd": "0", "Nl": "0", "No": "0"}
# Blocks whose characters have been what they are for long: Latin, punctuation, arrows, signs.
_SETTLED = re.compile(
    r"[\x03-\x7e\u00a0-\u017e\u0180-\u024f\u2010-\u2027\u2030-\u205e\u2190-\u23ff\u2500-\u26ff]*"
)


@dataclass(frozen=True, slots=True)
class Counter:
    """Which counter this process can use, and the reason when it is not the exact one."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Counts:
    """What each line costs, and which of them were charged in bytes.

    A cost in `estimated` must not be remembered as the line's token count.
    """

    costs: dict[str, int]
    estimated: frozenset[str]
    reason: str


@dataclass(frozen=True, slots=True)
class _Vocabulary:
    encode: Callable[[str], list[int]] | None
    reason: str


_NOT_LOADED = _Vocabulary(None, "the vocabulary was not loaded, to save time")


def counter() -> Counter:
    """Load the vocabulary if need be, and return which counter is in use."""
    vocabulary = _vocabulary(PACKED)
    return Counter(BYTES if vocabulary.reason else EXACT, vocabulary.reason)


def parts(text: str) -> list[str]:
    """Return a text in parts whose counts add up to its own, in one where they are not known."""
    if not _SETTLED.fullmatch(text):
        return [text]
    plain = text if text.isascii() else "".join(map(_kind, text))
    return [text[found.start() : found.end()] for found in _PARTS.finditer(plain)]


def _kind(char: str) -> str:
    """Return a character of ASCII as it is, and another as one of its kind."""
    if char.isascii():
        return char
    return "\x0b" if char.isspace() else _KINDS.get(unicodedata.category(char), "\x7f")


def count(text: str) -> int:
    """Return the tokens of a text, or its UTF-8 bytes where they cannot be counted."""
    return _charge(text, _vocabulary(PACKED))[0]


def count_lines(
    lines: Sequence[str], known: Mapping[str, int], *, exact: bool, ending: str = "\n"
) -> Counts:
    """Return the cost of each line together with its ending.

    A line in `known` costs what stands there. The others are counted if `exact`, which loads the
    vocabulary, and are charged in bytes otherwise. The costs add up to the count of the joined
    lines as long as no line is blank or begins with white space or a slash.
    """
    unknown = [line for line in dict.fromkeys(lines) if line not in known]
    costs = {line: known[line] for line in lines if line in known}
    if not unknown:
        return Counts(costs, frozenset(), "")
    vocabulary = _vocabulary(PACKED) if exact else _NOT_LOADED
    estimated = set()
    reason = ""
    for line in unknown:
        costs[line], why = _charge(line + ending, vocabulary)
        if why:
            estimated.add(line)
            reason = why
    return Counts(costs, frozenset(estimated), reason)


def _charge(text: str, vocabulary: _Vocabulary) -> tuple[int, str]:
    if vocabulary.encode is None:
        return _bytes(text), vocabulary.reason
    try:
        return len(vocabulary.encode(text)), ""
    except ValueError as error:
        # Hundreds of thousands of blanks in a row exhaust the stack of tiktoken's pattern.
        return _bytes(text), f"tiktoken could not read a text: {error}"


def _bytes(text: str) -> int:
    # A lone surrogate is three bytes here; tiktoken counts it as U+FFFD, three bytes as well.
    return len(text.encode("utf-8", "surrogatepass"))


@functools.cache
def _vocabulary(packed: str) -> _Vocabulary:
    """Return the encoder built from a packed vocabulary, or the reason why there is none."""
    try:
        import hashlib
        import lzma

        import tiktoken
    except ImportError as error:
        return _Vocabulary(None, f"tiktoken cannot be imported: {error}")
    try:
        with open(packed, "rb") as file:
            content = lzma.decompress(file.read())
    except (OSError, lzma.LZMAError) as error:
        return _Vocabulary(None, f"the vocabulary cannot be read: {error}")
    if hashlib.sha256(content).hexdigest() != UNPACKED_SHA256:
        return _Vocabulary(None, f"the vocabulary is not the one of {EXACT}: {packed}")
    encoding = tiktoken.Encoding(
        EXACT, pat_str=PATTERN, mergeable_ranks=_ranks(content), special_tokens={}
    )
    # Nothing is special: text such as <|endoftext|> in a rule is ordinary text.
    return _Vocabulary(functools.partial(encoding.encode, disallowed_special=()), "")


def _ranks(content: bytes) -> dict[bytes, int]:
    """Read tokens in order of rank, each a length byte and its bytes."""
    ranks: dict[bytes, int] = {}
    start = 0
    while start < len(content):
        end = start + 1 + content[start]
        ranks[content[start + 1 : end]] = len(ranks)
        start = end
    return ranks
