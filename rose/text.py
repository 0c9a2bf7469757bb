"""The one tokenizer, the quote matcher and the canonical form of a text.

A run of letters, digits, marks and underscores is one token and, where it is an identifier, its
parts as well. Scripts that write no spaces give pairs of neighbouring characters. Tokens are
folded one by one, so offsets are those of the original text whatever folding does to lengths.
"""

from __future__ import annotations

import bisect
import functools
import itertools
import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_STOP_WORDS = (
    "a an and are as at be been but by d did do does for from had has have how i if in into is it "
    "its ll m of on or our re s so t than that the their them then there these they this those to "
    "ve was we were what when where which who why will with you your"
)
STOP_WORDS = frozenset(_STOP_WORDS.split())
_FILLERS = (
    "about after again all also although always am another any anything anyone because before "
    "being between both can cannot could couldn didn doesn doing don done each either else etc "
    "even ever every everything few first get gets getting give given go goes going gone good got "
    "great he hello help her here hey hi him his however instead isn just keep kind know last "
    "least less let lets like little look looks lot made make makes making many may maybe me "
    "might more most much must my need needs never new next nice no not nothing now off ok okay "
    "once one only other otherwise out over own perhaps please possible put rather really same "
    "see seem seems shall she should since some something soon still such sure take tell thank "
    "thanks thing things think though through too try trying two under until up us use used "
    "uses using very via want wants wasn way well went while without won work works would yes "
    "yet"
)
NO_CONTENT = STOP_WORDS | frozenset(_FILLERS.split())
_LONGEST_WORD = 40

