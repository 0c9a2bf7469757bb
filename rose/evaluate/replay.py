"""Replays a stream: before each episode a reader chooses, afterwards it learns what was used.

Plain BM25 chooses beside it, for every comparison.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

from rose import layout, tokens
from rose.evaluate import lexical_reader, measure
from rose.reflection.kinds import Kinds
from rose.reflection.places import Places
from rose.routing.cases import Case, case_of, line_of
from rose.selection import terms as wording
from rose.selection.lexical import Bm25

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rose.evaluate.measure import Outcome
    from rose.evaluate.stream import Episode, Lesson, Stream

    Progress = Callable[[int, int], None]

BASE = "/home/user/project"
ROOTS = ("nodes",)
TENTHS = 10
LOOKS = 50
FOUND = 3
# As reflection keeps an opening prompt.
TASK_CHARS = 500
NAME_TIMES = 3
TITLE_TIMES = 2
DEPTH = 10


class Scene(NamedTuple):
    """One episode before it is known what was used: who is in the store, what search finds."""

    episode: Episode
    kinds: tuple[str, ...]
    alive: Mapping[str, Lesson]
    text: Sequence[tuple[str, float]]


class Chosen(NamedTuple):
    """What a reader ranks, best first, and what it would serve."""

    ranked: Sequence[str]
    served: Sequence[str]


class Reader(Protocol):
    """Chooses lessons for an episode, and learns from it."""

    def choose(self, scene: Scene) -> Chosen: ...

    def learn(self, scene: Scene, case: Case) -> None: ...

    def state(self) -> Mapping[str, float]:
        """Return figures of what was learned so far."""
        ...


@dataclass(slots=True)
class Run:
    """What became of a replay: outcomes and choices by episode, and a row at each tenth."""

    outcomes: list[Outcome] = field(default_factory=list)
    plain: list[Outcome] = field(default_factory=list)
    chosen: list[tuple[str, Chosen]] = field(default_factory=list)
    tenths: list[dict[str, float]] = field(default_factory=list)


class Desk(NamedTuple):
    """What all readers of a stream share: its texts, searched in memory."""

    stream: Stream
    search: Bm25


def open_desk(stream: Stream) -> Desk:
    texts = {
        one.id: wording.terms(name_of(one.path)) * NAME_TIMES
        + wording.terms(one.title) * TITLE_TIMES
        + wording.terms(one.gist)
        + wording.terms(one.body)
        for one in stream.lessons
    }
    return Desk(stream, Bm25(texts))


def name_of(path: str) -> str:
    """Return a lesson's path below its root, without the ending."""
    return path.removeprefix(f"{ROOTS[0]}/").removesuffix(".md")


def plain(scene: Scene, k: int) -> Chosen:
    """Return what BM25 alone chooses."""
    ranked = lexical_reader.rank(scene.text, {})
    return Chosen([one for one, _ in ranked], lexical_reader.served(ranked, k))


def replay(desk: Desk, reader: Reader, k: int, progress: Progress | None = None) -> Run:
    """Return how a reader did along a stream; `k` is how many lessons it may serve."""
    run = Run()
    bodies = {lesson.id: lesson.body for lesson in desk.stream.lessons}
    cost = functools.lru_cache(maxsize=None)(lambda lesson: tokens.count(bodies[lesson]))
    episodes = desk.stream.episodes
    marks = {len(episodes) * tenth // TENTHS for tenth in range(1, TENTHS + 1)}
    for number, episode in enumerate(episodes, 1):
        scene = _scene(desk, episode)
        wanted = frozenset(one for one in episode.used if one in scene.alive)
        pairs = ((run.outcomes, reader.choose(scene)), (run.plain, plain(scene, k)))
        for outcomes, (ranked, served) in pairs:
            outcomes.append(
                measure.weigh(
                    ranked, served, wanted, cost, split=episode.split, is_named=episode.is_named
                )
            )
        ranked, served = pairs[0][1]
        run.chosen.append((episode.id, Chosen(ranked[:DEPTH], served)))
        reader.learn(scene, _case(scene, number))
        if number in marks:
            run.tenths.append(_row(run, scene, reader, number))
        if progress is not None:
            progress(number, len(episodes))
    return run


def _scene(desk: Desk, episode: Episode) -> Scene:
    alive = desk.stream.alive(episode.seq)
    kinds = Kinds(Places(layout.project_store(BASE), BASE), ROOTS)
    kinds.take_prompt(episode.prompt)
    text = desk.search.hits(wording.terms(episode.prompt), LOOKS, within=alive)
    return Scene(episode, kinds.features(), alive, text)


def _case(scene: Scene, number: int) -> Case:
    """Return an episode as the ledger gives it back."""
    episode = scene.episode
    case = Case(
        session=episode.id,
        n=number,
        rows=1,
        task=episode.prompt[:TASK_CHARS],
        kinds=scene.kinds,
        used=episode.used,
        store_lessons=len(scene.alive),
    )
    return case_of(line_of(case))


def _row(run: Run, scene: Scene, reader: Reader, number: int) -> dict[str, float]:
    """Return the figures at a tenth; recall and precision are those of the tenth itself."""
    since = len(run.outcomes) - max(1, len(run.outcomes) // max(1, len(run.tenths) + 1))
    row: dict[str, float] = {"episode": number, "lessons": len(scene.alive), **reader.state()}
    for name, outcomes in (("", run.outcomes), ("bm25_", run.plain)):
        figures = measure.summary(outcomes[since:])
        row |= {name + key: round(figures.get(key, 0.0), 4) for key in ("r3", "p3")}
    return row
