"""The plain selector: BM25 in the order of `rose search`, which the learned one starts from."""

from __future__ import annotations

import contextlib

from rose import text as texts
from rose.selection import index
from rose.selection import scope as scoping
from rose.selection.picks import Pick


class ByWords:
    """Picks by BM25 alone, in the order of `rose search`."""

    def pick(self, prompt, holdings, scope, k):
        known = scoping.active(holdings)
        words = list(dict.fromkeys(texts.words(prompt)))
        if not words or not known:
            return []
        with contextlib.closing(index.open_index(holdings)) as opened:
            hits = opened.hits(words, k, within=scoping.within(known, scope))
        # Another process may have indexed a lesson that was not there when this one looked.
        found = [(known[name][1], score) for name, score in hits if name in known]
        return [Pick(lesson, score, {"text": score}) for lesson, score in found]
