"""Remove secret-shaped text before anything is written.

Three kinds of evidence count: a vendor's own shape, a place that only holds a credential (URL,
header, key block), and a name that promises one (`API_TOKEN=`). Looking random is none: digests,
UUIDs and commit ids stay. The patterns are in rose.shapes; here each match is judged.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rose import shapes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

MARK = "[redacted:"
_LONGEST_SHOWN = 2_000


@dataclass(frozen=True, slots=True)
class Secret:
    """One secret by its offsets in the text."""

    kind: str
    start: int
    end: int


def redact(text: str) -> str:
    """Return the text with each secret replaced by `[redacted:KIND]`."""
    return _marked(text, find(text), len(text))


def _marked(text: str, secrets: Sequence[Secret], end: int) -> str:
    """Return a text as far as an end, with a mark for each secret that begins before it."""
    parts = []
    done = 0
    for secret in secrets:
        if secret.start < end:
            parts += [text[done : secret.start], f"{MARK}{secret.kind}]"]
            done = secret.end
    return "".join([*parts, text[done:end]])


def beginning(text: str, most_chars: int) -> str:
    """Return the first characters of a text without secrets: none is cut before it is known.

    Nothing is shown from beyond them, where a secret may be cut, however much a mark saves.
    """
    return _marked(text, find(text[: most_chars + _LONGEST_SHOWN]), most_chars)[:most_chars]


def quoted(value: str, most_chars: int = 60) -> str:
    """Return the beginning of a value as a message quotes it."""
    return repr(beginning(value, most_chars))


def throughout(value: Any, clean: Callable[[str], str] = redact) -> Any:
    """Return a value of JSON with every text in it cleaned, in the first place of secrets."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        return {name: throughout(part, clean) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [throughout(part, clean) for part in value]
    return value


def holds_secret(text: str) -> bool:
    """Tell whether anything in the text would be redacted."""
    return bool(find(text))


def find(text: str) -> list[Secret]:
    """Return the secrets in order, none overlapping another."""
    merged: list[Secret] = []
    for secret in sorted(_candidates(text), key=lambda secret: secret.start):
        if merged and secret.start < merged[-1].end:
            last = merged[-1]
            merged[-1] = Secret(last.kind, last.start, max(last.end, secret.end))
        else:
            merged.append(secret)
    return merged


def _candidates(text: str) -> Iterator[Secret]:
    """Yield what the table and the judgements take for a secret, the most specific first."""
    yield from _key_blocks(text)
    folded = text.lower()
    for shape in shapes.table():
        where = folded if shape.any_case else text
        if not any(hint in where for hint in shape.hints):
            continue
        yield from _accepted(shape, text)


def _accepted(shape: shapes.Shape, text: str) -> Iterator[Secret]:
    judge = _JUDGEMENTS[shape.judgement]
    pattern = shape.compiled()
    match = pattern.search(text)
    while match:
        group = match.lastgroup or 0
        start, end = match.span(group)
        # The value of a name may hold another name: token=load(secret=...).
        following = start if group in ("bare", "quoted") else end
        # A value that holds a mark was redacted before.
        if MARK not in match[group] and judge(match, match[group]):
            if group == "bare" and end - start >= shapes.LONGEST_BARE:
                rest = _DELIMITER.search(text, end)
                following = end = rest.start() if rest else len(text)
            yield Secret(shape.kind, start, end)
        match = pattern.search(text, following)


_DELIMITER = re.compile(r"[\s\"'`,;<>|&\\)\]}]")
_BLOCK_MARKS = re.compile(
    r"-{4,5} ?(BEGIN|END)\\?\s(?:[A-Z0-9]{1,20}\\?\s){0,4}PRIVATE\\?\sKEY(?:\\?\sBLOCK)? ?-{4,5}"
    r"|Private-Lines: ?[0-9]{1,4}|Private-MAC: ?[0-9a-f]{1,128}"
)
# Lines of base64 after the headers of an encrypted key; each may be quoted or numbered.
_BODY = re.compile(
    r"(?:(?:\s|\\[nr]){0,4}[A-Z][A-Za-z-]{2,20}: [^\s\\]{1,100}){0,4}"
    r"(?:(?:\\[nrt]|[^A-Za-z0-9+/=]){0,40}(?:[0-9]{1,6}[^A-Za-z0-9+/=]{1,9})?[A-Za-z0-9+/=]{24,})+"
)
_LONGEST_BLOCK = 40_000


def _key_blocks(text: str) -> Iterator[Secret]:
    """Yield private keys from their first to their last line, or as far as they go."""
    begin: re.Match[str] | None = None
    for mark in _BLOCK_MARKS.finditer(text):
        opens = mark[1] == "BEGIN" or mark[0].startswith("Private-Lines")
        if begin and (opens or mark.start() - begin.end() > _LONGEST_BLOCK):
            yield from _open_block(text, begin, mark.start())
            begin = None
        if opens:
            begin = mark
        elif begin:
            if _BODY.search(text, begin.end(), mark.start()):
                yield Secret("private-key", begin.start(), mark.end())
            begin = None
    if begin:
        yield from _open_block(text, begin, len(text))


def _open_block(text: str, begin: re.Match[str], stop: int) -> Iterator[Secret]:
    body = _BODY.match(text, begin.end(), stop)
    if body:
        yield Secret("private-key", begin.start(), body.end())


