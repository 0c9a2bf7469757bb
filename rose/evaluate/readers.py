"""The readers that a stream is replayed with: the fixed one over a layer, and the selector."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rose.evaluate import lexical_reader
from rose.evaluate.desk import Desk
from rose.evaluate.replay import DEPTH, FOUND, Chosen, name_of
from rose.selection import features, select
from rose.selection import terms as wording
from rose.store.lessons import Lesson as Stored

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rose.evaluate.replay import Scene
    from rose.evaluate.stream import Lesson, Stream
    from rose.routing.cases import Case
    from rose.routing.rules import Rule
    from rose.selection.lexical import Bm25


class LayerReader:
    """Reads by the layer that the offline reflector's rules make up, under a cap."""

    def __init__(self, stream: Stream, cap: int, k: int) -> None:
        self.desk = Desk({one.id: _stored(one) for one in stream.lessons}, cap)
        self.most_tokens = 0
        self._k = k
        self._first: Sequence[str] = ()
        self._members = lexical_reader.members_of({one.id: one.path for one in stream.lessons})

    def choose(self, scene: Scene) -> Chosen:
        chosen = self.by(scene, [self.desk.rules[one] for one in self.desk.layer])
        self._first = chosen.ranked[:FOUND]
        return chosen

    def by(self, scene: Scene, rules: Sequence[Rule]) -> Chosen:
        """Return what is chosen with some rules as the layer."""
        lifted = lexical_reader.lifts(rules, scene.kinds, self.desk.standing, self._members)
        there = {lesson: worth for lesson, worth in lifted.items() if lesson in scene.alive}
        ranked = lexical_reader.rank(scene.text, there)
        return Chosen([one for one, _ in ranked], lexical_reader.served(ranked, self._k))

    def learn(self, scene: Scene, case: Case) -> None:
        sent = self.desk.layer
        found = frozenset(self._first)
        paths = sorted({lesson.path for lesson in scene.alive.values()})
        self.desk.take(replace(case, sent=sent, delivered=sent), found, paths)
        self.most_tokens = max(self.most_tokens, self.desk.layer_tokens)

    def state(self) -> Mapping[str, float]:
        return {
            "rules": len(self.desk.active()),
            "layer": len(self.desk.layer),
            "tokens": self.desk.layer_tokens,
        }


def _stored(one: Lesson) -> Stored:
    return Stored(
        one.id, one.path, one.title, one.gist, (), "active", "", "", (), "", "", "project", "nodes"
    )


class ShuffledReader(LayerReader):
    """A control: from the first test episode on the layer stands still, its targets passed round.

    Every condition is then wrong, so it must choose worse than plain BM25.
    """

    def __init__(self, stream: Stream, cap: int, k: int) -> None:
        super().__init__(stream, cap, k)
        self._frozen: list[Rule] | None = None

    def choose(self, scene: Scene) -> Chosen:
        if self._frozen is None and scene.episode.split == "test":
            self._frozen = passed_round([self.desk.rules[one] for one in self.desk.layer])
        return super().choose(scene) if self._frozen is None else self.by(scene, self._frozen)

    def learn(self, scene: Scene, case: Case) -> None:
        if self._frozen is None:
            super().learn(scene, case)


class PoisonedReader(LayerReader):
    """A control: at the first test episode the layer's targets are passed round, and it learns on.

    It must come back to where it would have been.
    """

    def __init__(self, stream: Stream, cap: int, k: int) -> None:
        super().__init__(stream, cap, k)
        self._is_poisoned = False

    def choose(self, scene: Scene) -> Chosen:
        if not self._is_poisoned and scene.episode.split == "test":
            self._is_poisoned = True
            for rule in passed_round([self.desk.rules[one] for one in self.desk.layer]):
                self.desk.poison(rule)
        return super().choose(scene)


def passed_round(rules: Sequence[Rule]) -> list[Rule]:
    """Return some rules, each with the targets of the next one."""
    after = [*rules[1:], *rules[:1]]
    return [
        replace(rule, then=other.then, targets=other.targets)
        for rule, other in zip(rules, after, strict=True)
    ]


class RecallReader:
    """Reads by the embedded selector, which learns from the record alone."""

    def __init__(self, search: Bm25, k: int) -> None:
        self.memory = select.Memory()
        self._search = search
        self._k = k

    def choose(self, scene: Scene) -> Chosen:
        choices = self.memory.select(scene.episode.prompt, self._ground(scene), DEPTH)
        served = self.memory.served(choices)[: self._k]
        return Chosen([one.lesson for one in choices], [one.lesson for one in served])

    def learn(self, scene: Scene, case: Case) -> None:
        self.memory.add(case, self._ground(scene))

    def state(self) -> Mapping[str, float]:
        return {}

    def _ground(self, scene: Scene) -> features.Ground:
        names = {lesson.id: name_of(lesson.path) for lesson in scene.alive.values()}
        return features.Ground(_Within(self._search, names), names)


class _Within:
    """Search over the lessons that are in the store."""

    def __init__(self, search: Bm25, names: Mapping[str, str]) -> None:
        self._search = search
        self._names = names

    def hits(self, terms: Sequence[str], k: int) -> Sequence[tuple[str, float]]:
        stems = [wording.stem(term) for term in terms]
        return self._search.hits(stems, k, within=self._names)


CONTROLS: Mapping[str, Callable[[Stream, int, int], LayerReader]] = {
    "shuffled": ShuffledReader,
    "poisoned": PoisonedReader,
    "no_cap": lambda stream, _, k: LayerReader(stream, 0, k),
}
