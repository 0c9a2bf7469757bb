"""Reads the facts of a session out of its transcript: observation, never judgement.

Two passes over the events: the first finds what was opened, listed and delivered, the second
looks behind the openings for the few spans that may prove use. Only counts are kept of the rest.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rose import redact
from rose.hosts.base import Boundary, Call, Injection, Prompt, Said, strip_block
from rose.reflection import answers, delivery, kinds, openings, recalls, usage, verdicts
from rose.reflection.library import Library
from rose.reflection.places import Places
from rose.routing import rules as ruling

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rose.hosts.base import Head, Transcript
    from rose.layout import Store
    from rose.reflection.delivery import Arrival, Sent
    from rose.routing.rules import Rule
    from rose.selection.trace import Row
    from rose.store.lessons import Holding, Lesson

TASK_CHARS = 500


@dataclass(frozen=True, slots=True)
class Opened:
    """A lesson that was opened; `version` is None where what was shown is not its present text."""

    lesson: Lesson
    version: str | None
    how: str
    turn: int


@dataclass(frozen=True, slots=True)
class Used:
    """A lesson that was used, and the span that shows it."""

    lesson: Lesson
    span: str


@dataclass(frozen=True, slots=True)
class Facts:
    """What code can say of a session. `delivered` is None where nobody can know.

    `prompts` counts what a person typed; a session without any was not a person's. `unresolved`
    are ids that were cited and that no lesson has, `looked` what a fork looked at that selected
    for the session, which saw nothing of it by that.
    """

    session: str
    host: str
    cwd: str = ""
    rows: int = 0
    prompts: int = 0
    task: str = ""
    kinds: tuple[str, ...] = ()
    opened: tuple[Opened, ...] = ()
    listed: tuple[Lesson, ...] = ()
    used: tuple[Used, ...] = ()
    sent: tuple[str, ...] = ()
    delivered: tuple[str, ...] | None = ()
    verdicts: Mapping[str, str] = field(default_factory=dict)
    arrivals: tuple[Arrival, ...] = ()
    cited: tuple[Lesson, ...] = ()
    unresolved: tuple[str, ...] = ()
    looked: tuple[Lesson, ...] = ()


def observe(
    transcript: Transcript,
    holdings: Sequence[Holding],
    rules: Sequence[tuple[Store, Rule]],
    sent: Sent,
    seen: frozenset[str] = frozenset(),
    *,
    recalled: Sequence[Row] = (),
) -> Facts:
    """Return the facts of a session.

    `rules` are those of the present stores, `seen` the ids of rows that other sessions have been
    credited with, `recalled` what recall left in the session. Raises RoseError where the
    transcript cannot be read.
    """
    walk = _Walk(transcript.head(), holdings, sent, recalled)
    for at, event in enumerate(answers.plain(transcript.events(seen))):
        if not isinstance(event, Boundary):
            walk.arrivals.meet(event.agent)
        if isinstance(event, Call):
            walk.call(at, event)
        elif isinstance(event, Injection):
            walk.arrivals.take(at, event)
            walk.served(at, event.turn, event.text)
        elif isinstance(event, Prompt):
            walk.prompt(event)
        elif isinstance(event, Said):
            walk.recalls.hear(event.text)
    rows = transcript.tally.rows
    proofs = usage.best_spans(walk.usage.unseen_before(answers.plain(transcript.events(seen))))
    return walk.facts(rows, proofs, rules)


class _Walk:
    """What the first pass collects."""

    def __init__(
        self, head: Head, holdings: Sequence[Holding], sent: Sent, recalled: Sequence[Row]
    ) -> None:
        self.head = head
        self.library = Library(holdings, head.cwd)
        self.recalls = recalls.Recalls(recalled, self.library)
        self.openings = openings.Openings(self.library)
        self.usage = usage.Usage(self.library)
        self.arrivals = delivery.Arrivals(sent, head.host)
        first = holdings[0]
        roots = first.settings.lessons_paths
        self.kinds = kinds.Kinds(Places(first.store, head.cwd), roots)
        self.prompts = 0
        self.task = ""

    def prompt(self, prompt: Prompt) -> None:
        text = strip_block(prompt.text).strip()
        if prompt.agent is not None or not text:
            return
        self.prompts += 1
        if self.prompts == 1:
            self.task = redact.beginning(text, TASK_CHARS)
            self.kinds.take_prompt(self.task)

    def call(self, at: int, call: Call) -> None:
        self.kinds.take_call(call)
        named = self.library.named_by(call)
        self.usage.take(call, named)
        self.recalls.hear(usage.input_text(call))
        self.served(at, call.turn, call.result)
        for opening in self.openings.take(at, call, named):
            self.usage.open(opening)

    def served(self, at: int, turn: int, text: str) -> None:
        for one in self.recalls.arrive(text):
            is_current = one.version == self.library.lessons[one.number].version
            if not one.is_body:
                self.openings.name(one.number)
                continue
            opening = self.openings.serve(at, turn, one.number, is_current=is_current)
            if opening is not None:
                self.usage.open(opening)

    def facts(
        self, rows: int, proofs: Mapping[int, str], rules: Sequence[tuple[Store, Rule]]
    ) -> Facts:
        lessons = self.library.lessons
        in_order = sorted(self.openings.opened.values(), key=lambda opening: opening.at)
        features = self.kinds.features()
        return Facts(
            session=self.head.session,
            host=self.head.host,
            cwd=self.head.cwd,
            rows=rows,
            prompts=self.prompts,
            task=self.task,
            kinds=features,
            opened=tuple(
                Opened(
                    lessons[found.number],
                    lessons[found.number].version if found.is_current else None,
                    found.how,
                    found.turn,
                )
                for found in in_order
            ),
            listed=tuple(lessons[number] for number in self.openings.listed()),
            used=tuple(
                Used(lessons[found.number], proofs[found.number])
                for found in in_order
                if found.number in proofs
            ),
            sent=self.arrivals.sent.rules,
            delivered=self.arrivals.delivered(),
            verdicts=self._verdicts(features, proofs, rules),
            arrivals=self.arrivals.by_event(),
            cited=tuple(lessons[number] for number in self.recalls.cited()),
            unresolved=tuple(self.recalls.unresolved()),
            looked=tuple(
                lessons[number]
                for number in self.recalls.looked()
                if number not in self.openings.opened
            ),
        )

    def _verdicts(
        self,
        features: Sequence[str],
        proofs: Mapping[int, str],
        rules: Sequence[tuple[Store, Rule]],
    ) -> dict[str, str]:
        """Return the verdict on each delivered rule that still says what it said then."""
        found = {}
        for store, rule in rules:
            at = self.arrivals.first_at.get(rule.id)
            if at is None or ruling.line(rule, store.prefix) != self.arrivals.line[rule.id]:
                continue
            after = [
                opening.number
                for opening in self.openings.opened.values()
                # What rose served nobody chose to open: it speaks for a rule where it was used.
                if opening.last_at >= at and (opening.how != "served" or opening.number in proofs)
            ]
            found[rule.id] = verdicts.verdict(
                rule, features, self._paths(store, after), self._paths(store, list(proofs))
            )
        return found

    def _paths(self, store: Store, numbers: Sequence[int]) -> list[str]:
        lessons = self.library.lessons
        return [lessons[n].path for n in numbers if lessons[n].store == store.kind]
