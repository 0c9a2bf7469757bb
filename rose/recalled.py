"""What recall gives a prompt beside the layer, worked out in a process of its own (`aside`).

A failure costs the layer nothing: the log has each, and the person is told of its kind once a
session. On the prompt hook's path where recall is on.
"""

from __future__ import annotations

import time

from rose import aside, files, session
from rose.errors import Deadline
from rose.hosts import wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

MOST_S = 8


class Recalled:
    """What goes out with the layer: the whole text as JSON, empty for the layer alone.

    `said` is what the person is told, `problem` what failed, `is_late` that it was given up.
    """

    def __init__(
        self,
        turn: wire.Turn,
        layer: Mapping[str, object],
        notes: Sequence[Mapping[str, object]],
        *,
        is_due: bool,
        is_kept: bool,
    ) -> None:
        def work(line: aside.Line) -> None:
            from rose import hook

            hook.recall(turn, layer, notes, line, is_due=is_due, is_kept=is_kept)

        self.encoded = self.said = self.problem = ""
        self.is_late = False
        self._turn = turn
        self._told = [line["said"] for line in notes if "said" in line]
        self._kind = ""
        self._aside = aside.Aside(work, turn.out)

    def hear(self, set_alarm: Callable[[float], None]) -> None:
        """Wait for the answer, until the alarm rings."""
        try:
            answer = self._aside.answer(set_alarm)
        except Deadline:
            self._give_up()
        except Exception as error:  # noqa: BLE001 - the layer does not depend on it
            self._fail("failed", f"{type(error).__name__}: {error}")
        else:
            self.encoded, self.said = (str(answer.get(name, "")) for name in ("encoded", "said"))
            self.problem = str(answer.get("problem", ""))
            if self._aside.problem:
                self._fail("failed", self._aside.problem)

    def _give_up(self) -> None:
        self._aside.stop()
        self.is_late = True
        waited_s = time.monotonic() - self._turn.began
        more = ""
        if self._turn.host in wire.READABLE and waited_s < MOST_S - 1:
            more = f"; `rose config recall.timeout_s {MOST_S}` lets it take longer"
        self._fail("late", f"it was not done after {waited_s:.1f} s{more}")

    def _fail(self, kind: str, problem: str) -> None:
        """Have the layer go alone, and say why where that was not said yet."""
        self.problem, self.encoded = f"{problem}; the layer went alone", ""
        self._kind = "" if kind in self._told else kind
        self.said = f"rose: degraded, recall gave nothing: {problem}" if self._kind else ""
        if self.said and not self.is_late:
            self.said = for_person(self.said)

    def take(self) -> None:
        """Have what was printed recorded, directly after it was."""
        self._aside.take()

    def end(self, note: str | None) -> None:
        """Note what the person was told, and wait for the record."""
        if self._kind and note is not None:
            now, agent = session.now(), self._turn.agent()
            row = {"v": session.VERSION, "at": now, "agent": agent, "said": self._kind}
            files.append_line(note, files.dump_json(row))
        try:
            self._aside.wait()
        except Deadline:
            # It records what was printed without us.
            return
        self.problem = self.problem or self._aside.problem


def for_person(words: str) -> str:
    """Return words that may quote an error as one line without secrets; never raises."""
    try:
        from rose import redact
        from rose import text as texts

        return redact.beginning(texts.clean_line(words), wire.MOST_SAID_CHARS)
    except Exception:  # noqa: BLE001 - the layer does not depend on it
        return "rose: degraded"
