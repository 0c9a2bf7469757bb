"""What the hook does beyond a fresh prompt: rebuild, presence, hand-off to the worker.

Reached from `prompt`, which owns the deadline and the promise never to raise. Everything heavy
is imported by the event that needs it.
"""

from __future__ import annotations

import os
import sys
import time

from rose import files, layout, session
from rose.errors import Unwritable
from rose.hosts import wire
from rose.reflection import begun, queue
from rose.routing import compiled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rose import aside
    from rose.backends.options import Options
    from rose.selection import aides
    from rose.store.lessons import Holding

MAX_LOG_BYTES = 1 << 20
MOST_PROBLEM_CHARS = 500
# Of the time that a prompt waits, what the interpreter takes to start, and the least of the whole.
START_S = 0.5
LEAST_WAIT_S = 2
MOST_PATH_CHARS = 4096


def handle(turn: wire.Turn) -> Mapping[str, object] | None:
    """Do what an event asks for; the layer where the event is to carry it."""
    present = turn.stores.present()
    if not present:
        return None
    store = present[0]
    if turn.event == "SessionStart":
        _session_start(turn, store)
        if turn.opens():
            return fresh_layer(turn.stores)
    elif turn.event == "PostCompact" and turn.host not in wire.ENDS_LATE:
        _reset(turn, store, "compact")
    elif turn.event == "SubagentStart":
        return fresh_layer(turn.stores)
    elif turn.event == "SessionEnd" or (turn.event == "Stop" and _on_stop(store)):
        hand_off(turn, store)
    return None


def _session_start(turn: wire.Turn, store: layout.Store) -> None:
    source = wire.text_of(turn.payload, "source")
    if source in ("compact", "clear"):
        _reset(turn, store, source)
    _note_begun(turn, store)
    _bring_up_to_date(turn.stores)
    if source == "resume":
        _note_resumed(turn, store)
    begun.queue_silent(store, time.time())
    if queue.pending(store):
        start_worker(store, turn.environ)


def _note_begun(turn: wire.Turn, store: layout.Store) -> None:
    told = _told(turn)
    if told is not None:
        try:
            begun.note(store, **told)
        except Unwritable:
            # Only a session whose end is never told is lost by it.
            return


def _told(turn: wire.Turn) -> dict[str, str] | None:
    """Return what the queue keeps of a session, None where it cannot be reflected on."""
    transcript = wire.text_of(turn.payload, "transcript_path")
    name = wire.session_of(turn.payload)
    cwd, at = wire.text_of(turn.payload, "cwd"), session.now()
    if not transcript or not name or turn.host not in wire.READABLE:
        return None
    if max(map(len, (transcript, name, cwd))) > MOST_PATH_CHARS:
        # No system opens a longer path, and no host writes a longer name.
        return None
    return {"host": turn.host, "session": name, "transcript": transcript, "cwd": cwd, "at": at}


def _bring_up_to_date(stores: layout.Stores) -> None:
    """Check every rule and lesson, whatever the stamp says: once a session."""
    _load_packages()
    from rose import refresh

    refresh.everything(stores, exact=False)


def _reset(turn: wire.Turn, store: layout.Store, why: str) -> None:
    path = turn.note_path(store)
    if path is not None:
        files.append_line(path, session.reset_line(why, turn.agent()))


def _note_resumed(turn: wire.Turn, store: layout.Store) -> None:
    """Note the layer as sent where a resumed session has no note but its transcript holds it."""
    path, layer = turn.note_path(store), compiled.read(store.layer)
    if path is None or layer is None or not layer["block"] or session.read(path):
        return
    if _holds(wire.text_of(turn.payload, "transcript_path"), str(layer["encoded"])[1:-1]):
        files.append_line(path, session.sent_line(turn.event, None, layer))


def _holds(transcript: str, encoded: str) -> bool:
    """Tell whether a transcript holds a text after its last compaction."""
    present = False
    try:
        with open(transcript, encoding="utf-8", errors="replace") as stream:
            for line in stream:
                if encoded in line:
                    present = True
                elif '"compact_boundary"' in line or '"compacted"' in line:
                    present = False
    except (OSError, ValueError):
        # Unreadable, or no path at all: sent once more, which costs one copy.
        return False
    return present


def _on_stop(store: layout.Store) -> bool:
    _load_packages()
    from rose import config

    return config.read(store)[0].reflection_on_stop


def hand_off(turn: wire.Turn, store: layout.Store) -> None:
    """Put the session into the queue in one atomic write and start a detached worker."""
    told, path = _told(turn), turn.note_path(store)
    if told is None:
        return
    is_off = path is not None and session.is_off(session.read(path))
    if not is_off:
        queue.put(store, **told)
    if turn.event == "SessionEnd":
        # Not before it is in the queue: a kill in between must not lose it.
        begun.forget(store, turn.host, told["session"])
    if not is_off:
        start_worker(store, turn.environ)


def fresh_layer(stores: layout.Stores) -> Mapping[str, object]:
    """Return the compiled layer, rebuilt where it is stale."""
    return compiled.fresh(stores) or rebuild(stores)


