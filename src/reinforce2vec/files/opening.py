"""Opening files to read: every failure becomes an InputError that names the file."""

from __future__ import annotations

import errno
import gzip
import io
import os
import stat
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from pathlib import Path
from typing import Any, BinaryIO

from .._util import machine
from .._util.checks import check_path
from .._util.errors import InputError, first_line
from .._util.progress import being_read, readable_bytes
from .._util.terminal import on_one_line

_BETWEEN_CHECKS = 1 << 22  # bytes that are unpacked before the next look at the memory
_RESERVE = 1 << 29  # bytes of memory that stay free, or a quarter of what was free


@contextmanager
def opened(path: Path, compressed: bool) -> Iterator[BinaryIO]:
    """Open a file; whatever keeps it from being read is an InputError that names it.

    So is a file that changes while it is read, and one that unpacks to more than the memory holds.
    "-" is standard input.
    """
    check_path(path)
    with (
        _errors_of(path),
        _bytes_of(path) as file,
        being_read(file.fileno()),
    ):
        before = os.fstat(file.fileno())
        if stat.S_ISCHR(before.st_mode) and file.seekable() and file.read(1):
            raise InputError(f"{path}: this is a device without an end, expected a file")
        if compressed:
            with (
                gzip.open(file) as packed,
                io.BufferedReader(_Unpacked(packed, path)) as stream,
            ):
                yield stream
        else:
            yield file
        after = os.fstat(file.fileno())
    if stat.S_ISREG(before.st_mode) and _version(before) != _version(after):
        raise InputError(f"{path}: the file was changed while it was read: read it again")


@contextmanager
def _errors_of(path: Path) -> Iterator[None]:
    """Turn what keeps a file from being read into an InputError that names it.

    Where two files are open, this says which of them is at fault.
    """
    try:
        yield
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except IsADirectoryError:
        raise InputError(f"{path}: this is a folder, expected a file") from None
    except MemoryError:
        raise InputError(f"{path}: the memory ran out while it was read") from None
    except EOFError:
        raise InputError(f"{path}: the compressed file ends too early; is it complete?") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{path}: not a valid gzip file: {first_line(error)}") from None
    except OSError as error:
        if error.errno == errno.ESPIPE or isinstance(error, io.UnsupportedOperation):
            raise InputError(
                f"{path}: this is a pipe, and a file of this kind is not read from beginning to "
                "end: save it to a file first"
            ) from None
        reason = error.strerror or first_line(error)
        raise InputError(f"{path}: cannot be read: {reason}") from None


def read_whole(stream: BinaryIO, name: str, most: float = inf) -> BinaryIO:
    """Return the rest of a stream as a file in memory; InputError for more than `most` bytes, or
    than fit.
    """
    content = io.BytesIO()
    while block := stream.read(_BETWEEN_CHECKS):
        machine.check_memory(3 * len(block), f"{name}: its content", place="further memory")
        content.write(block)
        if content.tell() > most:
            raise InputError(f"{name}: it holds far more than it announces")
    content.seek(0)
    return content


@contextmanager
def _bytes_of(path: Path) -> Iterator[BinaryIO]:
    """Open a file, or standard input, which is left open."""
    if str(path) == "-":
        if sys.stdin is None:
            raise InputError("-: standard input is closed")
        yield sys.stdin.buffer
        return
    with path.open("rb") as file:
        yield file


def _version(status: os.stat_result) -> tuple[int, int]:
    """Return what is different after a file was written to."""
    return status.st_size, status.st_mtime_ns


class _Unpacked(io.RawIOBase):
    """The content of a compressed file; refused before it fills the memory.

    A megabyte may unpack to a gigabyte, so the size of the file does not help.
    """

    def __init__(self, packed: Any, path: Path) -> None:
        self._packed, self._path = packed, path
        self._count, self._next_check = 0, _BETWEEN_CHECKS
        free = machine.available_bytes()
        self._reserve = 0 if free is None else min(_RESERVE, free // 4)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to another place; to go back, the file is unpacked again."""
        place: int = self._packed.seek(offset, whence)
        return place

    def readinto(self, buffer: Any) -> int:
        """Read some bytes into a buffer; return how many."""
        count: int = self._packed.readinto(buffer)
        self._count += count
        if self._count >= self._next_check:
            self._next_check = self._count + _BETWEEN_CHECKS
            free = machine.available_bytes()
            if free is not None and free < self._reserve:
                raise InputError(
                    f"{self._path}: the file unpacks to more than the memory can hold: after "
                    f"{readable_bytes(self._count)}, {readable_bytes(free)} are free; unpack it "
                    "and look at what is in it, or use a machine with more memory"
                )
        return count


@contextmanager
def expecting(kind: str, name: str | None = None) -> Iterator[None]:
    """Turn whatever another package's reader raises into an InputError: `name` is not `kind`."""
    what = "" if name is None else f"{name}: "
    try:
        with naming(name or ""):  # too little memory, for example
            yield
    except InputError:
        raise
    except (OSError, EOFError, zlib.error, MemoryError):
        raise
    except Exception as error:
        raise InputError(f"{what}not {kind}: {first_line(error)}") from None


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Put the name of a file before the message of an InputError, unless it is there already."""
    try:
        yield
    except InputError as error:
        shown = on_one_line(name)
        if not name or str(error).startswith((f"{shown}: ", f"{shown}, ")):
            raise
        raise InputError(f"{name}: {error}", **error.data()) from None
