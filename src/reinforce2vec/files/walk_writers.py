"""Writes walks to files, block by block and atomically: `write_walks`."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from .._util.checks import check_choice
from .._util.errors import InputError
from .._util.hyperparameters import SHARD_FORMATS
from .._util.ids import as_ids
from ._walk_text import encode_ids, write_lines
from .id_texts import ids_as_arrays, ids_as_text
from .targets import check_space, known_suffix, resolve_target
from .walk_shards import Walks, check_shard_folder, is_shard_folder, write_shards
from .writing import check_target, whole

SUFFIXES = (".txt", ".txt.gz", ".npz")
_WRITTEN = "walks are written to a folder, whose name ends in a slash, or to"


def write_walks(path: str | os.PathLike[str], sampler: Any, *, shards: str | None = None) -> int:
    """Write the walks of a sampler to a file, in the format that the file's suffix names.

    ============  ==============================================================================
    .txt .txt.gz  one walk per line, its node ids separated by tabs
    .npz          an int32 matrix `walks` of row numbers, -1 after a walk's end, and the node ids
    folder/       many .npy files, each a part of such a matrix; a .txt file with the node ids, one
                  per line; and manifest.json, which lists the files with their digests
    ============  ==============================================================================

    Only one block of walks is in memory at a time; with a folder, one for each worker. After an
    error or an interrupt, an older file or folder of this name is unchanged. With the backend "ray"
    the workers write the files of a folder, which must be in a file system that all machines of the
    cluster share. The files do not depend on the backend.

    Parameters
    ----------
    path : path
        The file to write, or a folder, which ends in a slash or exists.
    sampler : WalkSampler
        Makes the walks.
    shards : {"npy"}, optional
        The format of the files in a folder.

    Returns
    -------
    int
        Number of steps written: all nodes but the first of each walk.

    Raises
    ------
    InputError
        If that cannot work; this is checked before any walk is made.

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
    if not hasattr(sampler, "map_ranges"):
        raise InputError(f"write_walks takes a WalkSampler, not {type(sampler).__name__}")
    if _is_folder(path, shards):
        return write_shards(path, sampler)
    suffix, steps = known_suffix(Path(path), SUFFIXES, _WRITTEN), 0
    write = _write_npz if suffix == ".npz" else partial(_write_text, suffix.endswith(".gz"))

    def blocks() -> Iterator[Walks]:
        nonlocal steps
        for block in sampler:
            steps += int(np.count_nonzero(block >= 0)) - len(block)
            yield block

    write(resolve_target(path), sampler, blocks())
    return steps


def check_walks_path(path: str | os.PathLike[str], shards: str | None = None) -> Path:
    """Return where walks will be written, links followed; InputError if that cannot work.

    The suffix must be known and the folder writable, which is tried out.
    """
    if _is_folder(path, shards):
        return check_shard_folder(path)
    known_suffix(Path(path), SUFFIXES, _WRITTEN)
    return check_target(path)


def _is_folder(path: str | os.PathLike[str], shards: str | None) -> bool:
    """Return whether a path is that of a folder; InputError if shards are for another format."""
    if shards is not None:
        check_choice("shards", shards, SHARD_FORMATS)
    folder = is_shard_folder(path)
    if shards is not None and not folder:
        raise InputError(
            f"shards is for walks in a folder, and {path} is a file: for a folder, end its name in "
            "a slash",
            parameter="shards",
            value=shards,
        )
    return folder


def _write_text(packed: bool, path: Path, sampler: Any, blocks: Iterator[Walks]) -> None:
    """Write one walk per line."""
    words = encode_ids(sampler.graph.ids, path)
    alone = sampler.length == 1 or not len(sampler.graph.indices)
    if alone and ord(" ") in words.letters:
        raise InputError(
            f"{path}: walks of one node have no tab, and without one blanks separate ids, which "
            "some of these ids hold: write a .npz file instead"
        )
    with whole(path, packed) as stream:
        write_lines(stream, blocks, words)


def _write_npz(path: Path, sampler: Any, blocks: Iterator[Walks]) -> None:
    """Write a matrix of row numbers, and the ids, as numpy.load reads them."""
    ids, shape = sampler.graph.ids, (sampler.n_walks, sampler.length)
    if ids.dtype == object:
        ids = as_ids(ids_as_text(ids, path))
    arrays = ids_as_arrays(ids, path)
    check_space(path, 4 * sampler.n_walks * sampler.length)
    with whole(path) as stream, zipfile.ZipFile(stream, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w") as member:
                np.lib.format.write_array(member, array, allow_pickle=False)
        with archive.open("walks.npy", "w", force_zip64=True) as member:
            header = {"descr": "<i4", "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(member, header)
            for block in blocks:
                member.write(np.ascontiguousarray(block, "<i4").data)
