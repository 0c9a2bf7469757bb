"""`rose add`, `rose show`, `rose list`, `rose archive`: the lessons of the stores."""

from __future__ import annotations

import dataclasses
import os
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from rose import config, files, session
from rose.cli import page, terminal
from rose.cli.app import app
from rose.errors import RoseError, UsageError
from rose.store import lessons, write

if TYPE_CHECKING:
    from rose.layout import Store, Stores
    from rose.store.lessons import Lesson, Shelf

STDIN_WAIT_S = 3.0

JsonFlag = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
HomeFlag = Annotated[bool, typer.Option("--home", help="In the store of your home folder.")]


@app.command("add")
def add(
    *,
    title: Annotated[str, typer.Argument(metavar="TITLE", help="The lesson in one line.")],
    body: Annotated[str | None, typer.Option("--body", help="The text of the lesson.")] = None,
    file: Annotated[
        str, typer.Option("--file", metavar="F", help="Take the text from a file; - is stdin.")
    ] = "",
    tag: Annotated[list[str] | None, typer.Option("--tag", help="A tag; may be repeated.")] = None,
    gist: Annotated[str, typer.Option("--gist", help="What it says, in one sentence.")] = "",
    folder: Annotated[
        str, typer.Option("--folder", help="A folder below the lessons folder, such as testing.")
    ] = "",
    home: HomeFlag = False,
    as_json: JsonFlag = False,
) -> None:
    """Write a lesson. Its text is `--body`, a file, or what stands on standard input.

    Example: rose add "Integration tests need the database" --folder testing --body "Run make db."
    """
    if body is not None and file:
        raise UsageError("Give --body or --file, not both.")
    if body == "-":
        raise UsageError("Standard input is `--file -`.")
    store = terminal.writable(home=home)
    text = body if body is not None else _text(file)
    settings = config.read(store)[0]
    twins = [old for old in lessons.scan(store, settings).lessons if old.title == title.strip()]
    lesson = write.add(
        store,
        settings,
        title,
        text,
        tags=tag or (),
        gist=gist,
        folder=folder,
        created=session.now(),
    )
    terminal.refresh(terminal.stores())
    for twin in twins:
        terminal.say(f"warning: {twin.id} has this title too.")
    if as_json:
        terminal.emit(_as_json(lesson, store))
    else:
        terminal.out(f"{lesson.id}  {terminal.short(os.path.join(store.base, lesson.path))}")


def _text(file: str) -> str:
    """Return the text of a file or of standard input; nothing on a terminal."""
    if file and file != "-":
        raw = files.read_bytes(terminal.given_path(file))
    elif file == "-":
        raw = sys.stdin.buffer.read(4 * write.MAX_CHARS + 1)
    elif sys.stdin.isatty():
        return ""
    else:
        _await_input()
        raw = sys.stdin.buffer.read(4 * write.MAX_CHARS + 1)
    # What is no UTF-8 turns into lone surrogates, which `write.add` refuses by name.
    return raw.decode("utf-8", "surrogateescape")


def _await_input() -> None:
    """Refuse to wait for ever on a pipe that whoever started us left open."""
    import select

    if sys.platform == "win32":
        return
    try:
        ready = select.select([sys.stdin.fileno()], [], [], STDIN_WAIT_S)[0]
    except (OSError, ValueError):
        # No descriptor behind the stream, so it cannot block either.
        return
    if not ready:
        raise UsageError(
            f"Nothing came on standard input in {STDIN_WAIT_S:.0f} s. Give --body TEXT or "
            "--file F; `--file -` waits."
        )


@app.command("show")
def show(
    *,
    ref: Annotated[str, typer.Argument(metavar="ID", help="An id, a path, or a part of an id.")],
    home: HomeFlag = False,
    as_json: JsonFlag = False,
) -> None:
    """Print a lesson as it stands in its file.

    Example: rose show integration-db
    """
    shelves = _shelves(_found(home=home))
    lesson = _named(shelves, ref)
    store = _store_of(shelves, lesson)
    if as_json:
        terminal.emit({**_as_json(lesson, store), "text": lessons.body(store, lesson)})
    else:
        terminal.pour(files.read_bytes(os.path.join(store.base, lesson.path)))