# A letter that stands for any combining mark: \w leaves marks out and would cut words at them.
_MARK = "\u02d1"
_CJK = (
    "\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303b\u3041-\u3096"
    "\u309d-\u309f\u30a1-\u30ff\u3105-\u318e\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua960-\ua97c\uac00-\ud7fb\uf900-\ufaff\uff66-\uff9f\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
_RUN = re.compile(r"\w+")
_JOINED = re.compile(f"[^\\W{_CJK}]{{2}}")
_SEGMENT = re.compile(f"(?P<cjk>[{_CJK}][{_CJK}{_MARK}]*)|[^{_CJK}]+")
# Vowels and finals of a decomposed Hangul syllable belong to the character before them.
_CHARACTER = re.compile(f"[{_CJK}][\u1160-\u11ff{_MARK}]*")
_PIECE = re.compile(r"[^_]+")


def words(text: str) -> list[str]:
    """Return the folded tokens in order, identifiers also by their parts, without stop words."""
    found: list[str] = []
    for run in _RUN.finditer(_shape(text)):
        if run.end() - run.start() <= _LONGEST_WORD and run[0].isascii():
            found += _words_of(run[0])
        else:
            tokens = spans(text[run.start() : run.end()])
            found += (token for token, _, _ in tokens if token not in STOP_WORDS)
    return found


@functools.lru_cache(maxsize=1 << 15)
def _words_of(run: str) -> tuple[str, ...]:
    """Return the tokens of one run: the same few make up most of what is ever read."""
    return tuple(token for token, _, _ in spans(run) if token not in STOP_WORDS)


def is_inside_word(text: str, at: int) -> bool:
    """Tell whether a cut at an offset would part a word; scripts without spaces may be cut."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    # A mark, or the vowel or final of a decomposed Hangul syllable, belongs to what it follows.
    if unicodedata.category(after)[0] == "M" or "\u1160" <= after <= "\u11ff":
        return True
    before = _MARK if unicodedata.category(before)[0] == "M" else before
    return _JOINED.fullmatch(before + after) is not None


def spans(text: str) -> list[tuple[str, int, int]]:
    """Return each token, folded, with its offsets in the text; a whole comes before its parts."""
    shape = _shape(text)
    found: list[tuple[str, int, int]] = []
    for run in _RUN.finditer(shape):
        for start, end in _tokens(text, shape, run):
            found.append((fold(text[start:end]), start, end))
    return found


def fold(token: str) -> str:
    """Return the token as it is compared: compatibility forms and case folded."""
    if token.isascii():
        return token.lower()
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", token).casefold())
    # A few ligatures stand for whole phrases; a token holds no space.
    return token.casefold() if " " in folded else folded


def _shape(text: str) -> str:
    """Return the text, as long as it was, with a letter in place of each combining mark."""
    if text.isascii():
        return text
    marks = [char for char in set(text) if unicodedata.category(char)[0] == "M"]
    return text.translate(dict.fromkeys(map(ord, marks), _MARK))


def _tokens(text: str, shape: str, run: re.Match[str]) -> Iterator[tuple[int, int]]:
    if run[0].isascii():
        yield from _identifier(text, shape, run.start(), run.end())
        return
    for segment in _SEGMENT.finditer(shape, run.start(), run.end()):
        if segment["cjk"] is None:
            yield from _identifier(text, shape, segment.start(), segment.end())
            continue
        characters = [c.span() for c in _CHARACTER.finditer(shape, segment.start(), segment.end())]
        if len(characters) == 1:
            yield characters[0]
        for (start, _), (_, end) in itertools.pairwise(characters):
            yield start, end


def _identifier(text: str, shape: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the whole, then its parts of two characters or more."""
    while start < end and (text[start] == "_" or shape[start] != text[start]):
        start += 1
    while start < end and text[end - 1] == "_":
        end -= 1
    if start == end:
        return
    yield start, end
    cuts = [cut for piece in _PIECE.finditer(text, start, end) for cut in _parts(text, piece)]
    if len(cuts) > 1:
        yield from (cut for cut in cuts if cut[1] - cut[0] > 1)


def _parts(text: str, piece: re.Match[str]) -> Iterator[tuple[int, int]]:
    """Yield the parts of a camel-case word: HTTPServer is HTTP and Server."""
    start, end = piece.span()
    if not (piece[0].islower() or piece[0].isupper()):
        for at in range(start + 1, end):
            before, here = text[at - 1], text[at]
            ends_capitals = before.isupper() and text[at + 1 : min(at + 2, end)].islower()
            if here.isupper() and (before.islower() or before.isdigit() or ends_capitals):
                yield start, at
                start = at
    yield start, end


# What a prompt is cut into before its words are read: scripts without spaces apart.
_CHUNK = re.compile(
    f"[{_CJK}\u3099\u309a]+|[^\\s{_CJK}\u3001-\u3003\u3008-\u3011\uff01-\uff0f\uff1a-\uff20]+"
)
_EDGES = "\"'`()[]{}<>,;:!?*\u2018\u2019\u201c\u201d\u00ab\u00bb"
# Places rather than words: URLs, mail addresses, paths. A bare file name says what a task is about.
_PLACE = re.compile(
    r"[a-z][a-z0-9+.-]*://|[^\s@]+@[^\s@]+\.|[~.]{0,2}/|\S*\\"
    r"|[^\s/]*/[^\s/]*[./_]|\S*/\Z"
)
_REDACTED = re.compile(r"\[redacted:[a-z0-9-]*\]")
_NUMBER_OR_DIGEST = re.compile(r"[\d_]+|v?\d+|(?=[a-f]*\d)[0-9a-f]{7,}|0x[0-9a-f]+")


def content_words(prompt: str) -> list[str]:
    """Return the words of a prompt that may tell what kind of task it is, each once, in order."""
    found: dict[str, None] = {}
    for chunk in _CHUNK.findall(_REDACTED.sub(" ", prompt)):
        bare = chunk.strip(_EDGES).rstrip(".")
        if _PLACE.match(bare):
            continue
        end = 0
        for word, _, stop in spans(bare):
            # A part of an identifier lies inside it; pairs of characters overlap by one.
            is_part = stop <= end
            end = max(end, stop)
            if not is_part and tells(word):
                found[word] = None
    return list(found)


def tells(word: str) -> bool:
    """Tell whether a word may say what kind of task it stands in."""
    return (
        (len(word) > 1 or word >= "\u2e80")
        and len(word) <= _LONGEST_WORD
        and word not in NO_CONTENT
        and not _NUMBER_OR_DIGEST.fullmatch(word)
    )


_WORD = re.compile(r"\S+")


def normalise(text: str) -> str:
    """Return the text with each run of white space as one space, none at the ends."""
    return " ".join(text.split())


def occurrences(quote: str, region: str) -> list[int]:
    """Return where a quote begins in a region, overlaps included, white space being equal.

    Nothing else is folded: case, dashes and quotation marks count. A blank quote is nowhere.
    """
    needle = normalise(quote)
    haystack = normalise(region)
    found = []
    at = haystack.find(needle) if needle else -1
    while at >= 0:
        found.append(at)
        at = haystack.find(needle, at + 1)
    return _original_offsets(found, region)


def _original_offsets(normalised: list[int], region: str) -> list[int]:
    if not normalised:
        return []
    starts, origins, at = [], [], 0
    for word in _WORD.finditer(region):
        starts.append(at)
        origins.append(word.start())
        at += len(word[0]) + 1
    offsets = []
    for offset in normalised:
        word_number = bisect.bisect_right(starts, offset) - 1
        offsets.append(origins[word_number] + offset - starts[word_number])
    return offsets


def canonical(text: str) -> str:
    """Return the form in which two wordings of one condition are equal.

    Case, punctuation, quotation marks, white space and Unicode form do not count; letters of any
    script, digits and signs such as + and # do.
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    kept = []
    for char in folded:
        category = unicodedata.category(char)
        if char in "'\u2019" or category[0] == "C":
            continue
        kept.append(" " if category == "Sk" or (category[0] == "P" and char != "#") else char)
    return " ".join("".join(kept).split())


_COLOUR = re.compile("\x1b\\[[0-?]*[ -/]*[@-~]")
# What takes no room on its line beyond the categories Cc, Cf and Cs.
_ZERO_WIDTH = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u2800\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8"
    "\U000e0000-\U000e0fff]"
)
_JOINERS = "\u200c\u200d"
_TEXT_OR_PICTURE = "\ufe0e\ufe0f"
_KEYCAPS = tuple("0123456789#*")


def clean_line(text: str) -> str:
    """Return the text as one line without control, bidi and zero-width characters."""
    return " ".join(visible(" ".join(_COLOUR.sub("", text).split())).split())


def visible(line: str) -> str:
    """Return a line with its blanks as they are, without what `clean_line` takes out."""
    return "".join(char for char in _COLOUR.sub("", line) if not _is_hidden(char))


def hostile_characters(text: str) -> list[str]:
    """Name the hidden characters of a text, each once.

    Joiners inside words and pictures, and what chooses a picture's form, are part of writing.
    """
    found: dict[str, None] = {}
    for at, char in enumerate(text):
        hidden = _is_hidden(char) or char in "\u2028\u2029"
        if hidden and char not in "\t\n\r" and not _is_writing(text, at):
            name = unicodedata.name(char, "surrogate" if char >= "\ud800" else "control character")
            found[f"U+{ord(char):04X} {name}"] = None
    return list(found)


def _is_hidden(char: str) -> bool:
    return unicodedata.category(char) in ("Cc", "Cf", "Cs") or bool(_ZERO_WIDTH.match(char))


def _is_writing(text: str, at: int) -> bool:
    """Tell whether a joiner or selector stands where a script or a picture needs it."""
    before, after = text[max(0, at - 1) : at], text[at + 1 : at + 2]
    if text[at] in _TEXT_OR_PICTURE:
        pictured = before > "\x7f" and unicodedata.category(before) in ("So", "Sm", "Po")
        return pictured or before in _KEYCAPS
    return text[at] in _JOINERS and _may_join(before) and _may_join(after)


def _may_join(char: str) -> bool:
    return char > "\x7f" and unicodedata.category(char)[0] in "LMS"
