"""Reads walks from files, or takes them from memory, to train on: `read_walks`, `walks_from`."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._util.errors import InputError, python_setting, short_repr
from .._util.ids import Ids, number_objects
from ._walk_text import read_text
from .array_files import (
    array_names,
    content_offset,
    open_archive,
    read_array,
    read_header,
    read_into,
)
from .edges import check_id_type, ids_of_type, kind_of_ids
from .id_texts import ids_from_arrays
from .opening import expecting, naming, opened
from .stored_walks import StoredNodes, StoredWalks, check_lengths, check_rows
from .targets import known_suffix
from .walk_shards import is_shard_folder, read_shards
from .walk_writers import SUFFIXES

_CHECKED_NODES = 1 << 20  # nodes of a file to check at a time
_MOST_NODES = 2**31 - 1


def read_walks(
    path: str | os.PathLike[str], *, delimiter: str | None = None, id_type: str | None = None
) -> StoredWalks:
    """Read walks from a file, in the format that the file's suffix names.

    ============  ==============================================================================
    .txt .txt.gz  one walk per line, its node ids separated by tabs, or by spaces in a file without
                  tabs. Nodes are numbered in the order in which the file names them.
    .npz          a matrix `walks` of row numbers, -1 after a walk's end, and the node ids
    folder/       many .npy files, as manifest.json lists them
    ============  ==============================================================================

    These are the formats of :func:`reinforce2vec.write_walks`. Ids in text are integers if all of
    them are, else strings. Memory: 4 bytes per node of a walk, 8 per walk, and the ids. Matrices
    stay on disk and are read as they are needed: once at the beginning, to check that they are
    complete and name only nodes that have an id. If they change later, that is an InputError.

    Parameters
    ----------
    path : path
        The file or the folder to read.
    delimiter : {"\\t", " "}, optional
        What separates the ids in text; by default tabs if there is one in the file.
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
    suffix = "" if is_folder else known_suffix(path, SUFFIXES, "walks are read from")
    if suffix.startswith(".txt"):
        walks = read_text(path, suffix.endswith(".gz"), delimiter)
    elif delimiter is not None:
        raise InputError(
            f"{path}: {python_setting('delimiter', delimiter)} is for walks in text",
            settings=[("delimiter", delimiter)],
        )
    else:
        walks = read_shards(path) if is_folder else _read_npz(path)
    return walks if id_type is None else _with_id_type(walks, id_type, path)


def _with_id_type(walks: StoredWalks, id_type: str, path: Path) -> StoredWalks:
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


def _from_matrix(matrix: NDArray[Any], ids: Ids | None) -> StoredWalks:
    """Return walks from a matrix of row numbers, not copied if it is int32 and in C order."""
    if matrix.ndim != 2 or matrix.dtype.kind not in "iu":
        raise InputError(
            "an array of walks holds row numbers, which are integers, in the shape (n, length), "
            f"not {matrix.dtype} in the shape {matrix.shape}"
        )
    if ids is None:
        n_ids = int(matrix.max(initial=0)) + 1
        if n_ids > _MOST_NODES:
            raise InputError(
                f"row numbers must be below {_MOST_NODES:,}: if these are node ids, pass "
                "walks.tolist(), and they will be numbered"
            )
        ids = np.arange(n_ids, dtype=np.int64)
    check_rows(matrix, len(ids))
    nodes = np.ascontiguousarray(matrix, np.int32).reshape(-1)
    return StoredWalks.of_length(matrix.shape[1], nodes, ids)


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
    rows, distinct = number_objects(known, lists)
    nodes = rows[len(known) :]
    if ids is None:
        _check_no_floats(distinct)
    elif len(distinct) > len(ids):
        walk = np.searchsorted(begins[1:], np.argmax(nodes >= len(ids)), side="right")
        raise InputError(
            f"walk {walk:,} (counted from 0) names {short_repr(distinct.item(len(ids)))}, which is "
            "not among the ids"
        )
    return StoredWalks(nodes, begins, distinct if ids is None else ids)


def _check_no_floats(ids: Ids) -> None:
    """Raise InputError for ids that are floats, which are most often a mistake."""
    for node in ids.tolist() if ids.dtype == object else ():
        if isinstance(node, (float, np.floating)):
            raise InputError(
                f"node ids are integers or strings, but one is the float {short_repr(node)}"
            )


# -- .npz --------------------------------------------------------------------------------------


def _read_npz(path: Path) -> StoredWalks:
    """Read what :func:`write_walks` wrote: the matrix stays on disk, after it was checked."""
    with (
        opened(path, False) as stream,
        expecting("a .npz file of walks", str(path)),
    ):
        stream.seek(0)  # which a pipe refuses
        archive = open_archive(stream)
        names = array_names(archive)
        if not {"walks", "ids"} <= names:
            raise ValueError("it does not have the arrays walks and ids")
        ids = read_array(archive, "ids")
        if "begins" in names:
            ids = ids_from_arrays(ids, read_array(archive, "begins"))
        if ids.ndim != 1 or ids.dtype not in (np.int64, object) or len({*ids.tolist()}) < len(ids):
            raise ValueError("its ids are not distinct integers or strings")
        member = archive.getinfo("walks.npy")
        with archive.open(member) as content:
            header = read_header(content, member.file_size, in_memory=False)
            kind = (len(header.shape), header.fortran_order, header.dtype, member.compress_type)
            if kind != (2, False, np.dtype("<i4"), zipfile.ZIP_STORED):
                raise ValueError("its walks are not a matrix of int32, uncompressed and in C order")
            n_walks, length = header.shape
            offset = content_offset(stream, member) + member.file_size - 4 * n_walks * length
            nodes = StoredNodes([(path, offset, n_walks * length)])
            step = max(1, _CHECKED_NODES // max(1, length))
            for first in range(0, n_walks, step):  # up to the checksum at the end
                rows = np.empty((min(step, n_walks - first), length), np.int32)
                read_into(content, rows)
                check_rows(rows, len(ids), first)
        if not os.path.samestat(os.fstat(stream.fileno()), os.stat(path)):
            raise ValueError("it was replaced while it was read: read it again")
        return StoredWalks.of_length(length, nodes, ids, (kind_of_ids(ids),))
