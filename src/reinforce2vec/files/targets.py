"""Names of files to write, and checks to make before the work that a file is the result of."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from .._util.checks import check_path
from .._util.errors import InputError
from .._util.progress import readable_bytes

_LONGEST = 120  # bytes of names that hidden files repeat: encrypted folders take 143 in all


def known_suffix(path: Path, suffixes: Iterable[str], purpose: str) -> str:
    """Return which of the suffixes a file has; InputError that lists them if it has none."""
    for suffix in suffixes:
        if path.name.lower().endswith(suffix):
            return suffix
    raise InputError(f"{path}: {purpose} files that end in one of {' '.join(suffixes)}")


def resolve_target(path: str | os.PathLike[str]) -> Path:
    """Return where a file is to be written, links followed; InputError if there is no such folder.

    Nothing is written.
    """
    check_path(path)
    if is_special(path):
        if not os.access(path, os.W_OK):
            raise InputError(f"{path}: no permission to write to this device or pipe")
        return Path(path)
    target = Path(os.path.realpath(path))  # a link stays a link
    folder = target.parent
    try:
        status = os.lstat(target)
    except (FileNotFoundError, NotADirectoryError):
        status = None
    except OSError as error:  # the name is too long
        reason = error.strerror or str(error)
        raise InputError(f"{path}: cannot be written: {reason}: choose another name") from None
    if status is not None and stat.S_ISLNK(status.st_mode):
        raise InputError(f"{path}: this link leads back to itself: choose another name")
    if status is not None and stat.S_ISDIR(status.st_mode):
        raise InputError(f"{path}: this is a folder, expected the name of a file")
    if not folder.is_dir():
        raise InputError(f"{path}: the folder {folder} does not exist: make it first")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(f"{path}: no permission to write to the folder {folder}")
    if status is not None and hasattr(os, "geteuid"):  # not Windows
        around = os.stat(folder)
        users = (0, status.st_uid, around.st_uid)
        if around.st_mode & stat.S_ISVTX and os.geteuid() not in users:  # as in /tmp
            raise InputError(
                f"{path}: this file belongs to another user, and nobody else may replace it in the "
                f"folder {folder}: choose another name"
            )
    return target


def is_special(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is a device or a named pipe: it is written to, and not replaced."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def check_no_device(path: str | os.PathLike[str]) -> None:
    """Raise InputError for a device or a named pipe, in place of a file to resume from."""
    if is_special(path):
        raise InputError(
            f"{path}: this is a device or a pipe, from which nothing can be resumed: choose "
            "another name"
        )


def check_space(path: Path, needed: float) -> None:
    """Raise InputError if the disk has no room for a file of about `needed` bytes."""
    if is_special(path):
        return
    folder = path.parent
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise InputError(
            f"{path}: the file will take about {readable_bytes(needed)}, but the disk of {folder} "
            f"has {readable_bytes(free)} left: make room, or write to another disk"
        )


def check_size(path: Path, size: float) -> None:
    """Raise InputError if this process may not write a file of about so many bytes."""
    try:
        import resource
    except ImportError:  # Windows
        return
    limit, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    if limit != resource.RLIM_INFINITY and limit < size and not is_special(path):
        raise InputError(
            f"{path}: the file will take about {readable_bytes(size)}, but this process may write "
            f"files of {readable_bytes(limit)} at most: raise that limit (ulimit -f)"
        )


def is_stdout(path: str | os.PathLike[str]) -> bool:
    """Return whether a path stands for standard output: "-"."""
    return os.fspath(path) == "-"


@contextmanager
def standard_output() -> Iterator[IO[bytes]]:
    """Yield standard output as a stream of bytes, which stays open."""
    stream: IO[bytes] | None = getattr(sys.stdout, "buffer", None)
    if stream is None:  # in a notebook
        raise InputError("-: standard output takes text alone here: write to a file")
    sys.stdout.flush()
    yield stream
    stream.flush()


def unwritable(path: str | os.PathLike[str], target: Path, error: OSError) -> InputError:
    """Return the error for a folder in which a file could not be made."""
    reason = error.strerror or str(error)
    return InputError(f"{path}: cannot write to the folder {target.parent}: {reason}")


def beside(path: Path, ending: str) -> Path:
    """Return the name of a hidden file that has to do with a file.

    It begins with the name of that file, or, since names must not be too long, with a digest of it.
    """
    name = os.fsencode(path.name)
    shown = path.name if len(name) <= _LONGEST else hashlib.sha256(name).hexdigest()[:32]
    return path.with_name(f".{shown}.{ending}")
