"""One run at a time writes to a file.

While a run writes to NAME, it holds a lock on `.NAME.lock`. Network file systems that are mounted
without locks, and Windows, treat every file as unlocked.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from .._util.errors import InputError
from .._util.locks import HAS_LOCKS, lock
from .targets import beside, is_special, is_stdout, resolve_target, unwritable

_FLAGS = ("O_NOFOLLOW", "O_CLOEXEC", "O_BINARY", "O_NONBLOCK")
OPENING = sum(getattr(os, name, 0) for name in _FLAGS)
"""How hidden files are opened: a link or a pipe that others have put there is not followed."""
ATTEMPTS = 10_000
"""How often a hidden file is made again if somebody else has removed it meanwhile."""


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
    for _ in range(ATTEMPTS):
        try:
            file = os.open(name, os.O_RDWR | os.O_CREAT | OPENING, 0o666)
        except PermissionError:  # of another user, whose run may have been killed
            file = os.open(name, os.O_RDONLY | OPENING)
        try:
            if lock(file) is False:
                raise BlockingIOError(errno.EAGAIN, "locked", str(name))
            if has_name(file, name):
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


def has_name(file: int, name: Path) -> bool:
    """Return whether a name is that of an open file."""
    try:
        return os.path.samestat(os.fstat(file), os.stat(name, follow_symlinks=False))
    except FileNotFoundError:
        return False
