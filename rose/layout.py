"""Finds the stores and names every path in them.

The lookup rule (docs/store.md): the nearest `.rose/` upward, strictly below HOME, never in a folder
of someone else; a git worktree uses its main checkout. docs/store.md has one entry per path.
"""

from __future__ import annotations

import os
import stat

from rose.errors import NoStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class Store:
    """One store: its base folder, its own folder below it, and the paths inside."""

    def __init__(self, base: str, dot: str, kind: str) -> None:
        self.base = base
        self.dot = dot
        self.kind = kind
        # What goes before a rule's targets where they would lead nowhere from a project.
        self.prefix = base if kind == "home" else None
        inside = os.path.join(dot, "")
        self.routing = inside + "routing"
        self.rejections = inside + "rejections"
        self.config = inside + "config.yaml"
        self.index = inside + "index.md"
        self.local = inside + "local"
        local = inside + "local/"
        self.layer = local + "layer.json"
        self.sessions = local + "sessions"
        self.blocks = local + "blocks"
        self.begun = local + "begun"
        self.queue = local + "queue"
        self.undo = local + "undo"
        self.trace = local + "traces/reflect.jsonl"
        self.selections = local + "traces/selection.jsonl"
        self.log = local + "log/hook.jsonl"
        self.writer = local + "writer"
        self.spend = local + "spend.jsonl"
        self.answers = local + "answers"
        self.lock = local + "lock"
        self.queue_lock = local + "queue.lock"
        self.spend_lock = local + "spend.lock"
        self.selections_lock = local + "selection.lock"
        self.worker_lock = local + "worker.lock"
        self.next_worker_lock = local + "worker.next.lock"
        self.lessons_cache = local + "lessons.json"
        self.rules_cache = local + "rules.json"
        self.ledger_cache = local + "ledger.json"
        self.standings_cache = local + "standings.json"
        self.costs_cache = local + "tokens.json"
        self.words_cache = local + "words.json"
        self.selection_cache = local + "selection.json"
        self.search = local + "search.db"
        self.search_state = local + "search.json"
        self.search_lock = local + "search.lock"

    @property
    def lessons_changes(self) -> str:
        """Return the file of what changed since the cache of lessons was written."""
        return self.local + "/lessons.changes.json"

    @property
    def skips(self) -> str:
        """Return the file that says what the lessons of skip rules were."""
        return self.local + "/skips.jsonl"

    def block(self, digest: str) -> str:
        """Return the file that keeps a block which was sent."""
        return f"{self.blocks}/{digest}.txt"

    def ledger(self, share: str) -> str:
        """Return the ledger's folder; `share` is the setting `ledger.share`."""
        return os.path.join(self.dot if share == "commit" else self.local, "ledger")


class Stores:
    """The stores that apply in one place, and the sentence that says why."""

    __slots__ = ("home", "project", "reason")

    def __init__(self, project: Store | None, home: Store | None, reason: str) -> None:
        self.project = project
        self.home = home
        self.reason = reason

    def present(self) -> list[Store]:
        """Return the stores that exist, the project's first."""
        return [store for store in (self.project, self.home) if store is not None]

    def first(self) -> Store:
        """Return the store that new things are written to; raises NoStore."""
        for store in self.present():
            return store
        raise NoStore(f"No store: {self.reason} Run `rose init` in the project's folder.")


def project_store(base: str) -> Store:
    return Store(base, os.path.join(base, ".rose"), "project")


def home_store(environ: Mapping[str, str]) -> Store | None:
    """Return the home store as it would lie, present or not; None without a usable HOME."""
    named = environ.get("ROSE_HOME", "")
    home = environ.get("HOME", "")
    if not named and not home:
        return None
    base = os.path.realpath(named or os.path.join(home, ".rose"))
    return Store(base, base, "home")


def find(cwd: str, environ: Mapping[str, str]) -> Stores:
    """Return the project's store and the home store that apply in a directory."""
    home = home_store(environ)
    project, reason = _project(cwd, environ, home)
    if home is not None and not _is_own_folder(home.dot):
        home = None
    return Stores(project, home, reason)


def _project(cwd: str, environ: Mapping[str, str], home: Store | None) -> tuple[Store | None, str]:
    refused = ""
    for folder, why in _places(cwd, environ.get("HOME", "")):
        dot = os.path.join(folder, ".rose")
        if home is not None and _same(dot, home.dot):
            continue
        if _is_own_folder(dot):
            return project_store(folder), why
        if not refused and os.path.lexists(dot):
            refused = f"{dot} is not a folder of this user, so it is not used."
    return None, refused or f"no .rose/ in {cwd} or above it."