def rebuild(stores: layout.Stores) -> Mapping[str, object]:
    """Compile the layer from parsed rules cached by stamp, without loading a vocabulary.

    Where too many rules are new to parse them now, the layer is made of those that are known
    and is stale already, so each prompt gets further even where no worker can help.
    """
    _load_packages()
    from rose import refresh

    layer = refresh.layer(stores, exact=False)
    if layer["unread"] and layer["written"]:
        start_worker(stores.first(), os.environ)
    return layer


def recall(
    turn: wire.Turn,
    layer: Mapping[str, object],
    notes: Sequence[Mapping[str, object]],
    line: aside.Line,
    *,
    is_due: bool,
    is_kept: bool,
) -> None:
    """Answer what a prompt is given of the lessons, and record it once it was printed.

    `is_due` says that the layer goes with it, `is_kept` that the session still holds what it was
    given before. The hook waits no longer where this process is ended.
    """
    prompt = wire.text_of(turn.payload, "prompt")
    held = _options(turn)
    # Where it depends on whom a person trusts, the layer was compiled without knowing.
    if not prompt.strip() or (held and held.settings.recall_selector == "agent"):
        line.answer({})
        return
    # First of all: what follows may take longer than the prompt waits so far.
    who = _aides(turn, held, str(layer["block"]), line) if held and held.is_trusted else None
    from rose.selection import serve
    from rose.store import lessons

    holdings: list[Holding] = []
    stores = turn.stores.present()
    name, at = wire.session_of(turn.payload), session.now()
    try:
        holdings = [lessons.hold(one) for one in stores]
        given = serve.serve(
            holdings,
            prompt,
            session_id=name,
            held=serve.shown(notes if is_kept else [], turn.agent()),
            told=serve.kinds_told(notes),
            beside=str(layer["block"]) if is_due else "",
            at=at,
            aides=who,
        )
        encoded = given.beside(str(layer["encoded"]) if is_due else "")
        told = {"encoded": encoded, "said": given.notice, "problem": given.problem}
        is_printed = line.answer(told)
    except SystemExit:
        # Reading them keeps them for the next prompt.
        holdings = holdings or [lessons.hold(one) for one in stores]
        serve.record_unserved(holdings, prompt, session_id=name, at=at)
        raise
    if is_printed:
        given.write(stores[0], turn.note_path(stores[0]), turn.event, turn.agent())


def _options(turn: wire.Turn) -> Options | None:
    """Return the settings that hold, None where no store says anything of whom recall asks."""
    _load_packages()
    from rose import config

    read = (config.read(one)[0] for one in turn.stores.present())
    said = {(one.recall_selector, one.recall_judge, one.recall_timeout_s) for one in read}
    if said == {("embedded", "off", LEAST_WAIT_S)}:
        return None
    from rose.backends import options

    return options.options_of(turn.stores, turn.environ)


def _aides(turn: wire.Turn, held: Options, block: str, line: aside.Line) -> aides.Aides:
    """Have the prompt wait as long as is set, and return whom recall asks besides the record."""
    # How long other hosts wait was never tried.
    most_s = held.settings.recall_timeout_s if turn.host in wire.READABLE else LEAST_WAIT_S
    end = turn.began + most_s - START_S
    line.wait_until(end)
    from rose.selection import aides

    scene = aides.Scene(
        turn.host,
        wire.session_of(turn.payload),
        wire.text_of(turn.payload, "transcript_path"),
        wire.directory_of(turn.payload),
        block,
        lambda: end - time.monotonic(),
    )
    return aides.named(held, turn.environ, scene, turn.stores.first())


def _load_packages() -> None:
    """Make the site packages importable, which a host's `-S` leaves out to save their cost."""
    if sys.flags.no_site and "site" not in sys.modules:
        import site

        site.main()


def start_worker(store: layout.Store, environ: Mapping[str, str]) -> None:
    """Start `rose reflect --pending` in a session of its own, out of reach of signals."""
    launcher = os.path.join(os.path.dirname(os.path.abspath(__file__)), "launch.py")
    words = [sys.executable, "-I", launcher, "reflect", "--pending", "--worker"]
    if not os.access(store.local if os.path.isdir(store.local) else store.dot, os.W_OK):
        # Without a lock, workers would pile up behind one another.
        return
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        os.setsid()
        if os.fork():
            os._exit(0)
        os.chdir(store.base)
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(null, descriptor)
        os.execve(sys.executable, words, dict(environ))  # noqa: S606 - our own interpreter
    finally:
        os._exit(1)


def log(store: layout.Store, event: str, host: str, problem: str) -> None:
    """Append one line to the hook's log, which is cut to its last half when it grows."""
    found = files.stat_stamp(store.log)
    if found is not None and found[2] > MAX_LOG_BYTES:
        kept = files.read_bytes(store.log)[-MAX_LOG_BYTES // 2 :]
        files.replace(store.log, kept.partition(b"\n")[2])
    from rose import redact

    said = redact.beginning(problem, MOST_PROBLEM_CHARS)
    line = {"v": 1, "at": session.now(), "event": event, "host": host, "problem": said}
    files.append_line(store.log, files.dump_json(line))
