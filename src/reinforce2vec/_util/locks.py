"""Locks on open files and folders (flock), which end with the process, even if it is killed."""

from __future__ import annotations

import errno

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
