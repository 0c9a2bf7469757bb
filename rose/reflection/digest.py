"""The digest: a session within a token budget, for models that cannot be put into the session.

Kept first is what a person typed, then what failed with what then worked, then which lessons were
opened, then what else fits. Each piece bears the number of its region, so that it can be quoted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rose import tokens
from rose.hosts.base import Boundary, Call, Prompt, Said, strip_own
from rose.reflection import digest_text
from rose.reflection.digest_failures import Failures, asked, by_person
from rose.reflection.digest_fit import LEVELS, Budget, Ends, Part, Piece, from_ends
from rose.reflection.library import Library
from rose.reflection.openings import Openings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rose.hosts.base import Event, Transcript
    from rose.reflection.digest_failures import Chain
    from rose.reflection.digest_fit import Fitted
    from rose.store.lessons import Holding

MAX_TOKENS = 24_000
# The share of what is left that a class may take; the last takes all of it.
_TYPED, _FIXED, _OPENED, _FAILED = 0.5, 0.6, 0.5, 0.5
_MOST_PIECES = 2_000
_SAID_CHARS = 1_200
_PATH_CHARS = 300
_LEAST_OTHER = 200
# Of the calls before one that worked, how many are likely to be what made it work.
_NEAR = 8
_LEFT_OUT = "- {} more calls and texts are left out."


@dataclass(frozen=True, slots=True)
class Digest:
    """The text of a digest, what it costs, and how many pieces had no room in it."""

    text: str
    tokens: int
    left_out: int


def digest(
    transcript: Transcript, holdings: Sequence[Holding], *, max_tokens: int = MAX_TOKENS
) -> Digest:
    """Return the digest of a session; the same bytes for the same session and lessons.

    Raises RoseError where the transcript cannot be read.
    """
    walk = _Walk(Library(holdings, transcript.head().cwd))
    for at, event in enumerate(transcript.events()):
        walk.take(at, event)
    return walk.digest(max_tokens)


class _Walk:
    """What one pass over the events collects."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.openings = Openings(library)
        self.failures = Failures()
        self.typed: Ends[Piece] = Ends(_MOST_PIECES)
        self.opened: Ends[Piece] = Ends(_MOST_PIECES)
        self.other: Ends[Piece] = Ends(_MOST_PIECES)
        self.region = 0
        self._asked: set[str] = set()

    def take(self, at: int, event: Event) -> None:
        if isinstance(event, Prompt):
            text = self._body(event.text)
            self._typed(at, f"{self._place(event, text)} typed", text)
        elif isinstance(event, Said):
            text = self._body(event.text)
            body = digest_text.head(text, _SAID_CHARS)
            if body:
                self.other.add(Piece(at, (Part(f"{self._place(event, text)} said", body=(body,)),)))
        elif isinstance(event, Call):
            self._call(at, event)
        elif isinstance(event, Boundary):
            label = f"[-] {event.kind}: here the model lost what came before"
            self.other.add(Piece(at, (Part(label),)))

    def digest(self, max_tokens: int) -> Digest:
        chains = self.failures.chains()
        fixed = [chain for chain in chains if chain.worked is not None]
        failed = [chain for chain in chains if chain.worked is None]
        budget = Budget(max_tokens)
        total = self.typed.count + self.opened.count + self.other.count
        total += len(chains) + self.failures.left_out()
        # Room for the line that says what is missing.
        budget.left -= budget.cost([_LEFT_OUT.format(total)])
        kept = budget.fit(self.typed.from_ends(), _TYPED)
        kept += budget.fit(_pieces(fixed), _FIXED)
        kept += budget.fit(self.opened.from_ends(), _OPENED)
        kept += budget.fit(_pieces(failed), _FAILED)
        kept += budget.fit(self._others(fixed), least=_LEAST_OTHER)
        return _digest(kept, total - len(kept), max_tokens)

    def _body(self, text: str) -> str:
        """Return the text of a region, and count it as rose.hosts.base.regions does."""
        body = strip_own(text)
        self.region += bool(body.strip())
        return body

    def _place(self, event: Prompt | Said | Call, text: str) -> str:
        """Return how a piece is headed: the number of its region, and whose it is."""
        notes = [str(self.region) if text.strip() else "-"]
        if event.agent is not None:
            notes.append("subagent")
        if isinstance(event, Call) and event.foreign:
            notes.append("from outside")
        return f"[{', '.join(notes)}]"

    def _typed(self, at: int, label: str, text: str, about: str = "") -> None:
        body = tuple(digest_text.lines(text, LEVELS[0]))
        if body:
            self.typed.add(Piece(at, (Part(label, about, body),)))

    def _call(self, at: int, call: Call) -> None:
        place = self._place(call, self._body(call.result))
        opened = self.openings.take(at, call, self.library.named_by(call))
        for opening in opened:
            lesson = self.library.lessons[opening.number]
            path = digest_text.line(lesson.path, _PATH_CHARS)
            self.opened.add(Piece(at, (Part(f"{place} opened ({opening.how}): ", path),)))
        said = by_person(call)
        if said:
            self._typed(at, f"{place} refused by the person: ", said, asked(call))
        elif not self.failures.take(at, place, call) and not opened:
            self._other_call(at, place, call)

    def _other_call(self, at: int, place: str, call: Call) -> None:
        """Keep what a call asked for, once for equal calls."""
        said = asked(call)
        if said and said not in self._asked:
            if len(self._asked) < _MOST_PIECES:
                self._asked.add(said)
            verb = "called" if call.command is None else "ran"
            self.other.add(Piece(at, (Part(f"{place} {verb}: ", said),)))

    def _others(self, fixed: Sequence[Chain]) -> list[Piece]:
        """Return the other pieces: first those that came right before something worked."""
        pieces = self.other.items()
        ends = [chain.worked.at for chain in fixed if chain.worked is not None]
        near = {at for end in ends for at in range(end - _NEAR, end)}
        rest = [piece for piece in pieces if piece.at not in near]
        return [
            *(piece for piece in pieces if piece.at in near),
            *(rest[at] for at in from_ends(len(rest))),
        ]


def _pieces(chains: Sequence[Chain]) -> list[Piece]:
    return [_piece(chains[at]) for at in from_ends(len(chains))]


def _piece(chain: Chain) -> Piece:
    """Return a chain as one piece: the tries, and what then worked."""
    tries = chain.tries.items()
    parts = [Part(f"{one.place} failed: ", one.asked, one.lines) for one in tries]
    missing = chain.count - len(tries)
    if missing:
        parts.append(Part(f"[-] tries that failed besides: {missing}"))
    if chain.worked is not None:
        parts.append(Part(f"{chain.worked.place} then worked: ", chain.worked.asked))
    return Piece(tries[0].at, tuple(parts))


def _digest(kept: list[Fitted], left_out: int, max_tokens: int) -> Digest:
    """Return the pieces in the order of the session."""
    kept.sort(key=lambda piece: piece.at)
    lines = [line for piece in kept for line in piece.lines]
    if left_out:
        lines.append(_LEFT_OUT.format(left_out))
    text = "".join(line + "\n" for line in lines)
    count = tokens.count(text)
    return Digest(text, count, left_out) if count <= max_tokens else Digest("", 0, left_out)
