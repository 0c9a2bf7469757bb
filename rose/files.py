"""Reads and writes files: atomic replace, locked append, JSON lines, the lock.

On the prompt hook's path: nothing is imported at the top but os, stat and time.
"""

from __future__ import annotations

import os
import stat
import time

from rose.errors import Locked, Unwritable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

LOCK_POLL_S = 0.01
JSON_SPACE = " \t\n\r"
# How long a command waits for another process before it says so.
LOCK_WAIT_S = 10.0
MOST_BYTES = 1 << 29
# errno.EINVAL; the module itself costs an import.
BAD_DATA = 22
NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
APPEND_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | NO_FOLLOW


def read_text(path: str) -> str:
    """Return a file's text; raises OSError or UnicodeDecodeError (a ValueError)."""
    return read_bytes(path).decode("utf-8")


def read_bytes(path: str, most: int = MOST_BYTES) -> bytes:
    """Return a regular file's bytes; raises OSError for anything else, and for a larger file.

    Opened without waiting: a pipe or a device in place of a file must not hold a prompt.
    """
    descriptor = _open_regular(path, most)
    try:
        parts = []
        while part := os.read(descriptor, 1 << 20):
            parts.append(part)
    finally:
        os.close(descriptor)
    return b"".join(parts)


def _open_regular(path: str, most: int) -> int:
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    found = os.fstat(descriptor)
    if stat.S_ISREG(found.st_mode) and found.st_size <= most:
        return descriptor
    os.close(descriptor)
    kind = "too large" if stat.S_ISREG(found.st_mode) else "no regular file"
    raise OSError(BAD_DATA, kind, path)


def replace(path: str, data: bytes | str, *, follow: str | None = None, mode: int = 0o644) -> None:
    """Write a file whole or not at all, creating its folder; `mode` is that of a new file.

    A symbolic link on the way is refused, and one in the file's own place is replaced: a store
    may come with a cloned repository. With `follow` a link stays a link and its target is written,
    which must lie below that folder and be what `links` lets a write lead to. Raises Unwritable
    and leaves the old file as it was.
    """
    raw = data.encode("utf-8") if isinstance(data, str) else data
    target = _target(path, follow)
    temporary = f"{target}.{os.getpid()}.{time.monotonic_ns():x}.tmp"
    try:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        kept = _mode_of(target)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, kept or mode)
        try:
            if kept is not None:
                # The umask must not take away what an existing file grants.
                os.fchmod(descriptor, kept)
            _write_all(descriptor, raw)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(temporary, target)
    except OSError as error:
        _discard(temporary)
        raise Unwritable(f"{path}: not written: {error.strerror or error}.") from error
    except BaseException:
        # The hook's deadline or an interrupt: leave no temporary file beside the target.
        _discard(temporary)
        raise


def _target(path: str, follow: str | None) -> str:
    """Return the path to change; raises Unwritable where a link leads elsewhere."""
    folder = os.path.dirname(path)
    if follow is None:
        if os.path.realpath(folder) != os.path.normpath(folder):
            raise Unwritable(f"{path}: not changed: a folder on the way is a link.")
        return path
    target, top = os.path.realpath(path), os.path.realpath(follow)
    if not is_below(target, top):
        raise Unwritable(f"{path}: not written: it is a link that leads out of {follow}.")
    from rose import links

    if fault := links.fault(path, target, top):
        raise Unwritable(f"{path}: not written: {fault}.")
    return target


def delete(path: str) -> bool:
    """Delete a file, the link itself where it is one; False where there is none.

    A link on the way to it is refused as by `replace`. Raises Unwritable.
    """
    _target(path, None)
    try:
        os.unlink(path)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise Unwritable(f"{path}: not deleted: {error.strerror or error}.") from error
    return True


def is_below(path: str, folder: str) -> bool:
    """Tell whether a resolved path lies below a resolved folder."""
    return path.startswith(folder.rstrip(os.sep) + os.sep)


