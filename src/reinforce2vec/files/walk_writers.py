"""Writes walks to files, block by block and atomically: `write_walks`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np

from .._util.checks import check_choice
from .._util.errors import InputError
from .._util.hyperparameters import SHARD_FORMATS
from ._parquet import import_arrow
from ._walk_encoding import (
    ParquetEncoder,
    Walks,
    encode_ids,
    id_lines,
    parts_of,
    spell,
    write_matrix,
)
from .pairs import both_whole
from .targets import known_suffix, resolve_target
from .walk_shards import ShardSource, check_shard_folder, is_shard_folder, write_shards
from .writing import check_target, whole


@runtime_checkable
class _WalkSource(ShardSource, Protocol):
    """The part of a WalkSampler that is needed here: it makes the walks as they are written."""

    def __iter__(self) -> Iterator[Walks]: ...


def write_walks(
    path: str | os.PathLike[str], sampler: _WalkSource, *, shards: str | None = None
) -> int:
    """Write the walks of a sampler to a file, in the format that the file's suffix names.

    ============  ==============================================================================
    .txt .txt.gz  one walk per line, its node ids separated by tabs
    .npy          an int32 matrix of row numbers, -1 after a walk's end; next to it, NAME.ids.txt
                  holds the node ids, one per line, in row order
    .parquet      a column "walk" of lists of node ids; needs pyarrow
    folder/       many such files, each with about 4 million nodes of walks, and manifest.json,
                  which lists them with their digests; the ids of .npy files are in one .txt file
    ============  ==============================================================================

    Only one block of walks is in memory at a time; with a folder, one for each worker. The file is
    written atomically: after an error or an interrupt, an older file of this name is unchanged. So
    is a folder: its manifest is written last, and then an older set of files is removed.

    With the backend "ray" the workers write the files of a folder, which must be in a file system
    that all machines of the cluster share. The files do not depend on the backend.

    Parameters
    ----------
    path : path
        The file to write; its folder must exist. A folder for several files ends in a slash, or
        exists and holds nothing but an older set.
    sampler : WalkSampler
        Makes the walks.
    shards : {"npy", "parquet"}, optional
        The format of the files in a folder, by default "npy".

    Returns
    -------
    int
        Number of steps written: all nodes but the first of each walk.

    Raises
    ------
    InputError
        If the suffix is unknown, the folder cannot be written to by all that make walks, or a node
        id does not fit the format; this is checked before any walk is made.

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
    kind = _shard_format(path, shards)
    if kind is not None:
        return write_shards(path, sampler, kind)
    write = _WRITERS[_suffix_of(Path(path))]
    blocks = _CountedBlocks(sampler)
    write(resolve_target(path), sampler, blocks)
    return blocks.steps


def _shard_format(path: str | os.PathLike[str], shards: str | None) -> str | None:
    """Return the format of shards, if a path is that of a folder; InputError if it is unknown."""
    if shards is not None:
        check_choice("shards", shards, SHARD_FORMATS)
    if is_shard_folder(path):
        return shards or SHARD_FORMATS[0]
    if shards is not None:
        raise InputError(
            f"shards is for walks in a folder, and {path} is a file: for a folder, end its name in "
            "a slash",
            parameter="shards",
            value=shards,
        )
    return None


def _suffix_of(path: Path) -> str:
    """Return the suffix of a file of walks; InputError if it is unknown."""
    try:
        return known_suffix(path, _WRITERS, "walks are written to")
    except InputError as error:
        raise InputError(f"{error}, or to a folder, whose name ends in a slash") from None


def check_walks_path(path: str | os.PathLike[str], shards: str | None = None) -> Path:
    """Return where walks will be written, links followed; InputError if that cannot work.

    The suffix must be known and the folder writable, which is tried out.
    """
    kind = _shard_format(path, shards)
    if kind is not None:
        if kind == "parquet":
            import_arrow("writing .parquet files")
        return check_shard_folder(path)
    path = Path(path)
    suffix = _suffix_of(path)
    if suffix == ".parquet":
        import_arrow("writing a .parquet file")
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

    def __iter__(self) -> Iterator[Walks]:
        """Yield the sampler's blocks."""
        for block in self._sampler:
            self.steps += int(np.count_nonzero(block >= 0)) - len(block)
            yield block


# -- writers -----------------------------------------------------------------------------------


def _write_text(
    path: Path, sampler: _WalkSource, blocks: _CountedBlocks, packed: bool = False
) -> None:
    """Write one walk per line."""
    words = encode_ids(sampler.graph.ids, path)
    alone = sampler.length == 1 or not len(sampler.graph.indices)
    if alone and ord(" ") in words.letters:
        raise InputError(
            f"{path}: walks of one node have no tab, and without one blanks separate ids, which "
            "some of these ids hold: write .npy or .parquet instead"
        )
    room = np.empty(0, np.uint8)
    with whole(path, packed) as stream:
        for walks in parts_of(blocks, words.longest + 1):
            needed = walks.size * (words.longest + 1)
            if room.size < needed:
                room = np.empty(needed, np.uint8)
            used = spell(walks, words.letters, words.begins, room)
            stream.write(room[:used].data)


def walk_ids_path(path: Path) -> Path:
    """Return the path of the node ids next to a .npy file of walks, links followed."""
    return Path(os.path.realpath(path)).with_suffix(".ids.txt")


def _write_npy(path: Path, sampler: _WalkSource, blocks: _CountedBlocks) -> None:
    """Write row numbers, and the ids beside them."""
    ids_path = resolve_target(walk_ids_path(path))
    words = encode_ids(sampler.graph.ids, ids_path)
    with both_whole(path, ids_path) as (stream, ids):
        ids.write(id_lines(words).data)
        write_matrix(stream, (sampler.n_walks, sampler.length), blocks)


def _write_parquet(path: Path, sampler: _WalkSource, blocks: _CountedBlocks) -> None:
    """Write lists of ids."""
    encoder = ParquetEncoder(sampler.graph.ids, path)
    with whole(path) as stream:
        encoder.write(stream, blocks)


# -- which writer for which suffix -------------------------------------------------------------

_Writer = Callable[[Path, _WalkSource, _CountedBlocks], None]
_WRITERS: dict[str, _Writer] = {
    ".txt": _write_text,
    ".txt.gz": partial(_write_text, packed=True),
    ".npy": _write_npy,
    ".parquet": _write_parquet,
}
