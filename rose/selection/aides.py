"""Whom a prompt's recall asks besides the record: nobody, unless a person's settings name them.

A fork and a judge of a backend wait for a model, so each begins only where its time suffices, and
all of them together end before the hook's (docs/decisions/028).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from rose.backends import registry, spend
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
    from rose.layout import Store
    from rose.selection.chosen import Chooser, Named
    from rose.selection.judge import Judge, Mode
    from rose.store.lessons import Holding

# What admission, the vocabulary and a slow end of a program need after an answer.
RESERVE_S = 1.2
# With less left a program is hardly up before its time is.
LEAST_S = 1.5
# Nothing that goes into the record is worth the layer.
LOCK_WAIT_S = 0.1
# As long as a model needs with all that comes before and after it, in whole seconds.
LEAST_TIMEOUT_S = 4
BLIND = "`reflection.backend` {name} looks into no lesson."
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

    def wait(self) -> spend.Wait:
        """Return how long a model may take: what is left of the prompt's time, less a reserve."""
        return spend.Wait(lambda: self.left() - RESERVE_S, "recall.timeout_s", LEAST_S)


def named(options: Options, environ: Mapping[str, str], scene: Scene, store: Store) -> Aides:
    """Return whom the settings name; what they cost counts against the store's limits."""
    settings = options.settings
    purse = spend.Purse(store, settings, scene.wait(), lock_s=LOCK_WAIT_S)
    chooser = judging = None
    if settings.recall_selector == fork.NAME:
        chooser = _fork(options, environ, scene, purse)
    if settings.recall_judge != "off":
        judging = Judging(MODES, None, is_optional=True)
        try:
            judging = replace(judging, judge=_judge(options, environ, scene, purse))
        except (JudgeFailure, UsageError) as failure:
            judging = replace(judging, lack=str(failure))
    return Aides(chooser, judging)


def lacks(options: Options, environ: Mapping[str, str]) -> list[str]:
    """Return what keeps the settings of recall from having an effect at a prompt, in sentences."""
    settings = options.settings
    if settings.recall_selector == "agent":
        return [*filter(None, [options.why_withheld("recall.selector")])]
    model = settings.recall_judge not in ("off", judge_local.NAME)
    asks = model or settings.recall_selector == fork.NAME
    found = [options.why_withheld("recall.")]
    if (asks or settings.recall_judge != "off") and settings.recall_serve == "off":
        found.append(
            "`recall.serve` is off, so no prompt is served: `rose config recall.serve bodies`."
        )
    if settings.recall_selector == fork.NAME:
        found.append(_lacks_fork(options, environ))
    if settings.recall_judge == judge_local.NAME:
        found.append(judge_local.hindrance())
    elif model:
        judge = registry.choose(settings.recall_judge, "", options, environ)
        found.append("" if judge is None else judge.hindrance())
    if asks and settings.recall_timeout_s < LEAST_TIMEOUT_S:
        found.append(
            f"`recall.timeout_s` is {settings.recall_timeout_s}, and no model is asked with less "
            f"than {LEAST_TIMEOUT_S}: `rose config recall.timeout_s 8`."
        )
    return [*dict.fromkeys(filter(None, found))]


def _lacks_fork(options: Options, environ: Mapping[str, str]) -> str:
    """Return why no host's session can be forked here."""
    name = options.settings.reflection_backend
    made = [
        registry.choose(one, "", options, environ)
        for one in (registry.OF_HOST.values() if name == "auto" else [name])
    ]
    found = [one.hindrance() for one in made if one is not None and _can_look(one)]
    if not found:
        return BLIND.format(name=name)
    return "" if "" in found else found[0]


class _Nobody:
    """Stands for a fork that nobody can make, and says so where one is asked for."""

    name = fork.NAME

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def choose(self, _query: str, _holdings: Sequence[Holding], _k: int) -> Named:
        raise SelectionFailure(f"no fork was begun: {self._reason}")


def _fork(
    options: Options, environ: Mapping[str, str], scene: Scene, purse: spend.Purse
) -> Chooser:
    name = options.settings.reflection_backend
    if name == "auto":
        name = registry.OF_HOST.get(scene.host, "offline")
    backend = registry.choose(name, scene.host, options, environ)
    if backend is None or not _can_look(backend):
        return _Nobody(BLIND.format(name=name))
    subject = Subject(scene.host, scene.session, scene.transcript, scene.cwd)
    return fork.Fork(backend, subject, layer=scene.layer, purse=purse)


def _can_look(backend: Backend) -> bool:
    """Tell whether a backend sees the files itself; a program of one's own may."""
    return backend.forks or backend.name == "command"


def _judge(options: Options, environ: Mapping[str, str], scene: Scene, purse: spend.Purse) -> Judge:
    name = options.settings.recall_judge
    if name == judge_local.NAME:
        return judge_local.LocalJudge()
    return judge_choice.model(name, options, environ, cwd=scene.cwd, purse=purse)
