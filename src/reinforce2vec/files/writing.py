"""Writing files atomically, and checks to make before the work that a file is the result of."""

from __future__ import annotations

import glob
import gzip
import os
import platform
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import IO, Any

from .._util import errors
from .._util.errors import InputError
from .._util.progress import readable_bytes

_GZIP_LEVEL = 4  # higher levels take several times as long for some percent of size


# -- before the work ---------------------------------------------------------------------------


def known_suffix(path: Path, suffixes: Iterable[str], purpose: str) -> str:
    """Return which of the suffixes a file has; InputError that lists them if it has none."""
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
    trial = _unfinished_name(target)
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
    """Raise InputError if the disk has no room for a file of about `needed` bytes."""
    folder = path.parent
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise InputError(
            f"{path}: the file will take about {readable_bytes(needed)}, but the disk of {folder} "
            f"has {readable_bytes(free)} left: make room, or write to another disk"
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


# -- writing -----------------------------------------------------------------------------------


@contextmanager
def whole(path: Path, packed: bool = False, *, alone: bool = False) -> Iterator[IO[bytes]]:
    """Open a file for writing atomically: it takes its name only when it is complete.

    If it is `packed`, what is written is compressed, without a time stamp, so that one seed gives
    one file, byte for byte. With `alone`, the folder is not searched for unfinished files.
    """
    if not alone:
        remove_abandoned(path)
    unfinished = _unfinished_name(path)
    try:
        opened = unfinished.open("wb")
    except OSError as error:
        raise _unwritable(path, path, error) from None
    try:
        with opened as stream:
            content: Any = nullcontext(stream)
            if packed:
                content = gzip.GzipFile("", "wb", _GZIP_LEVEL, stream, mtime=0)
            with content as text:
                yield text
            stream.flush()
            os.fsync(stream.fileno())  # so that not even a power failure leaves a part of it
        os.replace(unfinished, path)
    except BaseException as error:
        unfinished.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None:
            error.filename = str(path)  # the error of a full disk names no file
        raise


def _unfinished_name(path: Path, process: object = None) -> Path:
    """Return the name of a file while this process, on this machine, writes it."""
    who = os.getpid() if process is None else process
    return path.with_name(f".{path.name}.{platform.node()}.{who}.part")


def remove_abandoned(path: Path) -> None:
    """Remove unfinished files of processes that were killed; on Linux, which lists processes."""
    pattern = _unfinished_name(Path(glob.escape(path.name)), "*").name
    for part in path.parent.glob(pattern):
        process = Path("/proc", part.name.split(".")[-2])
        if process.parent.is_dir() and process.name.isdigit() and not process.exists():
            part.unlink(missing_ok=True)


@contextmanager
def both_whole(first: Path, second: Path) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """Open two files for writing that take their names together, when both are complete."""
    with whole(first) as one, whole(second) as other:
        yield one, other
        one.flush()  # it is closed last: a full disk must fail before the second has its name


def import_arrow(purpose: str) -> tuple[Any, Any]:
    """Return the modules pyarrow and pyarrow.parquet; InputError if they are not installed."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise errors.missing("pyarrow", "parquet", purpose) from None
    return pyarrow, parquet
