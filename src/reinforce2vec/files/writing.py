"""Writing a file atomically: it appears complete or not at all.

Beside a file NAME there is, for a while, `.NAME.<16 hex digits>.part`, an unfinished file. Its
writer holds a lock on it (flock), so that one without a lock was left by a process that was killed,
on whichever machine or in whichever container, and the next writer of NAME removes it.

Network file systems that are mounted without locks treat every file as unlocked: there, a second
writer may remove the unfinished file of the first, which then fails with an error.
"""

from __future__ import annotations

import errno
import gzip
import io
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import IO, Any

from .._util.errors import InputError
from .._util.locks import HAS_LOCKS, lock
from .locks import ATTEMPTS, OPENING, has_name
from .targets import beside, found_beside, is_special, resolve_target, unwritable

_GZIP_LEVEL = 4  # higher levels take several times as long for some percent of size
_PRIVATE = 0o600


# -- before the work ---------------------------------------------------------------------------


class ProbedPath(str):
    """A path that :func:`check_target` has found to be writable, and does not probe again.

    A command checks its outputs first of all, and hands such a path to the function that would
    check it once more.
    """

    __slots__ = ()


def check_target(path: str | os.PathLike[str]) -> Path:
    """Return where a file is to be written, links followed; InputError if that cannot work.

    For long jobs, before the work. Permissions do not reveal read-only disks and quotas, so a small
    file is written and deleted; functions that write at once use :func:`resolve_target`.
    """
    target = resolve_target(path)
    if not isinstance(path, ProbedPath) and not is_special(target):
        _probe(target, path)
    return target


def _probe(target: Path, path: str | os.PathLike[str]) -> None:
    """Write and delete a small file; InputError if that fails."""
    try:
        with begin(target) as (trial,):
            trial.stream.write(b"?")
            trial.stream.flush()
    except OSError as error:
        raise unwritable(path, target, error) from None


# -- writing -----------------------------------------------------------------------------------


@contextmanager
def whole(
    path: Path, packed: bool = False, *, alone: bool = False, like: Path | None = None
) -> Iterator[IO[bytes]]:
    """Open a file for writing atomically: it takes its name only when it is complete.

    It gets the permissions of the file that it replaces, or of one that it is `like`, and nobody
    else can read it before. Devices and named pipes are written to.

    If it is `packed`, what is written is compressed, without a time stamp, so that one seed gives
    one file, byte for byte. With `alone`, the folder is not searched for unfinished files.
    """
    if is_special(path):
        try:
            file = _Device(os.open(path, os.O_WRONLY | getattr(os, "O_CLOEXEC", 0)), path)
        except OSError as error:
            raise InputError(f"{path}: cannot be written to: {error.strerror or error}") from None
        with io.BufferedWriter(file) as stream, _packing(stream, packed) as content:
            yield content
        return
    if not alone:
        remove_abandoned(path)
    with target_named(path), begin(path) as (part,):
        with _packing(part.stream, packed) as content:
            yield content
        part.complete(like)
        os.replace(part.name, path)


def _packing(stream: IO[bytes], packed: bool) -> Any:
    return gzip.GzipFile("", "wb", _GZIP_LEVEL, stream, mtime=0) if packed else nullcontext(stream)


@contextmanager
def target_named(*paths: Path) -> Iterator[None]:
    """Let errors of the block name the file to be written, and not a hidden one beside it."""
    try:
        yield
    except OSError as error:
        names = [Path(str(name)).name for name in (error.filename, error.filename2)]
        for path in paths:
            if any(name.startswith(beside(path, "").name) for name in names):
                raise OSError(error.errno, error.strerror, str(path)) from None
        raise


class _File(io.FileIO):
    """An open file whose errors name it: that of a full disk names none."""

    def __init__(self, file: int, path: Path) -> None:
        super().__init__(file, "wb")
        self.path = path

    def write(self, content: Any) -> Any:
        """Write, as :class:`io.FileIO` does."""
        with self.named():
            return super().write(content)

    @contextmanager
    def named(self) -> Iterator[None]:
        """Name the file in errors of the block."""
        try:
            yield
        except OSError as error:
            if error.filename is None:
                error.filename = str(self.path)
            raise


