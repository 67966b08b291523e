"""Opening files to read: what goes wrong becomes a sentence that names the file."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from .._util.errors import InputError


@contextmanager
def opened(path: Path, compressed: bool) -> Iterator[BinaryIO]:
    """Open a file; whatever keeps it from being read becomes a sentence that names it."""
    try:
        with gzip.open(path) if compressed else path.open("rb") as stream:
            yield stream  # type: ignore[misc]
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except IsADirectoryError:
        raise InputError(f"{path}: this is a folder, expected a file") from None
    except EOFError:
        raise InputError(f"{path}: the compressed file ends too early; is it whole?") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{path}: not a sound gzip file: {sentence(error)}") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or sentence(error)}") from None


@contextmanager
def expecting(kind: str, name: str) -> Iterator[None]:
    """Turn what a package's reader raises, which may be anything, into a sentence."""
    try:
        yield
    except (OSError, EOFError, zlib.error, MemoryError):
        raise
    except Exception as error:
        raise InputError(f"{name}: not {kind}: {sentence(error)}") from None


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Put the file's name before what is wrong with its graph."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{name}: {error}", **error.data()) from None


def sentence(error: BaseException) -> str:
    """The first line of an error's message, or its name if it has none."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]
