"""Imports lessons that lie in the project already: their folder is read where it is.

Nothing is copied or changed but the setting `lessons.paths`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from rose import redact, values
from rose.findings import Finding, Refused
from rose.store import gather, parse, setup, walk
from rose.store.importing import Entry, Imported, line_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rose.config import Settings
    from rose.layout import Store


def adopt(
    store: Store, settings: Settings, paths: Sequence[str], *, dry_run: bool = False
) -> Imported:
    """Have folders of the project read as lessons where they lie; raises Refused for a path."""
    wanted = {os.path.realpath(path): path for path in paths}
    folders: dict[str, bool] = {}
    faults: list[Finding] = []
    for real, named in wanted.items():
        folder = os.path.relpath(real, os.path.realpath(store.base)).replace(os.sep, "/")
        fault = _unfit(store, real, folder)
        if fault is None:
            folders[folder] = _is_covered(folder, settings.lessons_paths)
        else:
            repair = "Without --in-place it is copied."
            faults.append(Finding("import-path", gather.printable(named), fault, repair))
    if faults:
        raise Refused(faults)
    new = tuple(folder for folder, is_read in folders.items() if not is_read)
    found, findings = walk.walk(store, [*settings.lessons_paths, *new])
    if new and not dry_run:
        setup.adopt(store, settings, new)
    done = Imported(folders=new)
    for folder, is_read in folders.items():
        inside = os.path.join(walk.where(store, folder), "")
        done.findings += [fault for fault in findings if fault.where.startswith(inside)]
        for file in found:
            if file.path.startswith(f"{folder}/"):
                full = os.path.join(store.base, file.path)
                done.entries.append(Entry(full, file.path, not is_read))
                done.findings += _standing(full, walk.where(store, file.path))
    return done


def _unfit(store: Store, real: str, folder: str) -> str | None:
    """Return why a path cannot be read in place, None where it can."""
    if not os.path.isdir(real):
        return "Only a folder is read in place."
    if not walk.Bounds(store).hold(real):
        return "It is no folder below the one of the store."
    try:
        named = values.folders([folder])
    except ValueError:
        named = ()
    is_named = named == (folder,) and "," not in folder
    return None if is_named else "Its name cannot stand in `lessons.paths`."


def _is_covered(folder: str, roots: Sequence[str]) -> bool:
    """Tell whether a folder is read because it is, or lies in, a lessons folder."""
    for root in roots:
        inner = folder.removeprefix(root).split("/")
        if folder == root or (folder.startswith(f"{root}/") and not _is_passed_over(inner)):
            return True
    return False


def _is_passed_over(parts: Sequence[str]) -> bool:
    return any(part.startswith(".") or part in walk.SKIPPED for part in parts)


def _standing(path: str, place: str) -> list[Finding]:
    """Report what looks like a secret in a text that is read as it stands."""
    try:
        text = parse.read_text(path)[0]
    except OSError:
        # The reading of the lessons reports it.
        return []
    return [
        Finding(
            "secret",
            f"{place}:{line_of(text, secret.start)}",
            f"What looks like a secret ({secret.kind}) is read as it stands.",
            "Take it out, and revoke it if it is one.",
            severity="warning",
        )
        for secret in redact.find(text)
    ]
