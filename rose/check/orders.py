"""Orders: the words by which a rule would tell an agent to act instead of where to read.

A `then` of reflection's has a form: words of reading, paths of lessons, and a short purpose. What
else stands there is refused, and now and then a harmless sentence with it, which costs one rule.
It is a form, not a reading of what the words mean. A person's rule may say anything.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from rose.routing import targets

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MOST_PURPOSE_WORDS = 28

# Addresses, and what a shell would put other text in the place of.
_OUTSIDE = re.compile(r"(?i:\b[a-z][a-z0-9+.-]*://\S*|\bwww\.\S+)|\$\(|\$\{|\$[A-Z_]{2,}", re.ASCII)
_SIGNS = re.compile(r"\|+|&&|>>|<\(")
_PROGRAMS = re.compile(
    r"\b(?:curl|wget|sudo|chmod|eval)\b|\brm -|\b(?:ba|z|da)?sh -c\b|\bpython3? -c\b"
    r"|\b(?:pip3?|npm) install\b",
    re.IGNORECASE,
)
_VERBS = (
    r"(?:run|execute|exec|invoke|launch|install|uninstall|download|upload|delete|remove|send|"
    r"disable|paste|obey|pretend|echo)"
)
_VERB = re.compile(rf"\b{_VERBS}\b", re.IGNORECASE)
# "before you run the tests" says when to read, and "how to install it" what is written there.
_SUBORDINATE = re.compile(
    r"(?:\b(?:before|after|when|if|until|unless|while|once)\s+(?:you|we|it|they)|\bhow\s+to)\s+\Z",
    re.IGNORECASE,
)
_OVERRIDES = re.compile(
    r"\b(?:ignore|forget|disregard|override|bypass)\b[^.]{0,40}"
    r"\b(?:instructions?|prompts?|guidelines|safety|previous|prior|earlier|above|everything)\b"
    r"|\b(?:system|assistant|developer|user|human)\s*:"
    r"|\byou\s+(?:are|must|should|shall|will|have\s+to|need\s+to)\b",
    re.IGNORECASE,
)
# A path or the name of a file is no verb.
_PATH = re.compile(r"\S*[/.]\S+")

_READING_WORDS = (
    "read reread re-read see look skim open consult check study start begin find turn go refer "
    "skip ignore nothing none no not"
)
_READING = frozenset(_READING_WORDS.split())
_BETWEEN_WORDS = (
    "the a an all any every both each also only just at in into of from under with and or then "
    "first second next again here please file files folder folders page pages note notes lesson "
    "lessons section sections doc docs it them"
)
_BETWEEN = frozenset(_BETWEEN_WORDS.split())
# What says for what, when and why; the words behind it are free.
_PURPOSE_WORDS = (
    "before after when whenever while for to on about if until unless once because since as how "
    "where what which who why that this these those there they its their so instead rather during "
    "is are has have holds describes explains lists names tells says gives shows covers contains "
    "applies apply - \u2013 \u2014"
)
_PURPOSE = frozenset(_PURPOSE_WORDS.split())
# Words that begin an order, where a new clause begins.
_ACTS_WORDS = (
    "accept act add allow apply approve become build call change clone commit connect copy create "
    "deploy do edit email export fetch fix follow forget give grant ignore disregard override "
    "bypass kill let load mail make merge move name overwrite post print publish pull push put "
    "release rename replace reply report reset respond restart revert set share show source start "
    "stop submit tell trust type update use visit write run execute exec invoke launch install "
    "uninstall download upload delete remove send disable enable paste obey pretend echo "
    "apt awk bash brew bun bundle cargo cat cp curl dd docker gh git go gradle helm java kubectl "
    "mv mvn node npm npx nc perl php pip pip3 pipx pnpm poetry powershell python python3 rm ruby "
    "scp sed sh ssh sudo tar tee terraform touch uv uvx wget yarn zsh chmod chown eval"
)
_ACTS = frozenset(_ACTS_WORDS.split())
# In a condition a verb is what the task does, unless a new sentence begins with it.
_NEW_CLAUSE = re.compile(
    rf"(?:[,.:;!]|\b(?:then|now|first|please|always|must|should))\s+{_VERBS}\b"
    rf"|[.;!]\s+(?:{'|'.join(sorted(_ACTS))})\s",
    re.IGNORECASE,
)
_JOINTS = ("and", "or", "also", "but", "now", "so", "please", "-", "\u2013", "\u2014")
_OPENING = "([\"'\u201c\u2018"
_FLAG = re.compile(r"--?[A-Za-z]")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=\S")
_MAILBOX = re.compile(r"\S+@\S+\.\S|\d+(?:\.\d+){3}\b")
_HOST = re.compile(r"[\w-]+(?:\.[\w-]+)*\.(?P<last>[^\W\d_]{2,})(?P<rest>:\d.*|/.*)?")
# The endings by which a word with a dot in it is a file and no host.
_FILE_ENDINGS = (
    "c cc cfg conf cpp cs css csv env gitignore go gradle h hpp html ini ipynb java js json jsx kt "
    "less lock lua md mdx mjs php pl properties proto py pyi rb rs rst sass scala scss sh sql "
    "svelte swift tf toml ts tsx txt vue xml yaml yml"
)
_FILES = frozenset(_FILE_ENDINGS.split())
_SPAN = re.compile(r"`([^`]*)`")
# `make test` in "before you run `make test`" says when.
_IN_TIME = re.compile(
    r"\b(?:before|after|when|while|if|until)\s+(?:(?:you|we|it|they)\s+\w+|\w+ing)\s+\Z",
    re.IGNORECASE,
)


def find(text: str, roots: Sequence[str], *, is_condition: bool) -> str | None:
    """Return a text from the first words on that give an order, None where there are none.

    `roots` are the folders of the lessons. Letters that only look different are read alike.
    """
    text = unicodedata.normalize("NFKC", text)
    plain = _PATH.sub(lambda path: "x" * len(path[0]), text)
    found = _OVERRIDES.search(text) or _OUTSIDE.search(text) or _SIGNS.search(plain)
    if found is None:
        found = (_NEW_CLAUSE if is_condition else _PROGRAMS).search(plain)
    if found is None and not is_condition:
        verbs = _VERB.finditer(plain)
        found = next((v for v in verbs if not _SUBORDINATE.search(plain[: v.start()])), None)
    if found is None and not is_condition:
        found = next(_strange(text, roots), None)
    return None if found is None else text[found.start() :]


def _strange(text: str, roots: Sequence[str]) -> Iterator[re.Match[str]]:
    """Yield what is neither a word of reading, nor a lesson's path, nor part of a purpose."""
    for span in _SPAN.finditer(text):
        if len(span[1].split()) > 1 and not _IN_TIME.search(text[: span.start()]):
            yield span
    spoken = 0
    before = ""
    words = list(re.finditer(r"\S+", text))
    for number, word in enumerate(words):
        core = targets.strip(word[0].rstrip("!?"))
        said = core.casefold()
        is_last = number + 1 == len(words)
        if not targets.is_target(core, roots):
            if not spoken and said not in _READING and said not in _BETWEEN:
                spoken = 1
                if said not in _PURPOSE:
                    yield word
            elif spoken:
                spoken += 1
                if _begins_order(before, word[0], said, is_last=is_last):
                    yield word
            if spoken > MOST_PURPOSE_WORDS or _is_machines(word[0], core):
                yield word
        before = word[0]


def _begins_order(before: str, said: str, word: str, *, is_last: bool) -> bool:
    """Tell whether a word begins an order behind the word before it, inside of a purpose.

    `said` is the word with the signs round it. The last word has nothing to act on.
    """
    before = before.casefold()
    if before.endswith((".", ";", "!", "?")) or before.strip(",") == "then":
        return word not in _READING and word not in _BETWEEN and word not in _PURPOSE
    is_joined = said[0] in _OPENING or before.endswith((",", ":", ")")) or before in _JOINTS
    return is_joined and word in _ACTS and word not in _READING and not is_last


def _is_machines(word: str, core: str) -> bool:
    """Tell whether a word is meant for a shell or for the network."""
    bare = word.lstrip(targets.QUOTES + "(")
    if bare.startswith("./") or _FLAG.match(bare) or _ASSIGNMENT.match(bare):
        return True
    if any(sign in core for sign in ";|&<>`") or _MAILBOX.match(core):
        return True
    host = _HOST.fullmatch(core)
    return host is not None and (bool(host["rest"]) or host["last"].casefold() not in _FILES)