@app.command("list")
def list_lessons(
    *,
    tag: Annotated[str, typer.Option("--tag", help="Only those with this tag.")] = "",
    status: Annotated[
        str, typer.Option("--status", help="active, archived or superseded.")
    ] = "active",
    everything: Annotated[bool, typer.Option("--all", help="Of every status.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """List the lessons, one a line.

    Example: rose list --tag testing
    """
    if status not in ("active", "archived", "superseded"):
        raise UsageError(f"--status takes active, archived or superseded, not {status!r}.")
    found = terminal.stores()
    found.first()
    shelves = _shelves(found)
    tagged = [
        (store, lesson)
        for store, shelf in shelves
        for lesson in shelf.lessons
        if not tag or tag in lesson.tags
    ]
    chosen = [(store, x) for store, x in tagged if everything or x.status == status]
    findings = [finding for _, shelf in shelves for finding in shelf.findings]
    if as_json:
        faults = [finding.as_json() for finding in findings]
        listed = [_as_json(lesson, store) for store, lesson in chosen]
        terminal.emit({"lessons": listed, "findings": faults})
        return
    for _, lesson in chosen:
        terminal.out(_line(lesson))
    if tag and not tagged:
        terminal.say(f"No lesson has the tag {tag!r}.")
    elif not tagged:
        terminal.say('No lessons yet. `rose add "TITLE" --body TEXT` writes the first one.')
    elif len(chosen) < len(tagged):
        terminal.say(f"{len(chosen)} of {len(tagged)} lessons; --all shows every one.")
    if findings:
        said = page.count(len(findings), "finding")
        terminal.say(f"{said} about lessons: `rose doctor` names them.")


def _line(lesson: Lesson) -> str:
    marks = [f"[{', '.join(lesson.tags)}]"] if lesson.tags else []
    if lesson.status != "active":
        marks.append(f"({lesson.status})")
    if lesson.store == "home":
        marks.append("(home)")
    return " ".join([lesson.id, "-", lesson.title, *marks])


@app.command("archive")
def archive(
    *,
    ref: Annotated[str, typer.Argument(metavar="ID", help="An id, a path, or the end of one.")],
    superseded_by: Annotated[
        str, typer.Option("--superseded-by", metavar="ID", help="The lesson that took its place.")
    ] = "",
    home: HomeFlag = False,
    as_json: JsonFlag = False,
) -> None:
    """Take a lesson out of use; its file stays, marked as archived.

    Example: rose archive old-ci --superseded-by new-ci
    """
    shelves = _shelves(_found(home=home))
    lesson = _named(shelves, ref, whole=True)
    newer = _named(shelves, superseded_by, whole=True) if superseded_by else None
    store = _store_of(shelves, lesson)
    is_changed = write.archive(store, lesson, newer)
    terminal.refresh(terminal.stores())
    status = "archived" if newer is None else "superseded"
    if as_json:
        result = {"id": lesson.id, "status": status, "changed": is_changed}
        terminal.emit({**result, "superseded_by": "" if newer is None else newer.id})
        return
    terminal.out(f"{lesson.id}: {status}" + ("" if is_changed else " already"))
    terminal.say("`status: active` in the file brings it back.")


def _found(*, home: bool) -> Stores:
    """Return the stores to look in; raises NoStore."""
    found = terminal.stores()
    if home:
        terminal.home_of(found)
        found.project = None
    found.first()
    return found


def _shelves(found: Stores) -> list[tuple[Store, Shelf]]:
    return [(store, lessons.hold(store).shelf) for store in found.present()]


def _named(shelves: list[tuple[Store, Shelf]], ref: str, *, whole: bool = False) -> Lesson:
    """Return the lesson that a person named: a file as seen from here, else an id."""
    given = terminal.given_path(ref.strip().replace("\0", ""))
    paths = (os.path.abspath(given), os.path.realpath(given))
    for store, shelf in shelves:
        for lesson in shelf.lessons:
            if os.path.join(store.base, lesson.path) in paths:
                return lesson
    return lessons.resolve([shelf for _, shelf in shelves], ref, whole=whole)


def _store_of(shelves: list[tuple[Store, Shelf]], lesson: Lesson) -> Store:
    for store, shelf in shelves:
        if store.kind == lesson.store and lesson in shelf.lessons:
            return store
    raise RoseError(f"{lesson.id} is gone.")


def _as_json(lesson: Lesson, store: Store) -> dict[str, object]:
    fields = dataclasses.asdict(lesson)
    return {**fields, "file": os.path.join(store.base, lesson.path)}
