"""Temporary folders that are removed after their program, even if it is killed: by the next one."""

from __future__ import annotations

import glob
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

from .locks import HAS_LOCKS, lock


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
