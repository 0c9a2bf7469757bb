"""Adds and archives lessons; a person's text is written as it was given, or refused whole."""

from __future__ import annotations

import os
import re
import unicodedata
from typing import TYPE_CHECKING

from rose import files, frontmatter, redact
from rose import text as texts
from rose.errors import RoseError
from rose.findings import Finding, Refused
from rose.store import lessons, walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rose.config import Settings
    from rose.layout import Store
    from rose.store.lessons import Lesson

MAX_CHARS = 1_000_000
MAX_TITLE = 200
MAX_SLUG_CHARS = 60
MAX_SLUG_BYTES = 180


def add(
    store: Store,
    settings: Settings,
    title: str,
    body: str,
    *,
    tags: Sequence[str] = (),
    gist: str = "",
    folder: str = "",
    created: str = "",
    origin: str = "manual",
) -> Lesson:
    """Write a new lesson and return it; `folder` lies below the first lessons folder.

    A header that the body brings along is kept. Raises Refused, with nothing written, for what
    should not be stored; never overwrites a file.
    """
    fields = {
        "title": texts.clean_line(title),
        "gist": texts.clean_line(gist),
        "tags": [clean for tag in tags if (clean := texts.clean_line(tag))],
    }
    findings = list(faults(fields["title"], title, body, [gist, *tags]))
    root = settings.lessons_paths[0]
    place = _place(store, root, folder, findings)
    if findings:
        raise Refused(findings)
    given = {key: value for key, value in fields.items() if value}
    if created:
        given["created"] = created
    given["origin"] = origin
    text = frontmatter.edit(body, given, "the body")
    with files.lock(store.lock):
        path = free_path(store, place, str(fields["title"]))
        put_locked(store, path, text)
    for lesson in lessons.scan(store, settings).lessons:
        if lesson.path == path:
            return lesson
    raise RoseError(f"{path} was written, but it is not below a lessons folder that is read.")


def faults(title: object, raw_title: str, body: str, rest: Sequence[str]) -> Iterator[Finding]:
    """Yield why a lesson should not be stored, whoever wrote it."""
    whole = "\n".join([raw_title, body, *rest])
    if not title:
        yield Finding("title-missing", "title", "The title is empty.", "Say it in one line.")
    if len(raw_title) > MAX_TITLE:
        message = f"The title has {len(raw_title)} characters, more than {MAX_TITLE}."
        yield Finding("title-long", "title", message, "Put the rest into the body.")
    if not frontmatter.split(body).body.strip():
        repair = "Give it with --body TEXT, with --file F, or on standard input."
        yield Finding("body-missing", "body", "The lesson has no text.", repair)
    if len(body) > MAX_CHARS:
        message = f"The body has {len(body)} characters, more than {MAX_CHARS}."
        yield Finding("lesson-too-long", "body", message, "Cut it down to one piece of knowledge.")
    elif redact.holds_secret(whole):
        message = "The text holds something that looks like a secret."
        yield Finding("secret", "lesson", message, "Take it out; a lesson is committed and read.")
    if "\0" in whole or any("\ud800" <= char <= "\udfff" for char in whole):
        message = "The text holds bytes that are no UTF-8 text."
        yield Finding("not-utf-8", "lesson", message, "Give it as plain UTF-8 text.")


def _place(store: Store, root: str, folder: str, findings: list[Finding]) -> str:
    """Return the store path of the folder to write to; a name that leads out is a finding."""
    inner = folder.strip().strip("/").removeprefix(root + "/")
    inner = "" if inner == root else inner
    parts = inner.split("/") if inner else []
    is_plain = not folder.strip().startswith("/") and walk.is_safe_name(inner)
    is_plain = is_plain and all(part and part[0] != "." for part in parts)
    place = _nameable(store, root, parts) if is_plain else root
    full = os.path.join(os.path.realpath(os.path.join(store.base, place)), "")
    is_inside = files.is_below(full, os.path.realpath(store.base))
    if not (is_plain and is_inside and walk.SKIPPED.isdisjoint(place.split("/"))):
        message = f"{folder!r} is no folder below {root}/."
        findings.append(Finding("folder", "folder", message, f"Name one such as {root}/testing."))
    return place


def _nameable(store: Store, root: str, parts: Sequence[str]) -> str:
    """Return a folder's path; a new one is named by slugs: a rule's target is one word."""
    place = root
    for part in parts:
        is_known = part.split() == [part] and os.path.isdir(os.path.join(store.base, place, part))
        place = f"{place}/{part if is_known or part in walk.SKIPPED else slug(part)}"
    return place


def slug(title: str) -> str:
    """Return a file name for a title: its letters, marks and digits, joined by hyphens."""
    normal = unicodedata.normalize("NFC", title).casefold()
    kept = "".join(c if unicodedata.category(c)[0] in "LNM" else " " for c in normal)
    name = re.sub(r" +", "-", kept.strip())[:MAX_SLUG_CHARS]
    short = name.encode("utf-8")[:MAX_SLUG_BYTES].decode("utf-8", "ignore")
    return short.strip("-") or "lesson"


def put_locked(store: Store, path: str, text: str) -> None:
    """Write a lesson's text to a store path; the caller holds the lock. Raises Unwritable."""
    whole = text if text[-1:] == "\n" else text + "\n"
    files.replace(os.path.join(store.base, path), whole, follow=store.base)


def free_path(store: Store, place: str, title: str) -> str:
    """Return the store path of a new lesson in a folder, where no file lies yet."""
    name = slug(title)
    path = f"{place}/{name}.md"
    number = 1
    while os.path.lexists(os.path.join(store.base, path)):
        number += 1
        path = f"{place}/{name}-{number}.md"
    return path


def archive(store: Store, lesson: Lesson, superseded_by: Lesson | None = None) -> bool:
    """Mark a lesson as archived or superseded; False where its file says so already.

    Only those keys of the file change. Raises Refused where its header cannot be read.
    """
    if superseded_by is not None and superseded_by.path == lesson.path:
        raise RoseError(f"{lesson.id} cannot be superseded by itself.")
    changes = {"status": "archived"}
    if superseded_by is not None:
        changes = {"status": "superseded", "superseded_by": superseded_by.id}
    path = os.path.join(store.base, lesson.path)
    place = walk.where(store, lesson.path)
    with files.lock(store.lock):
        try:
            text = files.read_text(path)
        except UnicodeDecodeError as error:
            fault = Finding("not-utf-8", place, "The text is not UTF-8.", "Save it as UTF-8.")
            raise Refused([fault]) from error
        fields, _, findings = frontmatter.read(text, place)
        if findings:
            raise Refused(findings)
        if all(fields.get(key) == value for key, value in changes.items()):
            return False
        files.replace(path, frontmatter.edit(text, changes, place), follow=store.base)
    return True
