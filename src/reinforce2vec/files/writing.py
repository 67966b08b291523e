"""What every writer of files shares: whole or not at all, and refusals before the work."""

from __future__ import annotations

import glob
import gzip
import os
import platform
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from .._util import errors
from .._util.errors import InputError
from .._util.progress import readable_bytes

GZIP_LEVEL = 4  # higher levels take several times as long for some percent of size


# -- before the work ---------------------------------------------------------------------------


def known_suffix(path: Path, suffixes: Iterable[str], purpose: str) -> str:
    """Which of the suffixes a file has; InputError, with all of them, if none."""
    for suffix in suffixes:
        if path.name.lower().endswith(suffix):
            return suffix
    raise InputError(f"{path}: {purpose} files that end in one of {' '.join(suffixes)}")


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
    if not isinstance(path, ProbedPath):
        _probe(target, path)
    return target


def _probe(target: Path, path: str | os.PathLike[str]) -> None:
    """Write and delete a small file; InputError if that fails."""
    trial = unfinished_name(target)
    try:
        trial.write_bytes(b"?")
        trial.unlink()
    except OSError as error:
        with suppress(OSError):
            trial.unlink()
        raise _unwritable(path, target, error) from None


def _unwritable(path: str | os.PathLike[str], target: Path, error: OSError) -> InputError:
    reason = error.strerror or str(error)
    return InputError(f"{path}: cannot write to the folder {target.parent}: {reason}")


def resolve_target(path: str | os.PathLike[str]) -> Path:
    """Return where a file is to be written, links followed; InputError if there is no such folder.

    Nothing is written.
    """
    target = Path(os.path.realpath(path))  # a link stays a link
    folder = target.parent
    if target.is_dir():
        raise InputError(f"{path}: this is a folder, expected the name of a file")
    if not folder.is_dir():
        raise InputError(f"{path}: the folder {folder} does not exist: make it first")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(f"{path}: no permission to write to the folder {folder}")
    return target


def check_space(path: Path, needed: float) -> None:
    """InputError if the disk has no room for a file of about so many bytes."""
    folder = path.parent
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise InputError(
            f"{path}: the file will take about {readable_bytes(needed)}, but the disk of {folder} "
            f"has {readable_bytes(free)} left: make room, or write to another disk"
        )


# -- writing -----------------------------------------------------------------------------------


@contextmanager
def whole(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for writing that takes its name only when all of it is there."""
    remove_abandoned(path)
    unfinished = unfinished_name(path)
    try:
        opened = unfinished.open("wb")
    except OSError as error:
        raise _unwritable(path, path, error) from None
    try:
        with opened as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())  # so that not even a power cut leaves a part of it
        os.replace(unfinished, path)
    except BaseException as error:
        unfinished.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None:
            error.filename = str(path)  # a full disk does not say where
        raise


def unfinished_name(path: Path, process: object = None) -> Path:
    """What a file is called while this process, on this machine, writes it."""
    who = os.getpid() if process is None else process
    return path.with_name(f".{path.name}.{platform.node()}.{who}.part")


def remove_abandoned(path: Path) -> None:
    """Remove what processes that were killed have left of a file, where Linux tells who runs."""
    pattern = unfinished_name(Path(glob.escape(path.name)), "*").name
    for part in path.parent.glob(pattern):
        process = Path("/proc", part.name.split(".")[-2])
        if process.parent.is_dir() and process.name.isdigit() and not process.exists():
            part.unlink(missing_ok=True)


@contextmanager
def both_whole(first: Path, second: Path) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """Open two files that take their names together, when all of both is there."""
    with whole(first) as one, whole(second) as other:
        yield one, other
        one.flush()  # it is closed last: a full disk must show before the second has its name


def compressed(stream: IO[bytes]) -> gzip.GzipFile:
    """Compress what is written to a stream; without a time stamp, so that one seed makes one file.

    To be closed before the stream is.
    """
    return gzip.GzipFile("", "wb", GZIP_LEVEL, stream, mtime=0)


def arrow(purpose: str) -> tuple[Any, Any]:
    """The modules pyarrow and pyarrow.parquet; InputError, with the purpose, if there are none."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise errors.missing("pyarrow", "parquet", purpose) from None
    return pyarrow, parquet
