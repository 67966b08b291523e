"""Writing a file atomically: it appears complete or not at all.

Beside a file NAME there is, for a while, `.NAME.<16 hex digits>.part`, an unfinished file. Its
writer holds a lock on it (flock), so that one without a lock was left by a process that was killed,
on whichever machine or in whichever container, and the next writer of NAME removes it.

Network file systems that are mounted without locks treat every file as unlocked: there, a second
writer may remove the unfinished file of the first, which then fails with an error.

While a run writes to NAME, it holds a lock on `.NAME.lock`, so that a second run is refused.
"""

from __future__ import annotations

import errno
import gzip
import io
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import IO, Any

from .._util.errors import InputError
from .._util.locks import HAS_LOCKS, lock
from .targets import beside, is_special, is_stdout, resolve_target, unwritable

_GZIP_LEVEL = 4  # higher levels take several times as long for some percent of size
_FLAGS = ("O_NOFOLLOW", "O_CLOEXEC", "O_BINARY", "O_NONBLOCK")
# hidden files: a link or a pipe that others have put there is not followed
_OPENING = sum(getattr(os, name, 0) for name in _FLAGS)
_ATTEMPTS = 10_000  # to make a hidden file that somebody else has removed meanwhile
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


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
        try:
            with _unfinished(target) as (_, stream):
                stream.write(b"?")
                stream.flush()
        except OSError as error:
            raise unwritable(path, target, error) from None
    return target


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
            device = _Device(os.open(path, os.O_WRONLY | getattr(os, "O_CLOEXEC", 0)), "wb")
        except OSError as error:
            raise InputError(f"{path}: cannot be written to: {error.strerror or error}") from None
        with io.BufferedWriter(device) as buffered, _packing(buffered, packed) as content:
            yield content
        return
    if not alone:
        remove_abandoned(path)
    written = False
    try:
        with _unfinished(path) as (name, stream):
            with _packing(stream, packed) as content:
                yield content
            written = True
            stream.flush()
            os.fsync(stream.fileno())  # so that not even a power failure leaves a part of it
            _set_permissions(stream.fileno(), like or path)
            if not HAS_LOCKS:  # Windows does not rename a file that is open
                stream.close()
            os.replace(name, path)
    except OSError as error:  # that of a full disk names no file, others the hidden one
        hidden = Path(str(error.filename)).name.startswith(beside(path, "").name)
        if hidden or (error.filename is None and (written or error.errno in _FULL)):
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise


def _packing(stream: IO[bytes], packed: bool) -> Any:
    return gzip.GzipFile("", "wb", _GZIP_LEVEL, stream, mtime=0) if packed else nullcontext(stream)


class _Device(io.FileIO):
    """A device or a pipe. Some devices, such as /dev/null, take a seek and stay where they are."""

    def seekable(self) -> bool:
        """Return that it has no places."""
        return False

    def tell(self) -> int:
        """Raise the error of streams without places."""
        raise io.UnsupportedOperation("a device has no places")


@contextmanager
def _unfinished(path: Path) -> Iterator[tuple[Path, IO[bytes]]]:
    """Make an unfinished file: private, with a name that nobody can guess, and locked.

    It is removed at the end, unless it has another name by then.
    """
    for _ in range(_ATTEMPTS):
        name = beside(path, f"{secrets.token_hex(8)}.part")
        try:
            stream = os.fdopen(
                os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | _OPENING, 0o600), "wb"
            )
        except FileExistsError:
            continue
        except OSError as error:
            raise unwritable(path, path, error) from None
        if lock(stream.fileno()) is not False and _has_name(stream.fileno(), name):
            break
        stream.close()  # another writer has removed it before it was locked
    else:
        raise InputError(f"{path}: other programs remove its unfinished files: write elsewhere")
    try:
        yield name, stream
    finally:
        with suppress(OSError):  # what is left in the buffer of a file that failed
            stream.close()
        with suppress(OSError):  # it has its name, or the disk has become read-only
            name.unlink()


