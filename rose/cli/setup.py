"""`rose init`: makes a store and says which lessons are there already."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from rose import config, layout, trust
from rose.cli import terminal
from rose.cli.app import app
from rose.errors import NoStore, RoseError
from rose.store import setup

if TYPE_CHECKING:
    from rose.layout import Store
    from rose.store.setup import Folder, Made


@app.command("init", short_help="Make a store here.")
def init(
    *,
    home: Annotated[
        bool, typer.Option("--home", help="Make the store in your home folder, for all projects.")
    ] = False,
    adopt: Annotated[
        bool | None,
        typer.Option(
            "--adopt/--no-adopt",
            help="Read the lessons that are found elsewhere in the project, in place.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Make a store here, and say which lessons are there already.

    Whatever exists is left as it is, so running it twice is safe.

    Example: rose init --adopt
    """
    store = _store(home=home)
    settings = config.read(store)[0]
    is_new = not os.path.isdir(store.dot)
    made = setup.init(store, settings)
    if is_new:
        _trust(store)
    folders = setup.folders(store, settings)
    found = [folder for folder in folders if not folder.is_read and folder.lessons]
    if not as_json:
        _say_made(store, made)
        _say_folders(folders)
    adopted: tuple[str, ...] = ()
    if found and _wants(found, adopt, as_json=as_json):
        adopted = tuple(folder.path for folder in found)
        setup.adopt(store, settings, adopted)
    terminal.refresh(terminal.stores())
    if as_json:
        terminal.emit(_result(store, made, folders, adopted))
        return
    terminal.report(made.findings)
    if not trust.is_trusted(store, os.environ):
        terminal.say(
            "This store was here before, so user-wide hooks pass over it: look at `rose route`,\n"
            "then say `rose trust`."
        )
    _say_next(folders, found, adopted, home=home)


def _trust(store: Store) -> None:
    """Trust what the person makes here; where that cannot be remembered the store stands."""
    try:
        trust.add(store, os.environ)
    except RoseError as error:
        terminal.say(f"rose: not remembered as trusted: {error} `rose trust` tries again.")


def _store(*, home: bool) -> Store:
    at_home = layout.home_store(os.environ)
    if home:
        if at_home is None:
            raise NoStore("HOME is not set. Set HOME or ROSE_HOME to say where the store goes.")
        return at_home
    cwd = os.getcwd()
    base = layout.new_base(cwd)
    own = layout.project_store(base)
    user_home = os.environ.get("HOME", "")
    is_home = bool(user_home) and os.path.realpath(user_home) == base
    if is_home or (at_home is not None and os.path.realpath(at_home.dot) == own.dot):
        raise RoseError(
            f"{base} is your home folder, not a project. `rose init --home` makes the store "
            "that all projects read."
        )
    there = terminal.stores()
    is_checkout = os.path.lexists(os.path.join(cwd, ".git"))
    if there.project is not None and there.project.base != base and not is_checkout:
        terminal.say(
            f"The store in {there.project.base} applies here. For a store of this folder alone, "
            "`mkdir .rose` first."
        )
        return there.project
    return own


def _say_made(store: Store, made: Made) -> None:
    terminal.out(f"store      {terminal.short(store.dot)}")
    if made.made:
        terminal.out(f"made       {', '.join(made.made)}")
    if made.present:
        terminal.out(f"was there  {', '.join(made.present)}")


def _say_folders(folders: list[Folder]) -> None:
    for folder in folders:
        label = "lessons" if folder.is_read else "found"
        count = "1 lesson" if folder.lessons == 1 else f"{folder.lessons} lessons"
        if folder.lessons or folder.is_read:
            terminal.out(f"{label:<10} {count} in {folder.path}/")


def _wants(found: list[Folder], adopt: bool | None, *, as_json: bool) -> bool:
    if adopt is not None:
        return adopt
    if as_json or not terminal.is_interactive():
        return False
    total = sum(folder.lessons for folder in found)
    return terminal.ask(f"Read the {total} found as lessons too, where they lie?")


def _say_next(
    folders: list[Folder], found: list[Folder], adopted: tuple[str, ...], *, home: bool
) -> None:
    flag = " --home" if home else ""
    if adopted:
        terminal.out(f"adopted    {', '.join(path + '/' for path in adopted)}, read in place")
    elif found:
        terminal.say(f"`rose init{flag} --adopt` reads those that were found as lessons, in place.")
    if not adopted and not any(folder.lessons for folder in folders if folder.is_read):
        terminal.say(f'No lessons yet. `rose add "TITLE" --body TEXT{flag}` writes the first one.')
    terminal.say("Next: `rose install`, so that your agent program calls rose; then `rose status`.")


def _result(
    store: Store, made: Made, folders: list[Folder], adopted: tuple[str, ...]
) -> dict[str, object]:
    return {
        "store": store.dot,
        "kind": store.kind,
        "made": list(made.made),
        "present": list(made.present),
        "folders": [
            {
                "path": folder.path,
                "lessons": folder.lessons,
                "read": folder.is_read or folder.path in adopted,
            }
            for folder in folders
        ],
        "adopted": list(adopted),
        "findings": [finding.as_json() for finding in made.findings],
    }
