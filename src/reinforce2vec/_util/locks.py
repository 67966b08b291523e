"""Locks on open files and folders (flock), which end with the process, even if it is killed."""

from __future__ import annotations

import errno
import glob
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

try:
    import fcntl
except ImportError:  # on Windows nothing is locked
    fcntl = None  # type: ignore[assignment]

HAS_LOCKS = fcntl is not None
"""Whether the system knows such locks."""
_UNSUPPORTED = (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EBADF, errno.EINVAL)


def lock(file: int, wait: bool = False, shared: bool = False) -> bool | None:
    """Lock an open file; False if somebody else has locked it, None where that is not supported."""
    if fcntl is None:
        return None
    how = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    try:
        fcntl.flock(file, how | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno in _UNSUPPORTED:
            return None
        raise
    return True


@contextmanager
def temporary_folder(place: str, prefix: str) -> Iterator[str]:
    """Make a folder in another one, for this user alone, and remove it after the block.

    Folders with this prefix of programs that were killed are removed.
    """
    _remove_abandoned(place, prefix)
    with ExitStack() as ending:
        folder = ""
        is_locked: bool | None = False
        while is_locked is False or not os.path.isdir(folder):  # it was taken for abandoned
            folder = tempfile.mkdtemp(prefix=prefix, dir=place)
            is_locked = ending.enter_context(_lock(folder))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _remove_abandoned(place: str, prefix: str) -> None:
    """Remove folders of programs that were killed: nobody holds their locks any more."""
    for folder in glob.glob(os.path.join(glob.escape(place), prefix + "*")):
        with _lock(folder, alone=True) as is_locked:
            if is_locked:
                shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _lock(folder: str, alone: bool = False) -> Iterator[bool | None]:
    """Lock a folder of this user in this block; yield whether it is, None where that cannot be.

    The system ends the lock with the program. An id of a process in the name would not do, since
    programs in several containers can have the same id.
    """
    with ExitStack() as ending:
        is_locked = None
        with suppress(OSError):
            if HAS_LOCKS:  # not on Windows
                descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
                ending.callback(os.close, descriptor)
                if os.fstat(descriptor).st_uid == os.getuid():
                    is_locked = lock(descriptor, shared=not alone)
        yield is_locked
