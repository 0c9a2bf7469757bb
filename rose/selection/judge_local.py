"""The local judge: word vectors that come with their package, the extra `semantic`.

The only door to wordllama, loaded with the first question and only where it was asked for. It
compares words and knows nothing of what acts on what: what that is worth is measured
(docs/measurements.md), and why it is never taken by itself stands in docs/decisions/026.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import sys
from typing import TYPE_CHECKING, Any

from rose.selection import units
from rose.selection.judge import JudgeFailure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rose.selection.judge import Item, Mode

NAME = "local"
PACKAGE = "wordllama"
WANTED = "'wordllama>=0.4,<0.5'"
WEIGHTS = "l2_supercat_256"
# One vector takes a kilobyte for each token while it is made.
MOST_CHARS = 20_000
# The likeness that becomes a score of 0.5, where one in ten or fewer of what was needed lies
# below it (docs/measurements.md).
HALF: Mapping[Mode, float] = {"rerank": 0.17, "filter": 0.17, "compress": 0.15}


def hindrance() -> str:
    """Return why there is no local judge here, empty where there is one."""
    if importlib.util.find_spec(PACKAGE) is None:
        install = (
            f"`pipx inject rose-router {WANTED}`, or `{sys.executable} -m pip install {WANTED}`"
        )
        return f"The package {PACKAGE} is not installed. Install it: {install}."
    return ""


class LocalJudge:
    """A judge in this process; raises JudgeFailure where it cannot be loaded."""

    def __init__(self) -> None:
        if reason := hindrance():
            raise JudgeFailure(reason)
        version = importlib.metadata.version(PACKAGE)
        self.name = f"{NAME} ({PACKAGE} {version}, {WEIGHTS})"
        self._model: Any = None

    def score(self, mode: Mode, query: str, items: Sequence[Item]) -> Mapping[str, object]:
        if self._model is None:
            self._model = _load()
        wanted = self._vectors([query])[0]
        return {item.id: _scaled(self._likeness(mode, wanted, item), mode) for item in items}

    def _likeness(self, mode: Mode, wanted: Any, item: Item) -> float:
        """Return the likeness of a unit, or of a whole document and the unit that is likest."""
        if mode == "compress":
            return float(self._vectors([item.text])[0] @ wanted)
        parts = [unit.text for unit in units.split(item.document)]
        whole, *others = self._vectors([item.document, *parts]) @ wanted
        return (float(whole) + max(map(float, others), default=0.0)) / 2

    def _vectors(self, texts: Sequence[str]) -> Any:
        """Return a vector of length 1 for each text, of 0 for one without a known word."""
        # One at a time: a batch takes the room of its longest text for each.
        found = self._model.embed([text[:MOST_CHARS] for text in texts], batch_size=1)
        lengths = (found * found).sum(axis=1, keepdims=True) ** 0.5
        return found / (lengths + (lengths == 0))


def _load() -> Any:
    try:
        import wordllama

        # Its loader looks for the words in a folder that its wheel has not, then here; and it
        # would fetch what it does not find.
        folder = os.path.dirname(wordllama.__file__)
        return wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
    except (ImportError, OSError) as error:
        raise JudgeFailure(f"{PACKAGE} cannot be loaded: {error}. Install it anew.") from error


def _scaled(likeness: float, mode: Mode) -> float:
    """Return a likeness as a score: in the same order, and 0.5 where the default threshold cuts."""
    return likeness / (likeness + HALF[mode]) if likeness > 0 else 0.0
