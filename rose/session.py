"""What a session was sent and when: presence (docs/architecture.md).

One note file a session, append-only: `{v, at, event, agent, block, revision, rules}` when the
layer was sent, `{v, at, agent, reset}` after a compaction or a clear, `{v, at, off}` where a person
switched rose off for the session, and what `selection.serve` notes of lessons. On the prompt
hook's path.
"""

from __future__ import annotations

import os
import time

from rose import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

VERSION = 1
# To the second, in UTC: as it stands in every record.
TIME = "%Y-%m-%dT%H:%M:%SZ"


def note_path(folder: str, name: str) -> str:
    """Return a session's note file; the name is `layout.session_name`."""
    return os.path.join(folder, name + ".jsonl")


def read(path: str) -> list[dict[str, object]]:
    """Return the lines of a note, oldest first; none where it cannot be read."""
    try:
        return [line for _, line in files.read_jsonl(path)]
    except OSError:
        # Sending once too often is cheaper than never sending.
        return []


def is_due(
    notes: Sequence[Mapping[str, object]], agent: str | None, layer: Mapping[str, object]
) -> bool:
    """Tell whether an agent of the session lacks the layer as it now is.

    Each loses it at a reset of its own. The main agent (None) gets it again when a rule file
    changed, too; a change of the choice alone is not sent again.
    """
    present = False
    for line in notes:
        if line.get("agent") != agent:
            continue
        if "reset" in line:
            present = False
        elif "block" in line:
            unchanged = line.get("block") == layer["digest"]
            present = agent is not None or unchanged or line.get("revision") == layer["revision"]
    return not present


def is_off(notes: Sequence[Mapping[str, object]]) -> bool:
    """Tell whether a person switched rose off for the session."""
    return any("off" in line for line in notes)


def off_line() -> str:
    """Return the note line after which a session is sent nothing and teaches nothing."""
    return f'{{"v":{VERSION},"at":{_quoted(now())},"off":true}}'


def sent_line(event: str, agent: str | None, layer: Mapping[str, object]) -> str:
    """Return the note line that says that the layer was sent."""
    rules = layer["rules"]
    names = ",".join(_quoted(str(name)) for name in rules) if isinstance(rules, list) else ""
    return (
        f'{{"v":{VERSION},"at":{_quoted(now())},"event":{_quoted(event)},"agent":{_who(agent)},'
        f'"block":{_quoted(str(layer["digest"]))},"revision":{_quoted(str(layer["revision"]))},'
        f'"rules":[{names}]}}'
    )


def reset_line(why: str, agent: str | None = None) -> str:
    """Return the note line after which an agent no longer holds the layer."""
    who = _who(agent)
    return f'{{"v":{VERSION},"at":{_quoted(now())},"agent":{who},"reset":{_quoted(why)}}}'


def now() -> str:
    """Return the time as it stands in every record."""
    return time.strftime(TIME, time.gmtime())


def _who(agent: str | None) -> str:
    return "null" if agent is None else _quoted(agent)


def _quoted(text: str) -> str:
    try:
        from _json import encode_basestring_ascii
    except ImportError:
        return files.dump_json(text)
    return encode_basestring_ascii(text)
