"""Writes walks to files, block by block and atomically: `write_walks`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from .._util.compiled import compiled
from .._util.errors import InputError
from .._util.ids import Ids
from .id_texts import EncodedIds, encode_texts, ids_as_text
from .writing import (
    both_whole,
    check_target,
    import_arrow,
    known_suffix,
    resolve_target,
    whole,
)

_TEXT_BYTES = 16 << 20  # what is made ready to write at a time
_BREAKS = {"\t", "\n", "\r"}
_WRITING_PARQUET = "writing a .parquet file"
_WRITTEN_TO = "walks are written to"

_Walks = NDArray[np.int32]


@runtime_checkable
class _WalkSource(Protocol):
    """The part of a WalkSampler that is needed here: it makes the walks as they are written."""

    graph: Any
    length: int

    @property
    def n_walks(self) -> int:
        """Number of walks."""

    def __iter__(self) -> Iterator[_Walks]: ...


def write_walks(path: str | os.PathLike[str], sampler: _WalkSource) -> int:
    """Write the walks of a sampler to a file, in the format that the file's suffix names.

    ============  ==============================================================================
    .txt .txt.gz  one walk per line, its node ids separated by tabs
    .npy          an int32 matrix of row numbers, -1 after a walk's end; next to it, NAME.ids.txt
                  holds the node ids, one per line, in row order
    .parquet      a column "walk" of lists of node ids; needs pyarrow
    ============  ==============================================================================

    Only one block of walks is in memory at a time. The file is written atomically: after an error
    or an interrupt, an older file of this name is unchanged.

    Parameters
    ----------
    path : path
        The file to write; its folder must exist.
    sampler : WalkSampler
        Makes the walks.

    Returns
    -------
    int
        Number of steps written: all nodes but the first of each walk.

    Raises
    ------
    InputError
        If the suffix is unknown, the folder cannot be written to, or a node id does not fit the
        format; this is checked before any walk is made.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from reinforce2vec import Graph, WalkSampler, write_walks
    >>> graph = Graph.from_edges([("ann", "bob")])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "walks.txt")
    ...     steps = write_walks(file, WalkSampler(graph, length=3, per_node=1))
    ...     print(steps, file.read_text().splitlines())
    4 ['ann\\tbob\\tann', 'bob\\tann\\tbob']
    """
    if not isinstance(sampler, _WalkSource):
        raise InputError(
            "write_walks(path, sampler) takes a WalkSampler, which makes the walks as they are "
            f"written, not {type(sampler).__name__}"
        )
    write = _WRITERS[known_suffix(Path(path), _WRITERS, _WRITTEN_TO)]
    blocks = _CountedBlocks(sampler)
    write(resolve_target(path), sampler, blocks)
    return blocks.steps


def check_walks_path(path: str | os.PathLike[str]) -> Path:
    """Return where walks will be written, links followed; InputError if that cannot work.

    The suffix must be known and the folder writable, which is tried out.
    """
    path = Path(path)
    suffix = known_suffix(path, _WRITERS, _WRITTEN_TO)
    if suffix == ".parquet":
        import_arrow(_WRITING_PARQUET)
    target = check_target(path)
    if suffix == ".npy":
        resolve_target(walk_ids_path(target))
    return target


class _CountedBlocks:
    """Iterates over the blocks of a sampler and counts their steps."""

    def __init__(self, sampler: _WalkSource) -> None:
        """Begin at 0 steps."""
        self.steps = 0
        self._sampler = sampler

    def __iter__(self) -> Iterator[_Walks]:
        """Yield the sampler's blocks."""
        for block in self._sampler:
            self.steps += int(np.count_nonzero(block >= 0)) - len(block)
            yield block


