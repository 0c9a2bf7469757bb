"""What the tests of learned selection are made of: lessons in memory and cases about them."""

from __future__ import annotations

from rose.routing.cases import Case
from rose.selection.features import Ground
from rose.selection.lexical import Bm25
from rose.selection.terms import terms

TEXTS = {
    "testing/db": "start postgres before the suite",
    "testing/slow": "mark slow tests in the suite",
    "docs/links": "check anchors with the crawler",
    "deploy/rollback": "restore the previous image",
}


class Stems:
    """BM25 over some texts, asked in words as they stand."""

    def __init__(self, texts) -> None:
        self.search = Bm25({name: terms(text) for name, text in texts.items()})

    def hits(self, words, k):
        return self.search.hits([one for word in words for one in terms(word)], k)


def a_ground(texts=None, rules=None) -> Ground:
    """Return what can be chosen from: by default four lessons, named by their ids."""
    known = TEXTS if texts is None else texts
    return Ground(Stems(known), {name: name for name in known}, rules or {})


def a_case(n, task, *used: str, **fields) -> Case:
    return Case(f"s{n}", n, task=task, used=used, **fields)


def some_cases(count=12):
    """Return cases whose words only the record ties to a lesson."""
    said = {"deploy/rollback": "production outage", "docs/links": "handbook broken"}
    names = [*said]
    return [
        a_case(n, f"{said[names[n % 2]]} number {n}", names[n % 2]) for n in range(1, count + 1)
    ]