# Words that stand where a secret would stand, and names of types and algorithms.
_STAND_INS = (
    "a abc access admin an api app apikey argon array auth authentication authorization aws base "
    "basic bcrypt bearer bool boolean buffer bytes change changeme client credential credentials "
    "db default demo dummy env example fake false float foo bar baz for from github gitlab here "
    "hidden hmac id in inherit insert int integer is jwt key keys login me md mock my name new "
    "nil no none null oauth of old openai optional or pass password passwd passphrase pbkdf "
    "placeholder private production public pwd real redacted removed replace required root sample "
    "secret secrets service sha some str string super test testing testpass text the this to todo "
    "token tokens true type uint undefined url user username utf uuid valid value values with xx "
    "xxx xxxx yes you your"
)
_PLACEHOLDERS = frozenset(_STAND_INS.split())
_VARIABLE = re.compile(
    r"\$[A-Za-z_{(]|[<{@!*]|%[s({%A-Z]|\.{1,2}/|[~/]|\.\.\.|…|\\[nrt]|[A-Za-z][\w+.-]{0,30}://",
    re.ASCII,
)
_CODE = re.compile(r"[A-Za-z_][\w.]*[(\[]|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+(?![\w.-])", re.ASCII)
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_PARTS = re.compile(r"[A-Za-z0-9]+")
_SMALL_NUMBER = re.compile(r"[0-9]{1,3}")
_NOT_WORDS = re.compile(r"[0-9]|[A-Za-z]{16}")
_UNLIKELY_IN_WORDS = re.compile(r"[0-9!#$%^&*+=?@~]")
_CHOSEN_BY_HAND = ("pass", "pw", "contra", "kenn", "senha")
# What makes of a key one that opens something.
_KEY_TO = re.compile(
    r"(?:api|auth|access|account|app|client|db|database|encryption|master|priv|private|secret"
    r"|service|shared|signing|storage|subscription|ibm|iam|cloud|cloudant|clou|cos|softlayer"
    r"|(?<![a-z])[cs]l)[_-]?(?:api|access)?[_-]?\Z",
    re.IGNORECASE,
)
_IN_MARK = re.compile(r"\[redacted:[a-z0-9-]*\Z")
_LONG = 16
_MANY_DIGITS = 4
_PART = 8
_SHORTEST_PASSWORD = 6
_MANY_HYPHENS = 3


def _is_placeholder(value: str) -> bool:
    """Tell whether the value names, describes or computes a secret and is none itself."""
    if _VARIABLE.match(value) or any(sign in value for sign in ("${", "{{", "...", " ")):
        return True
    words = [word.lower() for word in _WORDS.findall(value)]
    return len(set(value.lower())) == 1 or (
        bool(words)
        and all(word in _PLACEHOLDERS or _SMALL_NUMBER.fullmatch(word) for word in words)
    )


def _is_random(value: str) -> bool:
    """Tell whether letters and digits are mixed as generated text mixes them."""
    digits = sum("0" <= char <= "9" for char in value)
    if len(value) >= _LONG and digits >= _MANY_DIGITS and not value.isdigit():
        return True
    parts = _PARTS.findall(value)
    return any(len(part) >= _PART and not part.isdigit() and not part.isalpha() for part in parts)


def _is_dense(value: str) -> bool:
    """Tell whether one unbroken run holds both cases and digits, as base64 does."""
    return any(
        len(part) >= _LONG and part.lower() != part and part.upper() != part and _is_random(part)
        for part in _PARTS.findall(value)
    )


def _is_password(value: str) -> bool:
    """Tell whether the value may be a password that a person chose."""
    letters = any(char.isascii() and char.isalpha() for char in value)
    symbols = _UNLIKELY_IN_WORDS.search(value) is not None
    return len(value) >= _SHORTEST_PASSWORD and (
        (letters and symbols) or value.isdigit() or value.count("-") >= _MANY_HYPHENS
    )


def _login(match: re.Match[str], value: str) -> bool:
    """Accept what stands beside a user name, unless it is a variable or repeats the name."""
    return not _is_placeholder(value) and value != match["user"] and not value.isdigit()


def _credential(_match: re.Match[str], value: str) -> bool:
    mixed_case = value.lower() != value and value.upper() != value
    return not _is_placeholder(value) and (_is_random(value) or mixed_case or value[-1] == "=")


def _named(match: re.Match[str], value: str) -> bool:
    """Accept the value of a name such as API_TOKEN if it is a literal and not a word."""
    bare = match.lastgroup == "bare"
    if _is_placeholder(value) or (bare and _CODE.match(value) and not _is_dense(value)):
        return False
    word = match["word"]
    before = match.string[max(0, match.start("word") - 24) : match.start("word")]
    inside = before[-1:].isalpha() and not (before[-1].islower() and word[0].isupper())
    if _IN_MARK.search(before) or before.endswith("NO"):
        return False
    if word.lower() in ("pass", "pwd", "pw") and inside:
        return False
    if word.lower() == "key" and not _KEY_TO.search(before):
        own = before[-1:] in ("_", "-") or (before[-1:].isalpha() and not inside)
        return own and "public" not in before.lower() and _is_dense(value)
    return _is_literal(word, value, bare=bare)


def _is_literal(word: str, value: str, *, bare: bool) -> bool:
    if word.lower().startswith(_CHOSEN_BY_HAND) or not word.isascii():
        return _is_password(value) or (not bare and len(value) >= _PART and value.isalpha())
    # In an environment file or a shell nothing else than the value can stand there.
    if word.isupper() and "-" not in value and "_" not in value:
        return _is_password(value) or (len(value) >= _LONG and value.isalpha())
    return _is_random(value)


_JUDGEMENTS: dict[shapes.Judgement, Callable[[re.Match[str], str], bool]] = {
    "sure": lambda _match, _value: True,
    "token": lambda _match, value: _NOT_WORDS.search(value) is not None,
    "random": lambda _match, value: _is_random(value) and not _is_placeholder(value),
    "dense": lambda _match, value: _is_dense(value),
    "credential": _credential,
    "login": _login,
    "named": _named,
    "exported": lambda _match, value: _is_dense(value) and not _is_placeholder(value),
}
