"""Walks in files: written block by block, and whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .._util.errors import InputError
from .._util.ids import Ids
from .id_texts import Words, encoded, texts_of
from .writing import (
    arrow,
    both_whole,
    check_target,
    compressed,
    known_suffix,
    resolve_target,
    whole,
)

TEXT_BYTES = 16 << 20  # what is made ready to write at a time
BREAKS = {"\t", "\n", "\r"}
WRITING_PARQUET = "writing a .parquet file"
WRITTEN_TO = "walks are written to"

Walks = NDArray[np.int32]


@runtime_checkable
class WalkSource(Protocol):
    """What makes walks as they are written: a WalkSampler."""

    graph: Any
    length: int

    @property
    def n_walks(self) -> int:
        """Number of walks in all."""

    def __iter__(self) -> Iterator[Walks]: ...


def write_walks(path: str | os.PathLike[str], sampler: WalkSource) -> int:
    """Write the walks of a sampler to a file, in the format that its suffix names.

    ============  ==============================================================================
    .txt .txt.gz  a walk a line, its node ids separated by tabs
    .npy          an int32 matrix of row numbers, -1 after a walk's end; beside it, NAME.ids.txt
                  holds the node ids, one a line, in row order
    .parquet      a column "walk" of lists of node ids; needs pyarrow
    ============  ==============================================================================

    One block of walks is in memory at a time. The file appears when it is complete: after an
    error or an interrupt an older file of this name is as it was.

    Parameters
    ----------
    path : path
        The file to write; its folder must exist.
    sampler : WalkSampler
        The walks.

    Returns
    -------
    int
        Steps written: nodes after the starts.

    Raises
    ------
    InputError
        Before any walk is made, if the suffix is unknown, the folder cannot be written to, or a
        node id does not fit the format.

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
    if not isinstance(sampler, WalkSource):
        raise InputError(
            "write_walks(path, sampler) takes a WalkSampler, which makes the walks as they are "
            f"written, not {type(sampler).__name__}"
        )
    write = WRITERS[known_suffix(Path(path), WRITERS, WRITTEN_TO)]
    blocks = Counted(sampler)
    write(resolve_target(path), sampler, blocks)
    return blocks.steps


def check_walks_path(path: str | os.PathLike[str]) -> Path:
    """Return where walks will be written, links followed; InputError if that cannot work.

    The suffix must be known and the folder writable, which is tried out.
    """
    path = Path(path)
    suffix = known_suffix(path, WRITERS, WRITTEN_TO)
    if suffix == ".parquet":
        arrow(WRITING_PARQUET)
    target = check_target(path)
    if suffix == ".npy":
        resolve_target(ids_file_of(target))
    return target


class Counted:
    """Blocks of a sampler, their steps counted as they pass."""

    def __init__(self, sampler: WalkSource) -> None:
        """Begin at 0 steps."""
        self.steps = 0
        self._sampler = sampler

    def __iter__(self) -> Iterator[Walks]:
        """Yield the sampler's blocks."""
        for block in self._sampler:
            self.steps += int(np.count_nonzero(block >= 0)) - len(block)
            yield block


def parts(blocks: Counted, bytes_per_node: int) -> Iterator[Walks]:
    """Blocks cut so that a part, at so many bytes a node, stays within TEXT_BYTES."""
    for block in blocks:
        rows = max(1, TEXT_BYTES // (block.shape[1] * bytes_per_node))
        for first in range(0, len(block), rows):
            yield block[first : first + rows]


# -- text --------------------------------------------------------------------------------------


def words_of(ids: Ids, path: Path) -> Words:
    """Node ids as UTF-8; InputError if a line of text could not be taken apart again."""
    texts = texts_of(ids, path)
    for text in texts if ids.dtype == object else ():
        for letter in BREAKS & set(text):
            raise InputError(
                f"{path}: the node id {text!r} holds {letter!r}, which separates ids or lines in "
                "text: write to a .parquet file instead"
            )
    return Words.of(encoded(texts, path))


@njit(cache=True, nogil=True)
def _spell(walks, letters, begins, out):  # type: ignore[no-untyped-def]
    """Put walks into `out` as lines of tab-separated ids; returns the bytes used. O(1) a byte."""
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


def _write_lines(stream: Any, words: Words, blocks: Counted) -> None:
    room = np.empty(0, np.uint8)
    for walks in parts(blocks, words.longest + 1):
        needed = walks.size * (words.longest + 1)
        if room.size < needed:
            room = np.empty(needed, np.uint8)
        used = _spell(walks, words.letters, words.begins, room)
        stream.write(room[:used].data)


def write_text(path: Path, sampler: WalkSource, blocks: Counted) -> None:
    """A walk a line."""
    words = words_of(sampler.graph.ids, path)
    with whole(path) as stream:
        _write_lines(stream, words, blocks)


def write_gzip(path: Path, sampler: WalkSource, blocks: Counted) -> None:
    """A walk a line, compressed."""
    words = words_of(sampler.graph.ids, path)
    with whole(path) as stream, compressed(stream) as packed:
        _write_lines(packed, words, blocks)


# -- NumPy and Parquet -------------------------------------------------------------------------


def ids_file_of(path: Path) -> Path:
    """The file of node ids beside a .npy file of walks, links followed."""
    return Path(os.path.realpath(path)).with_suffix(".ids.txt")


def write_npy(path: Path, sampler: WalkSource, blocks: Counted) -> None:
    """Row numbers as numpy.load reads them (also with mmap_mode), and the ids beside them."""
    ids_path = resolve_target(ids_file_of(path))
    words = words_of(sampler.graph.ids, ids_path)
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


def _lines(walks: Any, words: Words) -> Any:
    room = np.empty(words.letters.size + walks.size, np.uint8)
    return room[: _spell(walks, words.letters, words.begins, room)].data


def write_parquet(path: Path, sampler: WalkSource, blocks: Counted) -> None:
    """Lists of ids, one row group for each part."""
    pyarrow, parquet = arrow(WRITING_PARQUET)
    ids = sampler.graph.ids
    if ids.dtype == object:
        words = texts_of(ids, path)
        encoded(words, path, "strict")
        names, width = pyarrow.array(words, pyarrow.string()), max(map(len, words), default=0) + 4
    else:
        names, width = pyarrow.array(ids), 8
    schema = pyarrow.schema([("walk", pyarrow.list_(names.type))])
    with whole(path) as stream, parquet.ParquetWriter(stream, schema) as writer:
        for walks in parts(blocks, width):
            present = walks >= 0
            ends = np.zeros(len(walks) + 1, np.int32)
            np.cumsum(present.sum(axis=1), out=ends[1:])
            nodes = names.take(pyarrow.array(walks[present]))
            lists = pyarrow.ListArray.from_arrays(ends, nodes)
            writer.write_table(pyarrow.Table.from_arrays([lists], schema=schema))


# -- which writer for which suffix -------------------------------------------------------------

Writer = Callable[[Path, WalkSource, Counted], None]
WRITERS: dict[str, Writer] = {
    ".txt": write_text,
    ".txt.gz": write_gzip,
    ".npy": write_npy,
    ".parquet": write_parquet,
}