class _Device(_File):
    """A device or a pipe. Some devices, such as /dev/null, take a seek and stay where they are."""

    def seekable(self) -> bool:
        """Return that it has no places."""
        return False

    def tell(self) -> int:
        """Raise the error of streams without places."""
        raise io.UnsupportedOperation(f"{self.path}: a device has no places")


class Part:
    """An unfinished file: private, with a name that nobody can guess, and locked."""

    def __init__(self, path: Path, token: str) -> None:
        """Make the file; FileExistsError if somebody has removed it before it was locked."""
        self.path, self.name = path, beside(path, f"{token}.part")
        self.kept = False  # even if it has no other name
        file = os.open(self.name, os.O_RDWR | os.O_CREAT | os.O_EXCL | OPENING, _PRIVATE)
        self._file = _File(file, path)
        self.stream = io.BufferedWriter(self._file)
        try:
            if lock(file) is False or not has_name(file, self.name):
                raise FileExistsError(self.name)
        except BaseException:
            self.close()
            raise

    def complete(self, like: Path | None = None) -> None:
        """Write what is left to the disk, and set the permissions."""
        self.stream.flush()
        with self._file.named():
            os.fsync(self._file.fileno())  # so that not even a power failure leaves a part of it
            _set_permissions(self._file.fileno(), like or self.path)
        if not HAS_LOCKS:  # Windows does not rename a file that is open
            self.stream.close()

    def close(self) -> None:
        """Remove the file, unless it has another name by now."""
        with suppress(OSError):  # what is left in the buffer of a file that failed
            self.stream.close()
        if not self.kept:
            with suppress(OSError):  # it is gone, or the disk has become read-only
                self.name.unlink()


@contextmanager
def begin(*paths: Path) -> Iterator[list[Part]]:
    """Make unfinished files, of one token; those that keep their names are removed, last first."""
    with ExitStack() as stack:
        for attempt in range(ATTEMPTS):
            token, parts = secrets.token_hex(8), list[Part]()
            try:
                for path in paths:
                    parts.append(Part(path, token))
                    stack.callback(parts[-1].close)
                break
            except OSError as error:
                if not isinstance(error, FileExistsError) or attempt == ATTEMPTS - 1:
                    raise unwritable(path, path, error) from None
                stack.close()
        yield parts


def remove_abandoned(path: Path, second: Path | None = None) -> None:
    """Remove unfinished files of processes that were killed: those that nobody has locked.

    Those of a pair are removed after that of the `second` file.
    """
    if not HAS_LOCKS:
        return
    for token in found_beside(path, "part"):
        name = beside(path, f"{token}.part")
        if second is not None and beside(second, f"{token}.part").exists():
            continue
        try:
            file = os.open(name, os.O_RDWR | OPENING)
        except OSError:  # it is gone by now, or is that of another user
            continue
        try:
            if lock(file):
                name.unlink(missing_ok=True)
        except OSError:
            pass  # of another user
        finally:
            os.close(file)


def _set_permissions(file: int, path: Path) -> None:
    """Give a new file the permissions of the one that it will replace, or the usual ones.

    If the group cannot be kept, the group that the new file has gets no permissions.
    """
    if not hasattr(os, "fchmod"):  # Windows
        return
    try:
        replaced = os.stat(path)
    except FileNotFoundError:
        _change_mode(file, 0o666 & ~_umask())
        return
    mode, own = stat.S_IMODE(replaced.st_mode) & 0o777, os.fstat(file)
    if (own.st_uid, own.st_gid) != (replaced.st_uid, replaced.st_gid):
        try:
            os.fchown(file, replaced.st_uid if os.geteuid() == 0 else -1, replaced.st_gid)
        except OSError:
            mode &= ~0o070
    _change_mode(file, mode)


def _change_mode(file: int, mode: int) -> None:
    """Set permissions; where a file system has none, or refuses, the file stays private."""
    with suppress(PermissionError, NotImplementedError):
        try:
            os.fchmod(file, mode)
        except OSError as error:
            if error.errno not in (errno.ENOTSUP, errno.ENOSYS, errno.EINVAL):
                raise


def _umask() -> int:
    """Return the permissions that new files do not get; to ask for them is to set them."""
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as status:
            return next(int(line.split()[1], 8) for line in status if line.startswith("Umask:"))
    except (OSError, StopIteration, ValueError):  # not Linux; other threads must not open files now
        found = os.umask(0o077)
        os.umask(found)
        return found