def _parts(blocks: _CountedBlocks, bytes_per_node: int) -> Iterator[_Walks]:
    """Yield blocks in parts that take at most _TEXT_BYTES, at `bytes_per_node`."""
    for block in blocks:
        rows = max(1, _TEXT_BYTES // (block.shape[1] * bytes_per_node))
        for first in range(0, len(block), rows):
            yield block[first : first + rows]


# -- text --------------------------------------------------------------------------------------


def _encode_ids(ids: Ids, path: Path) -> EncodedIds:
    """Return node ids in UTF-8; InputError if an id holds what separates ids or lines."""
    texts = ids_as_text(ids, path)
    for text in texts if ids.dtype == object else ():
        for letter in _BREAKS & set(text):
            raise InputError(
                f"{path}: the node id {text!r} holds {letter!r}, which separates ids or lines in "
                "text: write to a .parquet file instead"
            )
    return EncodedIds.of(encode_texts(texts, path))


@compiled
def _spell(walks, letters, begins, out):  # type: ignore[no-untyped-def]
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


def _write_lines(stream: Any, words: EncodedIds, blocks: _CountedBlocks) -> None:
    room = np.empty(0, np.uint8)
    for walks in _parts(blocks, words.longest + 1):
        needed = walks.size * (words.longest + 1)
        if room.size < needed:
            room = np.empty(needed, np.uint8)
        used = _spell(walks, words.letters, words.begins, room)
        stream.write(room[:used].data)


def _write_text(
    path: Path, sampler: _WalkSource, blocks: _CountedBlocks, packed: bool = False
) -> None:
    """Write one walk per line."""
    words = _encode_ids(sampler.graph.ids, path)
    with whole(path, packed) as stream:
        _write_lines(stream, words, blocks)


# -- NumPy and Parquet -------------------------------------------------------------------------


def walk_ids_path(path: Path) -> Path:
    """Return the path of the node ids next to a .npy file of walks, links followed."""
    return Path(os.path.realpath(path)).with_suffix(".ids.txt")


def _write_npy(path: Path, sampler: _WalkSource, blocks: _CountedBlocks) -> None:
    """Row numbers as numpy.load reads them (also with mmap_mode), and the ids beside them."""
    ids_path = resolve_target(walk_ids_path(path))
    words = _encode_ids(sampler.graph.ids, ids_path)
    rows = np.arange(sampler.graph.n_nodes, dtype=np.int32)[:, None]
    header = {
        "descr": np.lib.format.dtype_to_descr(np.dtype("<i4")),
        "fortran_order": False,
        "shape": (sampler.n_walks, sampler.length),
    }
    with both_whole(path, ids_path) as (stream, ids):
        ids.write(_lines(rows, words))
        np.lib.format.write_array_header_1_0(stream, header)
        for block in blocks:
            stream.write(np.ascontiguousarray(block, "<i4").data)


def _lines(walks: Any, words: EncodedIds) -> Any:
    room = np.empty(words.letters.size + walks.size, np.uint8)
    return room[: _spell(walks, words.letters, words.begins, room)].data


def _write_parquet(path: Path, sampler: _WalkSource, blocks: _CountedBlocks) -> None:
    """Write lists of ids, one row group for each part."""
    pyarrow, parquet = import_arrow(_WRITING_PARQUET)
    ids = sampler.graph.ids
    if ids.dtype == object:
        words = ids_as_text(ids, path)
        encode_texts(words, path, "strict")
        names, width = pyarrow.array(words, pyarrow.string()), max(map(len, words), default=0) + 4
    else:
        names, width = pyarrow.array(ids), 8
    schema = pyarrow.schema([("walk", pyarrow.list_(names.type))])
    with whole(path) as stream, parquet.ParquetWriter(stream, schema) as writer:
        for walks in _parts(blocks, width):
            present = walks >= 0
            ends = np.zeros(len(walks) + 1, np.int32)
            np.cumsum(present.sum(axis=1), out=ends[1:])
            nodes = names.take(pyarrow.array(walks[present]))
            lists = pyarrow.ListArray.from_arrays(ends, nodes)
            writer.write_table(pyarrow.Table.from_arrays([lists], schema=schema))


# -- which writer for which suffix -------------------------------------------------------------

_Writer = Callable[[Path, _WalkSource, _CountedBlocks], None]
_WRITERS: dict[str, _Writer] = {
    ".txt": _write_text,
    ".txt.gz": partial(_write_text, packed=True),
    ".npy": _write_npy,
    ".parquet": _write_parquet,
}