def _places(cwd: str, home: str) -> Iterator[tuple[str, str]]:
    """Yield the folders in which a store may lie, nearest first, each with the reason."""
    start = os.path.realpath(cwd)
    top = os.path.realpath(home) if home else ""
    chain = list(_upward(start, top))
    checkout, main = _worktree(chain)
    inside = main is not None
    for folder in chain:
        if inside and main is not None and checkout is not None:
            why = f"{folder} is in a git worktree; its main checkout's store is used."
            yield _twin(folder, checkout, main), why
        yield folder, "the nearest .rose/ upward."
        if inside and main is not None and folder == checkout:
            inside = False
            for above in list(_upward(main, top))[1:]:
                yield above, f"{folder} is a git worktree; the nearest .rose/ above {main}."


def _worktree(chain: list[str]) -> tuple[str | None, str | None]:
    """Return the nearest checkout in a chain of folders, and the main one if it is a worktree."""
    checkout = next((f for f in chain if os.path.lexists(os.path.join(f, ".git"))), None)
    return checkout, None if checkout is None else _main_checkout(checkout)


def _twin(folder: str, checkout: str, main: str) -> str:
    return os.path.normpath(os.path.join(main, os.path.relpath(folder, checkout)))


def new_base(cwd: str) -> str:
    """Return the folder for a new store: the directory, or its like in the main checkout."""
    start = os.path.realpath(cwd)
    checkout, main = _worktree(list(_upward(start, "")))
    if checkout is None or main is None:
        return start
    twin = _twin(start, checkout, main)
    return twin if os.path.isdir(twin) else main


def _upward(start: str, home: str) -> Iterator[str]:
    """Yield a folder and those above it, stopping below HOME and at other people's."""
    if home and _same(start, home):
        return
    folder = start
    while True:
        yield folder
        above = os.path.dirname(folder)
        if above == folder or (home and above == home) or not _is_ours(above):
            return
        folder = above


def _main_checkout(checkout: str) -> str | None:
    """Return the main checkout of a git worktree, None for any other folder.

    Only a worktree that git's own folder points back at is followed: a `.git` file is text
    that anyone can write.
    """
    marker = os.path.join(checkout, ".git")
    try:
        if not stat.S_ISREG(os.lstat(marker).st_mode):
            return None
        head, _, named = _first_line(marker).partition("gitdir: ")
        if head or not named:
            return None
        gitdir = os.path.realpath(os.path.join(checkout, named))
        if os.path.basename(os.path.dirname(gitdir)) != "worktrees":
            return None
        back = os.path.join(gitdir, _first_line(os.path.join(gitdir, "gitdir")))
        common = os.path.dirname(os.path.dirname(gitdir))
        known = _same(back, marker) and os.path.basename(common) == ".git"
    except (OSError, ValueError):
        return None
    return os.path.dirname(common) if known and _is_ours(os.path.dirname(common)) else None


def _first_line(path: str) -> str:
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return ""
        return os.fsdecode(os.read(descriptor, 4096).partition(b"\n")[0]).strip()
    finally:
        os.close(descriptor)


def _same(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def _is_own_folder(path: str) -> bool:
    return os.path.isdir(path) and _is_ours(path)


def _is_ours(path: str) -> bool:
    if not hasattr(os, "geteuid"):
        return True
    try:
        return os.stat(path).st_uid == os.geteuid()
    except OSError:
        return False


def commit_lock(git_dir: str) -> str:
    """Return the lock of rose's commits to one repository, in git's own folder."""
    return os.path.join(git_dir, "rose.lock")


def session_name(host: str, session: str) -> str:
    """Return the file name that stands for a session: its id is never used as a path."""
    return digest(f"{host}\n{session}")


def digest(text: str) -> str:
    """Return the SHA-256 of a text in hex, without the cost of loading OpenSSL."""
    data = text.encode("utf-8", "surrogatepass")
    # hashlib loads OpenSSL, which the hook cannot afford; the built-in hash is the same one.
    try:
        from _sha2 import sha256  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        try:
            from _sha256 import sha256  # type: ignore[import-not-found,unused-ignore]
        except ImportError:
            from hashlib import sha256
    return str(sha256(data).hexdigest())
