"""Reads walks from files, or takes them from memory, to train on: `read_walks`, `walks_from`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from .._util.errors import InputError, python_setting, short_repr
from .._util.ids import Ids, number_objects
from ._lines import map_in_order
from ._tokens import TokenIds
from ._walk_parquet import collect_parquet
from ._walk_text import read_ids, read_text
from .array_files import read_header, read_npy
from .edges import check_id_type, ids_of_type, kind_of_ids
from .opening import errors_of, expecting, naming, opened
from .pairs import check_unchanged, read_pair
from .stored_walks import (
    CHECKED_NODES,
    StoredWalks,
    WalkCollector,
    check_lengths,
    check_rows,
    checked_walks,
)
from .targets import known_suffix
from .walk_shards import Manifest, Member, StoredNodes, is_shard_folder, read_manifest, read_matrix
from .walk_writers import walk_ids_path

_MOST_NODES = 2**31 - 1


def read_walks(
    path: str | os.PathLike[str], *, delimiter: str | None = None, id_type: str | None = None
) -> StoredWalks:
    """Read walks from a file, in the format that the file's suffix names.

    ============  ==============================================================================
    .txt .txt.gz  one walk per line, its node ids separated by tabs, or by spaces in a file without
                  tabs. Nodes are numbered in the order in which the file names them.
    .npy          a matrix of row numbers, -1 after a walk's end; next to it, NAME.ids.txt holds
                  the node ids, one per line, in row order
    .parquet      a column "walk" of lists of node ids; needs pyarrow
    folder/       many .npy or .parquet files, as manifest.json lists them
    ============  ==============================================================================

    These are the formats of :func:`reinforce2vec.write_walks`. Ids in text are integers if all of
    them are, else strings. Memory: 4 bytes per node of a walk, 8 per walk, the ids, and a few
    chunks of the file; matrices of int32, alone or in a folder, stay on disk and are read as they
    are needed. They must not change in the meantime: that is an InputError.

    They are read once at the beginning, to check that they are complete and name only nodes that
    have an id, and that files of a folder have the digests of the manifest.

    Parameters
    ----------
    path : path
        The file or the folder to read.
    delimiter : {"\\t", " "}, optional
        What separates the ids in text: single tabs, or runs of spaces. By default tabs if there is
        one in the file.
    id_type : {"int", "str"}, optional
        What ids become. "int" refuses ids that are no integers; "str" keeps numbers as text.

    Returns
    -------
    StoredWalks

    Raises
    ------
    InputError
        If the file cannot be read; the message names the file, and the line or the walk.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from reinforce2vec import read_walks
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "walks.txt")
    ...     _ = file.write_text("ann\\tbob\\tann\\ncid\\n")
    ...     walks = read_walks(file)
    >>> walks.nodes.tolist(), walks.begins.tolist(), walks.ids.tolist()
    ([0, 1, 0, 2], [0, 3, 4], ['ann', 'bob', 'cid'])
    >>> walks.notes
    ('separated by tabs', 'text ids')
    """
    check_id_type(id_type)
    is_folder, path = is_shard_folder(path), Path(path)
    suffix = ""
    if not is_folder:
        suffix = known_suffix(path, (*_TEXT, *_READERS), "walks are read from")
    if suffix in _TEXT:
        walks = read_text(path, suffix in _PACKED, delimiter)
    elif delimiter is not None:
        raise InputError(
            f"{path}: {python_setting('delimiter', delimiter)} is for walks in text",
            settings=[("delimiter", delimiter)],
        )
    else:
        walks = _READERS[suffix](path) if suffix else _read_shards(read_manifest(path))
    if id_type is None:
        return walks
    with naming(str(path)):
        ids = ids_of_type(walks.ids, id_type)
    others = (note for note in walks.notes if note != kind_of_ids(walks.ids))
    return replace(walks, ids=ids, notes=tuple(others))


def walks_from(walks: Any, ids: Any = None) -> StoredWalks:
    """Return walks that are given in any supported form.

    Parameters
    ----------
    walks : array (n, length), sequences of node ids, path or StoredWalks
        An array holds row numbers, with -1 after a walk's end. Sequences of ids may differ in
        length. A path is read by :func:`read_walks`.
    ids : sequence of node ids, or Graph, optional
        With an array: the ids of its rows, by default 0, 1, 2, .... With sequences: all ids that
        may occur, by default those that do, in order of appearance.

    Returns
    -------
    StoredWalks

    Raises
    ------
    InputError
        If there are no walks, or a walk cannot be used; the message says which.

    Examples
    --------
    >>> from reinforce2vec.files.walk_readers import walks_from
    >>> walks = walks_from([["ann", "bob", "ann"], ["cid"]])
    >>> walks.nodes.tolist(), walks.begins.tolist(), walks.ids.tolist()
    ([0, 1, 0, 2], [0, 3, 4], ['ann', 'bob', 'cid'])
    """
    if isinstance(walks, (str, os.PathLike, StoredWalks)):
        if ids is not None:
            raise InputError("ids are for walks in an array or in lists: these have their own")
        return walks if isinstance(walks, StoredWalks) else read_walks(walks)
    if hasattr(walks, "__array__"):
        walks = np.asarray(walks)
        if walks.dtype.kind in "biufc":
            return _from_matrix(walks, None if ids is None else _known_ids(ids))
    return _from_lists(walks, None if ids is None else _known_ids(ids))


# -- walks in memory ---------------------------------------------------------------------------


def _known_ids(ids: Any) -> Ids:
    """Return node ids in row order; InputError if one occurs twice."""
    if hasattr(ids, "ids"):  # a Graph
        known: Ids = ids.ids
        return known
    if isinstance(ids, (str, bytes)) or not isinstance(ids, Iterable):
        raise InputError(f"ids are a list of node ids or a Graph, not {type(ids).__name__}")
    listed = ids.tolist() if hasattr(ids, "tolist") else list(ids)
    rows, distinct = number_objects(listed, [])
    repeated = np.flatnonzero(rows != np.arange(len(rows)))
    if repeated.size:
        raise InputError(f"ids must differ, but {short_repr(listed[repeated[0]])} is there twice")
    return distinct


def _from_matrix(
    matrix: NDArray[Any], ids: Ids | None, there_are: str = "there are"
) -> StoredWalks:
    """Return walks from a matrix of row numbers, not copied if it is int32 and in C order."""
    if matrix.ndim != 2:
        raise InputError(f"an array of walks has the shape (n, length), not {matrix.shape}")
    if matrix.dtype.kind not in "iu":
        raise InputError(f"an array of walks holds row numbers, not {matrix.dtype}: use integers")
    if ids is None:
        n_ids = int(matrix.max(initial=0)) + 1
        if n_ids > _MOST_NODES:
            raise InputError(
                f"row numbers must be below {_MOST_NODES:,}: if these are node ids, pass "
                "walks.tolist(), and they will be numbered"
            )
        ids = np.arange(n_ids, dtype=np.int64)
    check_rows(matrix, len(ids), f"{there_are} {len(ids):,} ids")
    n_walks, length = matrix.shape
    nodes = np.ascontiguousarray(matrix, np.int32).reshape(-1)
    return checked_walks(nodes, np.arange(n_walks + 1, dtype=np.int64) * length, ids)


def _from_lists(walks: Any, ids: Ids | None) -> StoredWalks:
    """Return walks from sequences of node ids, which are numbered, or looked up in `ids`."""
    if isinstance(walks, bytes) or hasattr(walks, "ids") or not isinstance(walks, Iterable):
        raise InputError(
            "walks are an array of row numbers, lists of node ids or the path of a file, not "
            f"{type(walks).__name__}"
        )
    lists = [walk.tolist() if hasattr(walk, "tolist") else walk for walk in walks]
    for number, walk in enumerate(lists):
        if not isinstance(walk, Sequence) or isinstance(walk, (str, bytes)):
            raise InputError(
                f"walk {number:,} (counted from 0) is of type {type(walk).__name__}: expected a "
                "list of node ids"
            )
    begins = np.zeros(len(lists) + 1, np.int64)
    np.cumsum([len(walk) for walk in lists], out=begins[1:])
    check_lengths(np.diff(begins))
    known = [] if ids is None else ids.tolist()
    rows, found = number_objects(known, lists)
    nodes = rows[len(known) :]
    if ids is None:
        _check_no_floats(found)
    elif len(found) > len(ids):
        walk = np.searchsorted(begins[1:], np.argmax(nodes >= len(ids)), side="right")
        node = found.item(len(ids))
        raise InputError(
            f"walk {walk:,} (counted from 0) names {short_repr(node)}, which is not among the ids"
        )
    return checked_walks(nodes, begins, found if ids is None else ids)


def _check_no_floats(ids: Ids) -> None:
    """Raise InputError for ids that are floats, which are most often a mistake."""
    for node in ids.tolist() if ids.dtype == object else ():
        if isinstance(node, (float, np.floating)):
            raise InputError(
                f"node ids are integers or strings, but one is the float {short_repr(node)}"
            )


# -- NumPy -------------------------------------------------------------------------------------


def _read_npy(path: Path) -> StoredWalks:
    """Read a matrix, which stays on disk, and the ids next to it."""
    ids_path = walk_ids_path(path)

    def read(stream: BinaryIO, listed: BinaryIO) -> tuple[Any, Ids]:
        with errors_of(path):
            matrix = _open_matrix(path, stream)
        check_unchanged(stream, path)  # its nodes are read later
        return matrix, read_ids(listed, ids_path)

    matrix, ids = read_pair(
        path,
        ids_path,
        read,
        f"{path}: {ids_path} is missing: it holds the node ids, one a line, in row order, and "
        "write_walks writes it next to the matrix",
    )
    with naming(str(path)):
        if isinstance(matrix, np.ndarray):
            walks = _from_matrix(matrix, ids, f"{ids_path.name} has")
            return replace(walks, notes=(kind_of_ids(ids),))
        nodes, length = matrix
        step = max(1, CHECKED_NODES // length) * length
        for first in range(0, len(nodes), step):
            rows = nodes[first : first + step].reshape(-1, length)
            check_rows(rows, len(ids), f"{ids_path.name} has {len(ids):,} ids", first // length)
        begins = np.arange(len(nodes) // length + 1, dtype=np.int64) * length
        return checked_walks(nodes, begins, ids, (kind_of_ids(ids),))


def _open_matrix(path: Path, stream: BinaryIO) -> NDArray[Any] | tuple[StoredNodes, int]:
    """Return a matrix as nodes that stay in the file, and the length of walks.

    If it is none of int32 with rows one after another, return it in memory.
    """
    with expecting("a valid .npy file of numbers", str(path)):
        size = os.fstat(stream.fileno()).st_size
        header = read_header(stream, size, in_memory=False)
        if header.dtype == np.dtype("<i4") and not header.fortran_order and len(header.shape) == 2:
            n_walks, length = header.shape
            if length:
                return StoredNodes([(path, stream.tell(), n_walks * length)]), length
        stream.seek(0)
        return read_npy(stream, size)


# -- Parquet -----------------------------------------------------------------------------------


def _read_parquet(path: Path) -> StoredWalks:
    """Read lists of ids, some walks at a time."""
    ids, gathered = TokenIds(), WalkCollector()
    with opened(path, False) as stream:
        collect_parquet(stream, str(path), ids, gathered)
    with naming(str(path)):
        return gathered.walks(ids.ids())


# -- shards ------------------------------------------------------------------------------------


def _read_shards(manifest: Manifest) -> StoredWalks:
    """Read a folder of files; what is in .npy files stays there, and is checked."""
    if manifest.kind == "parquet":
        return _read_parquet_shards(manifest)
    assert manifest.ids is not None  # read_manifest has checked it
    _ = manifest.read(manifest.ids)
    ids_path = manifest.folder / manifest.ids.file
    with opened(ids_path, False) as stream:
        ids = read_ids(stream, ids_path)
    there_are_ids = f"{manifest.ids.file} has {len(ids):,} ids"

    def check(shard: Member) -> None:
        with naming(str(manifest.folder / shard.file)):
            check_rows(read_matrix(manifest, shard), len(ids), there_are_ids, shard.first)

    nodes = StoredNodes.of_shards(manifest)  # before they are checked, to notice a change after it
    for _ in map_in_order(check, manifest.shards):
        pass
    with naming(str(manifest.folder)):
        begins = np.arange(manifest.walks + 1, dtype=np.int64) * manifest.length
        return checked_walks(nodes, begins, ids, (kind_of_ids(ids),))


def _read_parquet_shards(manifest: Manifest) -> StoredWalks:
    ids, gathered = TokenIds(), WalkCollector()
    for shard in manifest.shards:
        name = str(manifest.folder / shard.file)
        collect_parquet(BytesIO(manifest.read(shard)), name, ids, gathered)
        if gathered.begins.size - 1 != shard.first + shard.count:
            raise InputError(f"{name}: expected {shard.count:,} walks: write the walks again")
    with naming(str(manifest.folder)):
        return gathered.walks(ids.ids())


# -- which reader for which suffix -------------------------------------------------------------

_PACKED = (".txt.gz",)
_TEXT = (".txt", *_PACKED)
_READERS: dict[str, Callable[[Path], StoredWalks]] = {
    ".npy": _read_npy,
    ".parquet": _read_parquet,
}
