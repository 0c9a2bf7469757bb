"""The block in a project's AGENTS.md that tells a Codex without hooks where lessons and rules lie.

It stands between two marker lines in a committed file, so it names relative paths and repeats no
rule: the same for everybody, and never stale. What stands around it says what an uninstallation
has to take out, so it needs no receipt (docs/decisions/014).
"""

from __future__ import annotations

import os

from rose import files
from rose.findings import Finding, Refused
from rose.hosts import jsontext
from rose.hosts.installation import HOSTS, Outcome, Target
from rose.hosts.receipt import MOST_SETTINGS_BYTES

NAME = "AGENTS.md"
BEGIN = "<!-- rose: begin -->"
END = "<!-- rose: end -->"
# What Codex reads of it, and what it reads in its place (docs/hosts.md).
MOST_READ_BYTES = 32_768
INSTEAD = "AGENTS.override.md"


def target(folder: str) -> Target:
    """Return the file in a project's folder."""
    return Target(HOSTS["codex"], "project", os.path.join(folder, NAME), is_shared=True)


def change(aim: Target, *, remove: bool = False, dry_run: bool = False) -> Outcome:
    """Put the block into the file, or take it out; raises Refused or Unwritable."""
    folder = os.path.dirname(aim.path)
    before = _read(aim.path)
    try:
        after = without(before) if remove else added(before)
    except ValueError as error:
        raise _refused(aim.path, f"{error} Nothing was written.") from error
    if remove and after is None and os.path.islink(aim.path):
        # Who made the link keeps what it leads to.
        after = ""
    outcome = Outcome(aim, before, after, () if before == after else ("the block",), None)
    if outcome.is_change and not dry_run:
        if after is None:
            files.delete(os.path.join(os.path.realpath(folder), NAME))
        else:
            files.replace(aim.path, after, follow=folder)
    return outcome


def shortfalls(outcome: Outcome) -> list[str]:
    """Return why Codex would not see the block that was written."""
    found = []
    if len((outcome.after or "").encode()) > MOST_READ_BYTES:
        found.append(f"Codex reads its first {MOST_READ_BYTES:,} bytes, so the block may be cut.")
    if os.path.lexists(os.path.join(os.path.dirname(outcome.target.path), INSTEAD)):
        found.append(f"Codex reads {INSTEAD} in its place.")
    return found


def faults(aim: Target) -> list[str] | None:
    """Return what is amiss with the block that stands in the file, None where none stands."""
    try:
        text = _read(aim.path)
        if text is None or _find(text) is None:
            return None
    except Refused:
        # Nothing of rose's was put into what it refuses.
        return None
    except ValueError as error:
        return [str(error)]
    outcome = change(aim, dry_run=True)
    found = shortfalls(outcome)
    if outcome.is_change:
        found.append("It is not worded as this version words it.")
    return found


def block(newline: str = "\n") -> str:
    """Return the block from marker to marker."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "agents_md.md")
    return newline.join([BEGIN, *files.read_text(path).splitlines(), END])


def added(text: str | None) -> str:
    """Return a text that holds the block once, None being no file.

    A blank line goes before it in a file that was there, and a line end behind it unless the
    last line had none: `without` reads both again. Raises ValueError.
    """
    if text is None:
        return block() + "\n"
    found = _find(text)
    if found is not None:
        start, end = found
        return text[:start] + block(_newline_after(text, start)) + text[end:]
    newline = jsontext.newline(text)
    if text and not text.endswith("\n"):
        return text + newline + newline + block(newline)
    return text + newline + block(newline) + newline


def without(text: str | None) -> str | None:
    """Return a text as it was before the block, None where that is no file; raises ValueError."""
    found = None if text is None else _find(text)
    if text is None or found is None:
        return text
    newline = _newline_after(text, found[0])
    before, after = text[: found[0]], text[found[1] :]
    if not before and after in ("", newline):
        return None
    if not after:
        return before.removesuffix(newline).removesuffix(newline)
    if before == newline or before.endswith("\n" + newline):
        before = before.removesuffix(newline)
    return before + after.removeprefix(newline)


def _find(text: str) -> tuple[int, int] | None:
    """Return where the block begins and ends; raises ValueError where its markers do not pair."""
    begins, ends, at = [], [], 0
    for number, line in enumerate(text.split("\n"), 1):
        bare = line.rstrip()
        if bare == BEGIN:
            begins.append((at, number))
        elif bare == END:
            ends.append((at + len(line.rstrip("\r")), number))
        at += len(line) + 1
    if not begins and not ends:
        return None
    if len(begins) == len(ends) == 1 and begins[0] < ends[0]:
        return begins[0][0], ends[0][0]
    lines = ", ".join(str(number) for _, number in sorted(begins + ends))
    raise ValueError(f"The markers of rose's block do not pair: lines {lines}.")


def _newline_after(text: str, start: int) -> str:
    return "\r\n" if text[: text.index("\n", start)].endswith("\r") else "\n"


def _read(path: str) -> str | None:
    """Return the file's text, None where there is none; raises Refused.

    A committed link may lead anywhere, so it is followed to Markdown of the same project alone.
    """
    real = os.path.realpath(path)
    top = os.path.realpath(os.path.dirname(path))
    if not files.is_below(real, top) or not real.lower().endswith(".md"):
        raise _refused(path, f"It is a link to {real}, which is no Markdown of this project.")
    try:
        return files.read_bytes(real, MOST_SETTINGS_BYTES).decode("utf-8")
    except FileNotFoundError as error:
        if os.path.islink(path):
            raise _refused(path, "It is a link that leads nowhere.") from error
        return None
    except OSError as error:
        raise _refused(path, f"It cannot be read: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise _refused(path, "It is no UTF-8 text. Nothing was written.") from error


def _refused(path: str, message: str) -> Refused:
    repair = f"Mend it and call again, or add or remove this by hand:\n{block()}"
    return Refused([Finding("agents-md-unreadable", path, message, repair)])
