"""Opening files to read: every failure becomes an InputError that names the file."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from .._util.errors import InputError
from .._util.progress import being_read


@contextmanager
def opened(path: Path, compressed: bool) -> Iterator[BinaryIO]:
    """Open a file; whatever keeps it from being read is an InputError that names it."""
    try:
        with path.open("rb") as file, being_read(file.fileno()):
            if not compressed:
                yield file
                return
            with gzip.open(file) as stream:
                yield stream  # type: ignore[misc]
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except IsADirectoryError:
        raise InputError(f"{path}: this is a folder, expected a file") from None
    except EOFError:
        raise InputError(f"{path}: the compressed file ends too early; is it complete?") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{path}: not a valid gzip file: {_first_line(error)}") from None
    except OSError as error:
        reason = error.strerror or _first_line(error)
        raise InputError(f"{path}: cannot be read: {reason}") from None


@contextmanager
def expecting(kind: str, name: str | None = None) -> Iterator[None]:
    """Turn whatever another package's reader raises into an InputError: `name` is not `kind`."""
    try:
        yield
    except (OSError, EOFError, zlib.error, MemoryError):
        raise
    except Exception as error:
        what = "" if name is None else f"{name}: "
        raise InputError(f"{what}not {kind}: {_first_line(error)}") from None


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Put the name of a file before the message of an InputError."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{name}: {error}", **error.data()) from None


def _first_line(error: BaseException) -> str:
    """Return the first line of an error's message, or its class if it has none."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]
