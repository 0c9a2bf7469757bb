"""Answers a hook event: the fresh prompt itself, every other event through `hook`.

Never raises, always exits 0, prints one JSON document or nothing, returns within its deadline.
Stores ids, never the prompt, unless a person switched recall on, whose record needs it.
"""

from __future__ import annotations

import os
import time

from rose import files, layout, session
from rose.errors import Deadline
from rose.hosts import wire
from rose.routing import compiled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rose.recalled import Recalled

# The host waits: payload, work and fall-back share two seconds less the interpreter's own start.
STDIN_S = 0.8
ALL_S = 1.5
LAST_S = 0.25
PART_BYTES = 1 << 16
MAX_PARTS = 1 << 12
DEFAULT_HOST = "claude-code"
# In every hook that its person did not put into this very project.
IF_TRUSTED = "--if-trusted"

# The one call of this process, for the last moment.
_running: list[wire.Turn] = []


def main(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    """Answer one event; always 0."""
    if environ.get("ROSE_CHILD") or environ.get("ROSE_OFF", "0") not in ("", "0"):
        return 0
    turn = wire.Turn(*_words(arguments), environ)
    turn.needs_trust = IF_TRUSTED in arguments
    turn.out = _take_stdout()
    _running[:] = [turn]
    try:
        try:
            _run(turn)
        except Deadline:
            # Caught out here, since it may ring while an exception is being handled in there.
            _fall_back(turn, "the deadline came first; the last compiled layer holds", late=True)
    except KeyboardInterrupt:
        # The host broke it off and reads no further.
        pass
    _set_alarm(0)
    return 0


def _run(turn: wire.Turn) -> None:
    start = turn.began
    try:
        _set_alarm(STDIN_S)
        problem = _read_payload(turn)
        # A payload that comes at once leaves its share to the work.
        _set_alarm(ALL_S - (time.monotonic() - start))
        turn.event = wire.event_of(turn.payload, turn.event, turn.host)
        turn.stores = _trusted(turn, layout.find(_directory(turn), turn.environ))
        if problem:
            _log(turn, problem)
        _answer(turn)
        _set_alarm(LAST_S, _leave)
    except Exception as error:  # noqa: BLE001 - a hook that fails must not disturb the host
        _set_alarm(LAST_S, _leave)
        _fall_back(turn, f"{type(error).__name__}: {error}")


def _words(arguments: Sequence[str]) -> tuple[str, str]:
    host, words, expected = DEFAULT_HOST, [], False
    for word in arguments:
        if expected:
            host, expected = word, False
        elif word == "--host":
            expected = True
        elif word.startswith("--host="):
            host = word[len("--host=") :]
        elif word != IF_TRUSTED:
            words.append(word)
    return wire.event_named(words[0] if words else wire.PROMPT, host), host


def _take_stdout() -> int:
    """Return standard output for the one document; whatever else prints there prints nowhere.

    A host injects what is no JSON as it stands, such as the banner of a `sitecustomize`.
    """
    try:
        out = os.dup(1)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.close(null)
    except OSError:
        # Nobody listens, or nothing can be opened: then nothing is taken away either.
        return 1
    return out


def _set_alarm(seconds: float, ring: Callable[..., None] | None = None) -> None:
    """Raise Deadline after some seconds, or call `ring`; 0 takes the alarm back."""
    try:
        # The built-in half of `signal`, whose other half loads enum.
        import _signal  # type: ignore[import-not-found]
    except ImportError:
        # No interval timers on this platform: the host's own timeout has to do.
        return
    _signal.signal(_signal.SIGALRM, ring or _ring)
    _signal.setitimer(_signal.ITIMER_REAL, seconds)


def _ring(*_: object) -> None:
    # Set first: an exception that rises inside a destructor is swallowed.
    _set_alarm(LAST_S, _leave)
    raise Deadline


def _leave(*_: object) -> None:
    # Whatever still holds us: the host gets what is in hand, and the next hook another try.
    for turn in _running:
        turn.write(turn.spare)
    os._exit(0)


def _read_payload(turn: wire.Turn) -> str:
    """Read the payload from standard input and return what is wrong with it, or nothing.

    A host may leave the pipe open, so a complete object ends the reading as well as its end.
    """
    parts: list[bytes] = []
    try:
        while len(parts) < MAX_PARTS:
            part = os.read(0, PART_BYTES)
            parts.append(part)
            # A full part has more behind it: to parse each time would cost the square of it.
            is_whole = 0 < len(part) < PART_BYTES and part.rstrip().endswith(b"}")
            if is_whole and _take(turn, parts):
                return ""
            if not part:
                break
    except Deadline:
        return "" if _take(turn, parts) else "standard input was not closed"
    except OSError as error:
        return f"standard input: {error.strerror}"
    if _take(turn, parts):
        return ""
    return "the payload is no JSON object" if len(parts) > 1 else "the payload is empty"


def _take(turn: wire.Turn, parts: Sequence[bytes]) -> bool:
    """Tell whether the parts are a payload, and keep it if so."""
    try:
        turn.payload = wire.decode(b"".join(parts))
    except ValueError:
        return False
    return True


def _directory(turn: wire.Turn) -> str:
    """Return the directory that the payload names, or our own where it names none to look in."""
    try:
        return wire.directory_of(turn.payload) or os.getcwd()
    except OSError:
        return "/"


def _trusted(turn: wire.Turn, found: layout.Stores) -> layout.Stores:
    """Return the stores less one that came with a repository, of which the person is told.

    A hook that somebody wired in the project itself says by that that its store may be used.
    """
    project = found.project
    if project is None or not turn.needs_trust:
        return found
    from rose import trust

    if trust.is_trusted(project, turn.environ):
        return found
    # Where the start is to bring the layer, the one document is the layer's.
    is_said = turn.event == "SessionStart" and not turn.opens()
    if is_said and turn.host in wire.TELLS_PERSON:
        turn.write(wire.notice(f"rose: {project.dot} is not trusted yet; `rose trust` uses it."))
    return layout.Stores(None, found.home, found.reason)


def _answer(turn: wire.Turn) -> None:
    if turn.host not in wire.HOSTS:
        _log(turn, f"unknown host; known are {', '.join(wire.HOSTS)}")
    elif turn.event == wire.PROMPT:
        _prompt(turn)
    elif turn.event in wire.EVENTS:
        from rose import hook

        layer = hook.handle(turn)
        if layer is not None:
            send(turn, turn.stores.first(), layer)
    else:
        _log(turn, f"unknown event; known are {', '.join(wire.NAMES[turn.host])}")


def _prompt(turn: wire.Turn) -> None:
    if not turn.stores.present():
        return
    layer: Mapping[str, object] | None = compiled.fresh(turn.stores)
    if layer is None:
        from rose import hook

        layer = hook.rebuild(turn.stores)
    send(turn, turn.stores.first(), layer, serves=layer["recall"] != "off")


def send(
    turn: wire.Turn,
    store: layout.Store,
    layer: Mapping[str, object],
    *,
    serves: bool = False,
    said: str = "",
) -> None:
    """Print the layer where the session lacks it, with what recall serves, and note it.

    `said` is what the person is told, where recall has nothing to tell.
    """
    if not layer["block"] and not serves:
        return
    path = turn.note_path(store)
    notes = [] if path is None else session.read(path)
    if session.is_off(notes):
        return
    is_kept = turn.host not in wire.FOR_ONE_TURN and layer["repeat"] != "every-prompt"
    is_due = bool(layer["block"]) and (
        path is None or not is_kept or session.is_due(notes, turn.agent(), layer)
    )
    encoded = str(layer["encoded"]) if is_due else ""
    more: Recalled | None = None
    if serves:
        from rose import recalled

        turn.spare = wire.document(turn.event, encoded, turn.host)
        more = recalled.Recalled(turn, layer, notes, is_due=is_due, is_kept=is_kept)
        more.hear(_set_alarm)
        encoded, said = more.encoded or encoded, more.said
    turn.write(wire.document(turn.event, encoded, turn.host, said))
    if more is not None:
        more.take()
    if path is not None and is_due:
        files.append_line(path, session.sent_line(turn.event, turn.agent(), layer))
    if more is not None:
        more.end(path)
        if more.is_late:
            # The log has a share of its own, for what it loads.
            _set_alarm(LAST_S, _leave)
        if more.problem:
            _log(turn, f"recall: {more.problem}")


def _fall_back(turn: wire.Turn, problem: str, *, late: bool = False) -> None:
    """Send the last compiled layer whatever else failed, and leave one line in the log."""
    try:
        if not turn.stores.present():
            turn.stores = _trusted(turn, layout.find(_directory(turn), turn.environ))
        store = turn.stores.first()
        layer = compiled.read(store.layer)
        if layer is not None and turn.opens() and not turn.printed:
            said = f"rose: degraded, {problem}"
            if not late:
                from rose import recalled

                said = recalled.for_person(said)
                _set_alarm(LAST_S, _leave)
            send(turn, store, layer, said=said)
    except Exception as error:  # noqa: BLE001 - nothing is left to fall back to
        problem = f"{problem}; {type(error).__name__}: {error}"
    _log(turn, problem)
    if late:
        _leave_to_worker(turn)


def _log(turn: wire.Turn, problem: str) -> None:
    try:
        from rose import hook

        hook.log(turn.stores.first(), turn.event, turn.host, problem)
    except Exception:  # noqa: BLE001 - a disk that takes no log line must not cost the layer
        return


def _leave_to_worker(turn: wire.Turn) -> None:
    try:
        from rose import hook

        hook.start_worker(turn.stores.first(), turn.environ)
    except Exception:  # noqa: BLE001 - the next hook tries again
        return
