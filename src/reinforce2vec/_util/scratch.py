"""Large arrays: in memory, or in a scratch folder, as files that are mapped into memory.

A file has no name, so nobody else can open or shorten it, and it ends with the last array that
shows it, also if the process is killed. Its space on disk is reserved before it is mapped: writing
to a mapping of a full disk would end the process.
"""

from __future__ import annotations

import math
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .arrays import aligned_zeros
from .errors import InputError
from .progress import readable_bytes

_BLOCK = 1 << 20  # bytes of zeros that are written at a time
_MOUNTS = Path("/proc/self/mountinfo")

_folder: ContextVar[Path | None] = ContextVar("scratch folder", default=None)


@contextmanager
def large_arrays_in(folder: Path | None) -> Iterator[None]:
    """Make :func:`large_zeros` return mapped files of a folder in this block; None: memory."""
    token = _folder.set(folder)
    try:
        yield
    finally:
        _folder.reset(token)


def on_disk() -> bool:
    """Return whether :func:`large_zeros` returns mapped files now."""
    return _folder.get() is not None


def large_zeros(shape: tuple[int, ...], dtype: DTypeLike = np.float32) -> NDArray[Any]:
    """Return an array of zeros that begins at a cache line, in memory or in the scratch folder.

    It takes no memory before it is written to. InputError if the disk has no room for it.
    """
    kind, folder, size = np.dtype(dtype), _folder.get(), math.prod(shape)
    if folder is None or not size:
        return aligned_zeros(size, kind).reshape(shape)
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            _reserve(file, size * kind.itemsize)
            return np.memmap(file, kind, "r+", shape=shape).view(np.ndarray)
    except OSError as error:
        raise InputError(
            f"{folder}: no file of {readable_bytes(size * kind.itemsize)} could be made in this "
            f"folder ({error.strerror}): make room, or choose another one (with Ray: TMPDIR)"
        ) from None


def _reserve(file: IO[bytes], size: int) -> None:
    """Fill a file with zeros that have their place on the disk."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, size)
        return
    for first in range(0, size, _BLOCK):  # Windows, macOS
        file.write(bytes(min(_BLOCK, size - first)))
    file.flush()


def check_free_space(folder: Path, needed: int, what: str) -> None:
    """Raise InputError if the disk of a folder has less free space than is needed."""
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise InputError(
            f"{what} needs about {readable_bytes(needed)} in {folder}, and the disk has "
            f"{readable_bytes(free)} left: make room, or choose a folder of another disk"
        )


def is_in_memory(folder: Path) -> bool:
    """Return whether the files of a folder are in memory, as /tmp is on some systems (tmpfs)."""
    try:
        device = os.stat(folder).st_dev
        mounts = [line.split() for line in _MOUNTS.read_text().splitlines()]
    except OSError:  # another system than Linux
        return False
    number = f"{os.major(device)}:{os.minor(device)}"
    kinds = {fields[fields.index("-") + 1] for fields in mounts if fields[2] == number}
    return bool(kinds & {"tmpfs", "ramfs"})
