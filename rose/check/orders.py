"""Orders: the words by which a rule would tell an agent to act instead of where to read.

A net of words over what a model wrote, not a reading of what it means: it catches commands and
the usual ways to override an agent, and now and then refuses a harmless sentence, which costs one
rule. A person's rule may say anything.
"""

from __future__ import annotations

import re

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
# In a condition a verb is what the task does, unless a new sentence begins with it.
_NEW_CLAUSE = re.compile(
    rf"(?:[,.:;!]|\b(?:then|now|first|please|always|must|should))\s+{_VERBS}\b", re.IGNORECASE
)
_OVERRIDES = re.compile(
    r"\b(?:ignore|forget|disregard|override|bypass)\b[^.]{0,40}"
    r"\b(?:instructions?|prompts?|guidelines|safety|previous|above)\b",
    re.IGNORECASE,
)
# A path or the name of a file is no verb.
_PATH = re.compile(r"\S*[/.]\S+")


def find(text: str, *, is_condition: bool) -> str | None:
    """Return a text from the first words on that give an order, None where there are none."""
    plain = _PATH.sub(lambda path: "x" * len(path[0]), text)
    found = _OVERRIDES.search(text) or _OUTSIDE.search(text) or _SIGNS.search(plain)
    if found is None:
        found = (_NEW_CLAUSE if is_condition else _PROGRAMS).search(plain)
    if found is None and not is_condition:
        verbs = _VERB.finditer(plain)
        found = next((v for v in verbs if not _SUBORDINATE.search(plain[: v.start()])), None)
    return None if found is None else text[found.start() :]