def remove_abandoned(path: Path) -> None:
    """Remove unfinished files of processes that were killed: those that nobody has locked."""
    pattern = re.compile(rf"{re.escape(beside(path, '').name)}[0-9a-f]{{16}}\.part")
    with suppress(OSError):
        for entry in os.scandir(path.parent) if HAS_LOCKS else ():
            if pattern.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                with suppress(OSError):  # it is gone by now, or is that of another user
                    file = os.open(entry.path, os.O_RDWR | _OPENING)
                    try:
                        if lock(file):
                            os.unlink(entry.path)
                    finally:
                        os.close(file)


def _set_permissions(file: int, path: Path) -> None:
    """Give a new file the permissions of the one that it will replace, or the usual ones.

    If the group cannot be kept, the group that the new file has gets no permissions. Where a file
    system has no permissions, or refuses, the file stays private.
    """
    if not hasattr(os, "fchmod"):  # Windows
        return
    try:
        replaced = os.stat(path)
    except FileNotFoundError:
        mode = 0o666 & ~_umask()
    else:
        mode, own = stat.S_IMODE(replaced.st_mode) & 0o777, os.fstat(file)
        if (own.st_uid, own.st_gid) != (replaced.st_uid, replaced.st_gid):
            try:
                os.fchown(file, replaced.st_uid if os.geteuid() == 0 else -1, replaced.st_gid)
            except OSError:
                mode &= ~0o070
    with suppress(OSError, NotImplementedError):
        os.fchmod(file, mode)


def _umask() -> int:
    """Return the permissions that new files do not get; to ask for them is to set them."""
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as status:
            return next(int(line.split()[1], 8) for line in status if line.startswith("Umask:"))
    except (OSError, StopIteration, ValueError):  # not Linux; other threads must not open files now
        mask = os.umask(0o077)
        os.umask(mask)
        return mask


# -- one run at a time ---------------------------------------------------------------------------


@contextmanager
def claimed(*paths: str | os.PathLike[str]) -> Iterator[None]:
    """Keep other runs from writing to files while the block runs; InputError if one does already.

    A lock file lies beside each. If the process is killed, the lock is gone at once, and the next
    run removes the file.
    """
    with ExitStack() as stack:
        for path in paths:
            if is_stdout(path) or is_special(path):
                continue
            target = resolve_target(path)
            try:
                stack.enter_context(_locked(beside(target, "lock")))
            except BlockingIOError:
                raise InputError(
                    f"{path}: another run is writing to it: wait until that has ended, or choose "
                    "another name"
                ) from None
            except OSError as error:
                raise unwritable(path, target, error) from None
        yield


@contextmanager
def _locked(name: Path) -> Iterator[None]:
    """Hold the lock on a file, made for it and then removed; BlockingIOError if it is taken."""
    for _ in range(_ATTEMPTS):
        try:
            file = os.open(name, os.O_RDWR | os.O_CREAT | _OPENING, 0o666)
        except PermissionError:  # of another user, whose run may have been killed
            file = os.open(name, os.O_RDONLY | _OPENING)
        try:
            if lock(file) is False:
                raise BlockingIOError(errno.EAGAIN, "locked", str(name))
            if _has_name(file, name):
                break
        except BaseException:
            os.close(file)
            raise
        os.close(file)  # who had the lock before has removed the file
    else:
        raise BlockingIOError(errno.EAGAIN, "it is removed again and again", str(name))
    try:
        yield
    finally:
        if not HAS_LOCKS:  # Windows removes no file that is open
            os.close(file)
        with suppress(OSError):
            name.unlink()
        if HAS_LOCKS:
            os.close(file)


def _has_name(file: int, name: Path) -> bool:
    """Return whether a name is that of an open file."""
    try:
        return os.path.samestat(os.fstat(file), os.stat(name, follow_symlinks=False))
    except FileNotFoundError:
        return False