def append_line(path: str, line: str) -> None:
    """Append one line in one write, creating the file and its folder.

    A torn tail is closed first, and a write that came out short is taken back, so that neither
    spoils a neighbour. A link is refused as by `replace`. Raises Unwritable.
    """
    _target(path, None)
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        descriptor = os.open(path, APPEND_FLAGS, 0o644)
        try:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                raise OSError(BAD_DATA, "no regular file")
            size = found.st_size
            torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
            raw = ("\n" if torn else "").encode() + line.encode("utf-8") + b"\n"
            written = os.write(descriptor, raw)
            if written != len(raw):
                _take_back(descriptor, size, written)
                raise OSError(28, "No space left on device")
        finally:
            os.close(descriptor)
    except OSError as error:
        raise Unwritable(f"{path}: not written: {error.strerror or error}.") from error


def _take_back(descriptor: int, size: int, written: int) -> None:
    """Cut a short write off again, unless another writer has appended behind it."""
    if os.fstat(descriptor).st_size == size + written:
        os.ftruncate(descriptor, size)


def _write_all(descriptor: int, raw: bytes) -> None:
    view = memoryview(raw)
    while view:
        view = view[os.write(descriptor, view) :]


def _mode_of(path: str) -> int | None:
    try:
        return os.stat(path).st_mode & 0o777
    except FileNotFoundError:
        return None


def _discard(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        # It was never made, or was already moved into place.
        return


class lock:  # noqa: N801 - used like a function: `with lock(path, wait_s)`
    """Hold an exclusive lock on a file for the length of a `with` block.

    The kernel frees it when the holder dies, so no lock is ever stale. Raises Locked after
    `wait_s` seconds, Unwritable where the lock file cannot be made.
    """

    def __init__(self, path: str, wait_s: float | None = None) -> None:
        self.path = path
        self.wait_s = LOCK_WAIT_S if wait_s is None else wait_s
        self.descriptor = -1

    def __enter__(self) -> None:
        _target(self.path, None)
        try:
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
            self.descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | NO_FOLLOW, 0o644)
        except OSError as error:
            raise Unwritable(f"{self.path}: not locked: {error.strerror or error}.") from error
        deadline = time.monotonic() + self.wait_s
        while not _try_lock(self.descriptor):
            if time.monotonic() >= deadline:
                os.close(self.descriptor)
                raise Locked(f"{self.path}: held by another rose process. Try again.")
            time.sleep(LOCK_POLL_S)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self.descriptor)


def _try_lock(descriptor: int) -> bool:
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def stat_stamp(path: str) -> list[int] | None:
    """Return [mtime ns, ctime ns, size, inode] of a file, None where there is none."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return [found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino]


class _Syntax:
    """What the C scanner of the standard library reads from its caller."""

    strict = False
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float
    memo: dict[str, str] = {}  # noqa: RUF012 - the scanner's own cache, emptied by it


def parse_json(text: str) -> object:
    """Return the value of a JSON text; raises ValueError.

    The scanner behind the standard `json` is called directly: importing the package alone
    doubles the cost of a prompt (docs/measurements.md).
    """
    try:
        from _json import make_scanner
    except ImportError:
        import json

        return json.loads(text)
    start = len(text) - len(text.lstrip(JSON_SPACE))
    try:
        value, end = make_scanner(_Syntax)(text, start)  # type: ignore[arg-type]
    except (StopIteration, SystemError) as error:
        # The scanner looks for its error class in a package that nobody has imported.
        raise ValueError("no JSON value") from error
    except RecursionError as error:
        raise ValueError("JSON nested too deeply") from error
    if text[end:].strip(JSON_SPACE):
        raise ValueError("text after the JSON value")
    return value


def dump_json(value: object) -> str:
    """Return compact JSON in ASCII with sorted keys; lone surrogates become escapes."""
    import json

    return json.dumps(value, separators=(",", ":"), sort_keys=True)


def read_jsonl(path: str) -> Iterator[tuple[int, dict[str, object]]]:
    """Yield the objects of a JSON-lines file with their line numbers, streamed.

    Torn and foreign lines are passed over: a record is only ever appended to, so the lines
    around a bad one still count. A missing file holds no lines.
    """
    try:
        descriptor = _open_regular(path, MOST_BYTES)
    except FileNotFoundError:
        return
    with open(descriptor, "rb") as stream:
        for number, raw in enumerate(stream, 1):
            try:
                value = parse_json(raw.decode("utf-8"))
            except ValueError:
                continue
            if isinstance(value, dict):
                yield number, value
