"""Parquet files: those of ours have checksums, and are compared with what was written.

Parquet has checksums of pages, but none of their headers. So the footer of our files holds the size
and the checksum of all that is before it, and the number of rows, and it names columns and types
once more: otherwise a damaged name would hide a column of weights. Other programs that change such
a file do not keep the checksum of the file.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any

from .._util import errors
from .._util.machine import Advice, check_memory
from .array_files import decode_info, encode_info

_KEY, _CHECKSUM = b"reinforce2vec", b"reinforce2vec.crc32"  # of the schema's metadata
_FILE = b"reinforce2vec.file"  # of the file's: bytes before the footer, their checksum, and rows
_BLOCK = 1 << 20  # bytes that are read at a time


def import_arrow(purpose: str) -> tuple[Any, Any]:
    """Return the modules pyarrow and pyarrow.parquet; InputError if they are not installed."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise errors.missing("pyarrow", "parquet", purpose) from None
    return pyarrow, parquet


def described(schema: Any, more: Mapping[str, Any] | None = None) -> Any:
    """Return a schema that describes itself, and holds more that JSON can express."""
    text = encode_info({"columns": _columns(schema)} | dict(more or {}))
    return schema.with_metadata({_KEY: text, _CHECKSUM: b"%08x" % zlib.crc32(text)})


def description(file: Any) -> dict[str, Any]:
    """Return what :func:`described` put into the schema of a file; ValueError if it is damaged."""
    metadata = file.metadata.metadata or {}
    text = metadata.get(_KEY, b"{}")
    about = decode_info(text)
    has_checksum = "columns" in about or _CHECKSUM in metadata  # older files have neither
    if has_checksum and metadata.get(_CHECKSUM) != b"%08x" % zlib.crc32(text):
        raise ValueError("its metadata are damaged")
    if "columns" in about and about.pop("columns") != _columns(file.schema_arrow):
        raise ValueError(
            "its columns are not those that were written: if it was changed on purpose, and not "
            'damaged, write it without the entry "reinforce2vec" of its metadata'
        )
    return about


def _columns(schema: Any) -> dict[str, str]:
    return {field.name: str(field.type).partition("<")[0] for field in schema}


class _Summed:
    """A stream that adds up what is written to it."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self.closed = stream, False
        self.size = self.checksum = 0

    def write(self, data: Any) -> int:
        """Write."""
        self.checksum = zlib.crc32(data, self.checksum)
        self.size += len(data)
        return self._stream.write(data)

    def tell(self) -> int:
        """Return how much was written."""
        return self.size

    def flush(self) -> None:
        """Flush."""
        self._stream.flush()

    def close(self) -> None:
        """Close nothing: the stream stays open."""


@contextmanager
def parquet_writer(
    stream: IO[bytes], schema: Any, **options: Any
) -> Iterator[Callable[[Any], None]]:
    """Yield a function that writes a table as row groups of a file with checksums."""
    _, parquet = import_arrow("writing a .parquet file")
    summed, rows = _Summed(stream), 0
    options["write_page_checksum"] = True
    with parquet.ParquetWriter(summed, schema, **options) as writer:

        def write(table: Any) -> None:
            nonlocal rows
            writer.write_table(table)
            rows += table.num_rows

        yield write
        # all row groups are written by now, and the footer follows
        found = b"%d %08x %d" % (summed.size, summed.checksum, rows)
        writer.add_key_value_metadata({_FILE: found})


def _check_file(stream: IO[bytes], about: Any) -> None:
    """Raise ValueError if what a file holds is not what was written."""
    size = stream.seek(0, os.SEEK_END) - 8 - about.serialized_size
    parts = (about.metadata or {}).get(_FILE, b"").split()
    if len(parts) != 3 or parts[0] != b"%d" % size:
        return  # of another program, or an older version
    if parts[2] != b"%d" % about.num_rows:
        raise ValueError("its number of rows is damaged")
    stream.seek(0)
    checksum, left = 0, size
    while left:
        block = stream.read(min(left, _BLOCK))
        checksum, left = zlib.crc32(block, checksum), left - len(block)
        if not block:
            raise ValueError("it ends too early")
    if parts[1] != b"%08x" % checksum:
        raise ValueError("its data are damaged")


def open_parquet(stream: Any, bytes_per_row: int = 8, part: float = 1.0, **options: Any) -> Any:
    """Return a pyarrow ParquetFile that compares checksums.

    ValueError if its footer is damaged; InputError if the rows that it announces do not fit in
    memory, at `bytes_per_row` or more, or the `part` of its contents that will be read.
    """
    _, parquet = import_arrow("reading a .parquet file")
    file = parquet.ParquetFile(stream, page_checksum_verification=True, **options)
    about = file.metadata
    groups = [about.row_group(number) for number in range(about.num_row_groups)]
    rows = [group.num_rows for group in groups]
    size = about.serialized_size
    stream.seek(-8 - size, os.SEEK_END)
    footer = stream.read(size)
    if size != int.from_bytes(stream.read(4), "little"):
        raise ValueError("its footer ends too early")  # and with it the metadata
    if _CHECKSUM in footer and _CHECKSUM not in (about.metadata or {}):
        raise ValueError("its metadata are damaged")
    if min(rows, default=0) < 0 or sum(rows) != about.num_rows:
        raise ValueError("its numbers of rows do not fit together")
    # of columns, sizes are not asked for: if they are damaged, pyarrow ends the process
    check_memory(
        max(bytes_per_row * sum(rows), int(part * sum(group.total_byte_size for group in groups))),
        f"a table of {about.num_rows:,} rows",
        lambda missing: Advice("use a larger machine, or write fewer rows and columns"),
    )
    if not options:  # as dictionaries, columns have other types, and this was checked before
        description(file)
        _check_file(stream, about)
    return file
