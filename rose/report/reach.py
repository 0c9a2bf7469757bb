"""Whether the layer reaches the agents: who calls rose, by which command, and what arrived."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

from rose.hosts import agents_md, wire, wiring
from rose.report import activity
from rose.report.diagnosis import Check

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rose.hosts.wiring import Wiring
    from rose.layout import Store
    from rose.report.activity import Arrivals
    from rose.report.diagnosis import Around

# How many sessions say how things are now, and how few say nothing: a person may break one off.
LATELY = 5
FEWEST = 2
_CUT = {
    "claude-code": "It cuts what one hook prints above 10,000 characters. Let rose's hook run "
    "alone, as `rose install` writes it.",
    "codex": "It cuts above `additionalContextLimit`. `rose install --host codex` writes that "
    "anew; trust the hook again in `/hooks`.",
}
_CUT_ELSEWHERE = "Lower `routing.max_tokens` until the layer fits what the program takes of a hook."


def checks(around: Around) -> Iterator[Check]:
    """Yield where each host finds rose, whether one ever called it here, and what arrived."""
    project = around.stores.project
    folder = None if project is None else wiring.folder_of(project.base, around.cwd)
    wired = wiring.wired(folder, around.environ)
    for each in wired:
        yield _wired(each, around)
    pointed = [] if folder is None else list(_pointed(folder, around))
    yield from pointed
    if not (wired or pointed):
        repair = "`rose install` wires the programs that it finds."
        yield Check("hosts", "note", "no agent program calls rose here", repair)
    yield from _doubled(wired)
    store = around.stores.first()
    if _was_called(store):
        yield Check("hook", "ok", "has been called here")
    elif wired:
        repair = "Start a session here: programs read their hooks when they start."
        yield Check("hook", "note", "nothing was sent to a session here yet", repair)
    yield from _delivery(store, [each for each in wired if not each.fault])
    yield from _failure(around)


def _wired(each: Wiring, around: Around) -> Check:
    by = f" by the plugin {each.plugin}" if each.plugin else ""
    start = f"{each.host} calls rose from {around.short(each.path)}{by}"
    if each.fault:
        return Check("hosts", "problem", f"{start}, but {each.fault}", each.repair)
    if each.missing:
        text = f"{start}, but not at {', '.join(each.missing)}"
        return Check("hosts", "note", text, "`rose install` writes what is missing.")
    if each.untrusted:
        text = f"{start}, but passes over {', '.join(each.untrusted)}: not trusted yet"
        return Check("hosts", "note", text, "Run `/hooks` in it, in a project that it trusts.")
    if each.is_older:
        text = f"{start}; that file was changed after Codex last wrote down what it trusts"
        return Check("hosts", "note", text, "Look in `/hooks` whether it trusts it still.")
    trusted = " (trusted once; Codex compares the hash itself)" if each.host == "codex" else ""
    return Check("hosts", "ok", f"{start}: {each.command}{trusted}")


def _pointed(folder: str, around: Around) -> Iterator[Check]:
    """Yield whether the project's AGENTS.md holds the block for a Codex without hooks."""
    aim = agents_md.target(folder)
    faults = agents_md.faults(aim)
    if faults is None:
        return
    text = f"{around.short(aim.path)} holds rose's block, for a Codex without hooks"
    if not faults:
        yield Check("hosts", "ok", f"{text}; of such sessions nothing is recorded")
        return
    repair = "`rose install --agents-md` writes it anew; what stands around it is yours to mend."
    yield Check("hosts", "note", f"{text}. {' '.join(faults)}", repair)


def _doubled(wired: Sequence[Wiring]) -> Iterator[Check]:
    """Yield the hosts in which two hooks of rose run, each of which may send a copy."""
    count = Counter(each.host for each in wired if not each.fault)
    for host in (host for host, number in count.items() if number > 1):
        ways = [each.removal for each in wired if each.host == host and not each.fault]
        text = f"{host} calls rose {count[host]} times, so a session may get a copy from each"
        yield Check("hosts", "note", text, f"Keep one: {' or '.join(ways)} takes one out.")


def _was_called(store: Store) -> bool:
    try:
        return any(name.endswith(".jsonl") for name in os.listdir(store.sessions))
    except OSError:
        # Made by the first session that is sent something.
        return False


def _delivery(store: Store, wired: Sequence[Wiring]) -> Iterator[Check]:
    matrix = activity.arrivals(store)
    never = activity.never(matrix)
    for row in matrix:
        yield _arrived(row, is_never=row.host in never)
    told = {row.host for row in matrix}
    for host in dict.fromkeys(each.host for each in wired):
        if host not in wire.READABLE:
            yield Check("delivery", "note", f"{host}: unknown, rose reads no transcript of it")
        elif host not in told:
            repair = "It is known once a session that was sent rules has ended."
            text = f"{host}: no session that was sent rules is recorded yet"
            yield Check("delivery", "note", text, repair)


def _arrived(row: Arrivals, *, is_never: bool) -> Check:
    known = [one for one in row.each if one.whole or one.cut or one.none][:LATELY]
    if not known:
        return Check("delivery", "note", row.line())
    if known[0].cut:
        repair = _CUT.get(row.host, _CUT_ELSEWHERE)
        return Check("delivery", "problem", f"{row.line()}; the latest was cut", repair)
    if any(one.whole or one.cut for one in known):
        return Check("delivery", "ok", row.line())
    if len(known) < FEWEST:
        text = f"{row.line()}; one session says little"
        return Check("delivery", "note", text, "A prompt that is broken off leaves none either.")
    what = "never delivered on this host" if is_never else f"not in the last {len(known)} sessions"
    repair = "The hook ran, and what it printed went no further. Update the program, and write "
    repair += "the hook anew with `rose install`."
    return Check("delivery", "problem", f"{row.line()}; {what}", repair)


def _failure(around: Around) -> Iterator[Check]:
    failure = activity.latest_failure(around.stores.present(), around.now)
    if failure is None:
        return
    if failure.is_log:
        yield Check("hook", "problem", failure.problem, "Make it a readable file, or delete it.")
        return
    logs = " and ".join(around.short(store.log) for store in around.stores.present())
    yield Check("hook", "note", failure.line(), f"All of them: {logs}")
