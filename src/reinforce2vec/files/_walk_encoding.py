"""Walks as the bytes of files: lines of ids, matrices of row numbers, and Parquet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from .._util.compiled import compiled
from .._util.errors import InputError, short_repr
from .._util.ids import Ids
from ._parquet import described, import_arrow, parquet_writer
from .id_texts import EncodedIds, encode_texts, ids_as_text

Walks = NDArray[np.int32]

_TEXT_BYTES = 16 << 20  # what is made ready to write at a time
_BREAKS = {"\t", "\n", "\r"}
_BYTE_ORDER_MARK = "\ufeff"


def parts_of(blocks: Iterable[Walks], bytes_per_node: int) -> Iterator[Walks]:
    """Yield blocks in parts that take at most _TEXT_BYTES, at `bytes_per_node`."""
    for block in blocks:
        rows = max(1, _TEXT_BYTES // (block.shape[1] * bytes_per_node))
        for first in range(0, len(block), rows):
            yield block[first : first + rows]


# -- text --------------------------------------------------------------------------------------


def encode_ids(ids: Ids, path: Path) -> EncodedIds:
    """Return node ids in UTF-8; InputError if an id holds what separates ids or lines."""
    texts = ids_as_text(ids, path)
    for text in texts if ids.dtype == object else ():
        if not text or text.startswith(_BYTE_ORDER_MARK):
            raise InputError(
                f"{path}: the node id {short_repr(text)} cannot be written as text: write .parquet "
                "instead"
            )
        for letter in _BREAKS & set(text):
            raise InputError(
                f"{path}: the node id {short_repr(text)} holds {short_repr(letter)}, which "
                "separates ids or lines in text: write .parquet instead"
            )
    return EncodedIds.of(encode_texts(texts, path))


@compiled
def spell(walks, letters, begins, out):  # type: ignore[no-untyped-def]
    """Write walks to `out` as lines of tab-separated ids; return the number of bytes written."""
    at = 0
    for walk in walks:
        for node in walk:
            if node < 0:
                break
            for i in range(begins[node], begins[node + 1]):
                out[at] = letters[i]
                at += 1
            out[at] = 9  # a tab
            at += 1
        out[at - 1] = 10  # a line break in place of the last tab
    return at


def id_lines(words: EncodedIds) -> NDArray[np.uint8]:
    """Return all ids as text, one per line."""
    rows = np.arange(len(words.begins) - 1, dtype=np.int32)[:, None]
    room = np.empty(words.letters.size + rows.size, np.uint8)
    return room[: spell(rows, words.letters, words.begins, room)]


# -- NumPy and Parquet -------------------------------------------------------------------------


def write_matrix(stream: IO[bytes], shape: tuple[int, int], blocks: Iterable[Walks]) -> None:
    """Write row numbers as numpy.load reads them, also with mmap_mode."""
    descr = np.lib.format.dtype_to_descr(np.dtype("<i4"))
    header = {"descr": descr, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(stream, header)
    for block in blocks:
        stream.write(np.ascontiguousarray(block, "<i4").data)


class ParquetEncoder:
    """Writes walks as lists of ids to Parquet files; `path` is what an error names."""

    def __init__(self, ids: Ids, path: Path) -> None:
        pyarrow, _ = import_arrow("writing a .parquet file")
        if ids.dtype == object:
            words = ids_as_text(ids, path)
            encode_texts(words, path, "strict")
            self._width = max(map(len, words), default=0) + 4
            self._names = pyarrow.array(words, pyarrow.string())
        else:
            self._names, self._width = pyarrow.array(ids), 8

    def write(self, stream: Any, blocks: Iterable[Walks]) -> None:
        """Write a file, one row group for each part of a block."""
        import pyarrow

        schema = described(pyarrow.schema([("walk", pyarrow.list_(self._names.type))]))
        with parquet_writer(stream, schema) as write:
            for walks in parts_of(blocks, self._width):
                present = walks >= 0
                ends = np.zeros(len(walks) + 1, np.int32)
                np.cumsum(present.sum(axis=1), out=ends[1:])
                nodes = self._names.take(pyarrow.array(walks[present]))
                lists = pyarrow.ListArray.from_arrays(ends, nodes)
                write(pyarrow.Table.from_arrays([lists], schema=schema))
