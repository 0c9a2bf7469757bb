"""Whom a prompt's recall asks besides the record: nobody, unless a person's settings name them.

A fork and a judge of a backend wait for a model, so each begins only where its time suffices, and
all of them together end before the hook's (docs/decisions/028).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from rose.backends import registry
from rose.backends.base import Subject
from rose.errors import UsageError
from rose.selection import fork, judge_choice, judge_local
from rose.selection.chosen import SelectionFailure
from rose.selection.judge import JudgeFailure
from rose.selection.judged import Judging

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rose.backends.base import Backend
    from rose.backends.options import Options
    from rose.selection.chosen import Chooser, Named
    from rose.selection.judge import Item, Judge, Mode
    from rose.selection.metered import Meter
    from rose.store.lessons import Holding

# What admission, the vocabulary and a slow end of a program need after an answer.
RESERVE_S = 1.2
# Order and membership. Extent cuts one in ten of the parts that were needed (docs/measurements.md).
MODES: frozenset[Mode] = frozenset(("rerank", "filter"))


class Aides(NamedTuple):
    """Who selects in the place of the selector, and what is judged of the selection."""

    chooser: Chooser | None = None
    judging: Judging | None = None


@dataclass(frozen=True, slots=True)
class Scene:
    """The prompt's session, the layer that holds for it, and how long it may still wait."""

    host: str
    session: str
    transcript: str
    cwd: str
    layer: str
    left: Callable[[], float]

    def spare(self) -> float:
        """Return the seconds that a model may take from now on."""
        return self.left() - RESERVE_S


def named(
    options: Options, environ: Mapping[str, str], scene: Scene, meter: Callable[[str], Meter]
) -> Aides:
    """Return whom the settings name. `meter` gives the one for a backend's name."""
    settings = options.settings
    chooser = judging = None
    if settings.recall_selector == fork.NAME:
        chooser = _fork(options, environ, scene, meter)
    if settings.recall_judge != "off":
        judging = _judging(settings.recall_judge, options, environ, scene, meter)
    return Aides(chooser, judging)


class _Nobody:
    """Stands for a fork that nobody can make, and says so where one is asked for."""

    name = fork.NAME

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def choose(self, _query: str, _holdings: Sequence[Holding], _k: int) -> Named:
        raise SelectionFailure(f"no fork was begun: {self._reason}")


def _fork(
    options: Options, environ: Mapping[str, str], scene: Scene, meter: Callable[[str], Meter]
) -> Chooser:
    name = options.settings.reflection_backend
    if name == "auto":
        name = registry.OF_HOST.get(scene.host, "offline")
    backend = registry.choose(name, scene.host, options, environ)
    if backend is None or not _can_look(backend):
        return _Nobody(f"`reflection.backend` {name} looks into no lesson for {scene.host}.")
    subject = Subject(scene.host, scene.session, scene.transcript, scene.cwd)
    return fork.Fork(
        backend, subject, layer=scene.layer, meter=meter(backend.name), left=scene.spare
    )


def _can_look(backend: Backend) -> bool:
    """Tell whether a backend sees the files itself; a program of one's own may."""
    return backend.forks or backend.name == "command"


def _judging(
    name: str,
    options: Options,
    environ: Mapping[str, str],
    scene: Scene,
    meter: Callable[[str], Meter],
) -> Judging:
    try:
        who: Judge = (
            judge_local.LocalJudge()
            if name == judge_local.NAME
            else _InTime(name, options, environ, scene, meter(name))
        )
    except (JudgeFailure, UsageError) as failure:
        return Judging(MODES, None, lack=str(failure), is_optional=True)
    return Judging(MODES, who, is_optional=True)


class _InTime:
    """A model as a judge, each of whose questions may take what is left of the prompt's time."""

    def __init__(
        self,
        name: str,
        options: Options,
        environ: Mapping[str, str],
        scene: Scene,
        meter: Meter,
    ) -> None:
        self.name = name
        self._options = options
        self._environ = environ
        self._scene = scene
        self._meter = meter

    def score(self, mode: Mode, query: str, items: Sequence[Item]) -> Mapping[str, object]:
        left_s = self._scene.spare()
        if left_s < fork.LEAST_S:
            raise JudgeFailure(
                f"the judge was not asked: {max(left_s, 0):.1f} s are left, it needs "
                f"{fork.LEAST_S}. `rose config recall.timeout_s N` gives it more."
            )
        judge = judge_choice.model(
            self.name,
            self._options,
            self._environ,
            cwd=self._scene.cwd,
            meter=self._meter,
            timeout_s=left_s,
        )
        return judge.score(mode, query, items)
