"""Messages that a person typed while the model was at work.

Claude Code notes each in its queue. It then reaches the model as a row of the user, as an
attachment, or (older versions) with no row but the note that it was taken out of the queue.
"""

from __future__ import annotations

from collections import deque

from rose.hosts import typed

_MOST_QUEUED = 256
_MOST_GIVEN = 32


class Queue:
    """What waits in the host's queue, so that each message counts once however it arrives."""

    def __init__(self) -> None:
        """Start with an empty queue."""
        self._texts: deque[str] = deque(maxlen=_MOST_QUEUED)
        self._given: deque[str] = deque(maxlen=_MOST_GIVEN)
        self._settled = 0

    def operate(self, operation: str, text: str) -> str:
        """Take one operation of the host's; return the prompt that it gave the model, if any."""
        if operation == "enqueue" and text.strip():
            self._texts.append(text.strip())
        elif operation == "dequeue" and self._texts:
            # The row of the user follows; it counts, this note does not.
            self._texts.popleft()
        elif operation == "popAll":
            self._texts.clear()
        elif operation == "remove":
            return self._removed(text.strip())
        return ""

    def arrived(self, text: str, *, by_attachment: bool = False) -> bool:
        """Return whether a message that a row now shows is new, and take it out of the queue."""
        text = text.strip()
        if text in self._given:
            self._given.remove(text)
            return False
        if text in self._texts:
            self._texts.remove(text)
            # The host notes the removal after the attachment.
            self._settled += by_attachment
        return True

    def settle(self) -> None:
        """Forget what was given: the model has answered, so the same words are a new message."""
        self._given.clear()
        self._settled = 0

    def _removed(self, text: str) -> str:
        if self._settled:
            self._settled -= 1
            return ""
        # The note seldom names the message. What people typed is taken before notices are.
        people = [waiting for waiting in self._texts if typed.claude(waiting)]
        found = next((w for w in (text, *people, *self._texts) if w in self._texts), "")
        if found:
            self._texts.remove(found)
            if typed.claude(found):
                self._given.append(found)
        return typed.claude(found)
