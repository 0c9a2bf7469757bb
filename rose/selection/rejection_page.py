"""The page of rejections: one hand-editable Markdown file a session, `.rose/rejections/s_….md`.

What is written is first read back: a page that its reader would not take is refused, and the one
that is there stays. A link is followed as far as a lesson's is.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from rose import files, frontmatter, layout, links
from rose.findings import Finding, Refused, errors
from rose.routing import rules
from rose.selection import rejections, session_id
from rose.selection.rejections import Page
from rose.store import walk

if TYPE_CHECKING:
    from collections.abc import Callable

    from rose.layout import Store
    from rose.selection.rejections import Rejection

MOST_BYTES = 1 << 20
# What is meant for a page, whoever wrote it there.
_NAMED = re.compile(r"s_.*\.md")


def path_of(store: Store, session: str) -> str:
    """Return a session's file; the id comes from outside and is never a path."""
    name = layout.digest(session_id.kept(session))[:16]
    return os.path.join(store.rejections, f"s_{name}.md")


def of_session(store: Store, session: str) -> Page:
    """Return what one session turned down; nothing of a file that names another session."""
    path = path_of(store, session)
    try:
        os.lstat(path)
    except FileNotFoundError:
        return Page()
    except OSError as error:
        return Page((), (_unreadable(store, path, error.strerror or str(error)),))
    return _page(store, path)


def read(store: Store) -> Page:
    """Return what all sessions turned down, file by file."""
    folder = store.rejections
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".md"))
    except FileNotFoundError:
        return Page()
    except OSError as error:
        reason = f"The rejections cannot be listed: {error.strerror or error}."
        fault = Finding("rejections-unreadable", folder, reason, "Make it a readable folder.")
        return Page((), (fault,))
    pages = [_listed(store, name) for name in names]
    rows = tuple(row for page in pages for row in page.rows)
    findings = [finding for page in pages for finding in page.findings]
    return Page(rows, tuple(dict.fromkeys(findings)))


def _listed(store: Store, name: str) -> Page:
    """Return what a file among the rejections holds; forgotten rules and notes hold nothing."""
    path = os.path.join(store.rejections, name)
    if _NAMED.fullmatch(name):
        return _page(store, path)
    if name[0] == "." or rules.ID.fullmatch(name[:-3]):
        return Page()
    text, findings = _text(store, path)
    fields, _, _ = frontmatter.read(text, name)
    is_meant = "session" in fields or fields.get("kind") == rejections.KIND
    return _page(store, path) if is_meant else Page((), tuple(findings))


def add(
    store: Store, new: Rejection, is_enough: Callable[[Rejection], bool] = lambda _: True
) -> Rejection:
    """Add a rejection to its session's file and return it, or the same one if it is there.

    One in the same words stands for it where `is_enough` says so. Raises Refused where the file
    cannot be read, or could not be afterwards: it is then left as it is. Raises Locked, Unwritable.
    """
    row = rejections.clean(new)
    path = path_of(store, row.session)
    with files.lock(store.lock):
        text = _written(store, path, row.session)
        if text is None:
            text = rejections.head(row.session)
        page = rejections.parse(text, _where(store, path))
        for old in page.rows:
            if _key(old) == _key(row) and is_enough(old):
                return old
        gap = "\n" if text.endswith("\n") else "\n\n"
        whole = text + gap + rejections.section(row)
        if fault := _fault(store, path, whole, [*page.rows, row]):
            raise Refused([fault])
        # A folder that is a link is refused, a page that is one was looked at when it was read.
        follow = store.base if os.path.islink(path) else None
        files.replace(path, whole, follow=follow)
    return row


def _key(one: Rejection) -> tuple[object, ...]:
    return one.node, one.version, one.query, one.why, one.scope


def _fault(store: Store, path: str, text: str, rows: list[Rejection]) -> Finding | None:
    """Return why a page must not become this text, in which some rejections are meant to stand."""
    where = _where(store, path)
    is_safe = walk.is_safe_name(rows[-1].node)
    size = len(text.encode()) if is_safe else 0
    if size > MOST_BYTES:
        message = f"It would have {size:,} bytes, and no page of more than {MOST_BYTES:,} is read."
        repair = "Take sections out of it that matter no more."
        return Finding("rejections-full", where, message, repair)
    back = rejections.parse(text, where).rows
    placeless = [[replace(row, where="") for row in some] for some in (back, rows)]
    if is_safe and placeless[0] == placeless[1]:
        return None
    message = "The session, the lesson or the query cannot stand in a section."
    return Finding("rejection-unfit", where, message, "Say each in words on one line.")


def _written(store: Store, path: str, session: str) -> str | None:
    """Return the text of a session's file, None where there is none yet; raises Refused."""
    if not os.path.lexists(path):
        return None
    where = _where(store, path)
    text, findings = _text(store, path)
    if not findings:
        fields, findings = rejections.header(text, where)
        if not errors(findings) and fields["session"] != session:
            message = f"The file names the session {fields['session'][:60]!r}."
            repair = f"Write session: {session}."
            findings.append(rejections.broken(f"{where}:1", message, repair))
    if errors(findings):
        raise Refused(findings)
    return text


def _where(store: Store, path: str) -> str:
    return os.path.relpath(path, store.base) if store.kind == "project" else path


def _unreadable(store: Store, path: str, why: str) -> Finding:
    message = f"The file cannot be read: {why}."
    return rejections.broken(_where(store, path), message, "Mend it, or move it away.")


def _text(store: Store, path: str) -> tuple[str, list[Finding]]:
    if fault := _misleads(store, path):
        return "", [_unreadable(store, path, fault)]
    try:
        return files.read_bytes(path, MOST_BYTES).decode("utf-8"), []
    except (OSError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        return "", [_unreadable(store, path, said or str(error))]


def _misleads(store: Store, path: str) -> str:
    """Return why a file is not to be had by its name, empty where it may be: a clone has links."""
    folder, top = os.path.realpath(store.rejections), os.path.realpath(store.base)
    if folder != os.path.join(os.path.realpath(store.dot), os.path.basename(store.rejections)):
        return "its folder is a link"
    if not os.path.islink(path):
        return ""
    target = os.path.realpath(path)
    if not files.is_below(target, top):
        return f"it is a link that leads out of {store.base}"
    return links.fault(path, target, top)


def _page(store: Store, path: str) -> Page:
    """Return what a page holds; what lies under another name than its session's is inert."""
    text, findings = _text(store, path)
    page = Page((), tuple(findings)) if findings else rejections.parse(text, _where(store, path))
    if page.rows and path_of(store, page.rows[0].session) != path:
        own = os.path.basename(path_of(store, page.rows[0].session))
        message = "The file has not the name of its session's page, so nothing of it counts."
        fault = rejections.broken(_where(store, path), message, f"Call it {own}.")
        return Page((), (*page.findings, fault))
    return page
