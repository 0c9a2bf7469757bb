"""Work beside a prompt, in a process of its own: whatever it is busy with, the hook stays on time.

A deadline interrupts Python between two steps and not what runs in C, such as the loading of a
library or of a model; and a process that hangs can be left behind. Each end tells the other lines
of JSON. On the prompt hook's path where recall is on.
"""

from __future__ import annotations

import os
import time

from rose import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

TAKEN = b"1"
PART_BYTES = 1 << 16
# Longer than any host waits for a prompt's hook.
MOST_S = 15.0
# No time at all would take an alarm back.
SOON_S = 0.001


class Line:
    """The worker's end."""

    def __init__(self, up: int, down: int) -> None:
        self._up = up
        self._down = down

    def wait_until(self, end: float) -> None:
        """Put the deadline off to a time of the monotonic clock."""
        self._tell({"until": end})

    def answer(self, answer: Mapping[str, object]) -> bool:
        """Give the answer and wait; tell whether it was printed."""
        self._tell({"answer": answer})
        return os.read(self._down, 1) == TAKEN

    def complain(self, problem: str) -> None:
        """Tell what failed, before or after the answer."""
        self._tell({"problem": problem})

    def _tell(self, message: Mapping[str, object]) -> None:
        view = memoryview(files.dump_json(message).encode() + b"\n")
        while view:
            view = view[os.write(self._up, view) :]


class Aside:
    """The hook's end. `problem` is what failed."""

    def __init__(self, work: Callable[[Line], None], out: int) -> None:
        self.problem = ""
        self._is_heard = False
        self._work = work
        self._out = out
        self._left = b""
        self._child = self._up = self._down = 0

    def answer(self, set_alarm: Callable[[float], None]) -> Mapping[str, object]:
        """Start the work and return its answer, empty where there is none."""
        self._start()
        for message in iter(self._hear, None):
            until, answer = message.get("until"), message.get("answer")
            if isinstance(answer, dict):
                self._is_heard = True
                return answer
            if isinstance(until, float):
                # A host that breaks the prompt off ends us; what the worker began ends with us.
                _on_end(self._leave)
                set_alarm(max(until - time.monotonic(), SOON_S))
        self.problem = self.problem or "it ended without an answer"
        return {}

    def take(self) -> None:
        """Tell the worker that its answer was printed, which it then records by itself."""
        if self._is_heard:
            try:
                os.write(self._down, TAKEN)
            except BrokenPipeError:
                self.problem = self.problem or "it ended before its record"

    def wait(self) -> None:
        """Wait until the worker has recorded what was printed."""
        if self._is_heard:
            while self._hear() is not None:
                pass
            # From here on its number may be another's.
            child, self._child = self._child, 0
            os.waitpid(child, 0)

    def stop(self) -> None:
        """End the work, without waiting for the end."""
        if self._child:
            # Not the end that cannot be caught: a model must not go on unheard.
            from _signal import SIGTERM  # type: ignore[import-not-found]

            os.kill(self._child, SIGTERM)

    def _leave(self, *_: object) -> None:
        self.stop()
        os._exit(0)

    def _start(self) -> None:
        self._up, told = os.pipe()
        heard, self._down = os.pipe()
        child = os.fork()
        if child:
            self._child = child
            os.close(told)
            os.close(heard)
            return
        line = Line(told, heard)
        try:
            # The host waits for whoever holds its streams, and the worker for us as long as it
            # holds our ends.
            _let_go(self._out, self._up, self._down)
            _on_end(_end)
            _end_at_last()
            self._work(line)
        except Exception as error:  # noqa: BLE001 - the hook says so and prints what it has
            line.complain(f"{type(error).__name__}: {error}")
        finally:
            os._exit(0)

    def _hear(self) -> dict[str, object] | None:
        """Return the next message, None at the end."""
        while b"\n" not in self._left:
            part = os.read(self._up, PART_BYTES)
            if not part:
                return None
            self._left += part
        told, _, self._left = self._left.partition(b"\n")
        message = files.parse_json(told.decode())
        if isinstance(message, dict) and message.get("problem"):
            self.problem = str(message["problem"])
        return message if isinstance(message, dict) else {}


def _let_go(*ours: int) -> None:
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    for descriptor in ours:
        if descriptor > 2:  # noqa: PLR2004 - beyond the three streams
            os.close(descriptor)


def _on_end(do: Callable[..., None]) -> None:
    from _signal import SIGINT, SIGTERM, signal

    signal(SIGTERM, do)
    signal(SIGINT, do)


def _end_at_last() -> None:
    """Have the system end us in the end: no step of Python may ever come in which we could."""
    from _signal import ITIMER_REAL, SIG_DFL, SIGALRM, setitimer, signal

    signal(SIGALRM, SIG_DFL)
    setitimer(ITIMER_REAL, MOST_S)


def _end(*_: object) -> None:
    raise SystemExit
