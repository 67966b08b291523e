"""The state of a training in a file, to resume it in another process."""

from __future__ import annotations

import os
import re
import shutil
import zipfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._util.arrays import digest
from .._util.errors import InputError, excerpt, python_setting
from .._util.scratch import on_disk
from ..files import array_files
from ..files.targets import check_no_device, check_space
from ..files.writing import remove_abandoned, whole
from .schedule import Blocks, dealt
from .state import (
    POINTS,
    Matrix,
    Settings,
    State,
    StoredRows,
    Weights,
    blank_weights,
    roomy_weights,
    row_size,
    scales_bytes,
    zeros,
)

# 1: trained by threads without an order; 2: a single window; 3: shorter passes; 4: rows of hubs may
# grow without bounds
_FORMAT = 5

_MATRICES = ("inputs", "outputs")
_ARRAYS = ("visits", "losses", "pairs")
_COUNTS = ("walks", "tokens", "seconds", "rates")
_SUFFIX = ".rows"  # of the folder for folders of rows
_OURS = re.compile(r"(\d+|probe)-[0-9a-f]{8}")  # their names

Origin = dict[str, Any]
"""All that the result of a training depends on: names, and values that JSON can hold."""


def check_new(path: str | os.PathLike[str], resume: bool) -> None:
    """Raise InputError if there is a checkpoint that is not resumed from, or no file at all."""
    check_no_device(path)
    if os.path.exists(path) and not resume:
        raise InputError(
            f"{path}: this checkpoint exists: resume from it (resume=True), or remove it to start "
            "again",
            settings=[("resume", True)],
        )


def check_room(path: Path, n_nodes: int, dimensions: list[int]) -> None:
    """Raise InputError if the disk is too small for a checkpoint and, later, the next one."""
    remove_abandoned(path)
    size = scales_bytes(n_nodes, dimensions) + 8 * n_nodes + (1 << 16)
    check_space(path, size if path.exists() else 2 * size)


def write_checkpoint(
    path: Path, state: State, origin: Origin, rows: StoredRows | None = None
) -> None:
    """Write the state of a training; the previous file is replaced when this one is complete.

    If the `rows` of the matrices are in files already, these are named in place of the matrices.
    """
    about = {"format": _FORMAT, "origin": origin} | counts_of(state)
    if rows is not None:
        about["rows"] = {"folder": rows.folder.name, "digests": dict(rows.digests)}
    array_files.write_arrays(path, about, arrays_of(state, matrices=rows is None))
    _remove_rows(path, but=None if rows is None else rows.folder.name)


def remove_checkpoint(path: Path) -> None:
    """Remove a checkpoint with all its files."""
    path.unlink(missing_ok=True)
    _remove_rows(path)


def read_checkpoint(
    path: Path, origin: Origin, settings: Settings, n_nodes: int, matrices: bool = True
) -> State:
    """Read the state of a training; InputError unless it is the one that `origin` describes.

    It has a row for each of `n_nodes` nodes. Without `matrices`, those that are in other files are
    left to the engine.
    """
    try:
        with path.open("rb") as stream, array_files.open_archive(stream) as archive:
            about = array_files.read_about(archive)
            if about["format"] != _FORMAT:
                raise InputError(
                    f"{path}: written by another version of reinforce2vec, which would train other "
                    "vectors: resume with that version, or remove the file to start again"
                )
            _check_origin(path, about["origin"], origin)
            if about["dimensions"] != settings.shares:
                raise ValueError(about["dimensions"])
            rows = None
            if "rows" in about:
                folder = folder_of_rows(path, about["rows"]["folder"])
                rows = StoredRows(folder, dict(about["rows"]["digests"]))
            new_weights = blank_weights if matrices else roomy_weights
            state = read_state(archive, about, n_nodes, rows, new_weights)
        if matrices and rows is not None:
            for number, scale in enumerate(settings.scales()):
                _read_rows(rows, number, state.scales[number], dealt(state.visits, scale.seed))
            state.rows = None
        return state
    except (InputError, MemoryError, PermissionError):
        raise
    except Exception:  # a damaged archive may raise anything
        raise InputError(
            f"{path}: not a checkpoint of reinforce2vec, or a damaged one: remove it to start again"
        ) from None


def _read_rows(stored: StoredRows, scale: int, weights: Weights, blocks: Blocks) -> None:
    """Read the rows of one scale from files of their own."""
    for block in range(blocks.n_blocks):
        nodes = blocks.members[blocks.begins[block] : blocks.begins[block + 1]]
        for name in _MATRICES:
            matrix = getattr(weights, name)
            rows = np.empty((len(nodes), matrix.shape[1]), np.float32)
            read_rows(stored, f"{name}{scale}", block, rows)
            matrix[nodes] = rows


def _check_origin(path: Path, origin: Origin, expected: Origin) -> None:
    """Raise InputError if a checkpoint comes from another training."""
    for name, value in expected.items():
        before, now = (
            tuple(side) if isinstance(side, list) else side for side in (origin.get(name), value)
        )
        if before == now:
            continue
        if name == "fingerprint" or name not in origin:
            raise InputError(f"{path}: this checkpoint was made on another graph or other walks")
        texts = [
            f"{name}={excerpt(side)}" if isinstance(side, str) else python_setting(name, side)
            for side in (before, now)
        ]
        raise InputError(
            f"{path}: this checkpoint was made with {texts[0]}, not {texts[1]}: "
            "use the same parameters to resume, or choose another file",
            parameter=name,
            value=now,
            settings=[(name, before), (name, now)],
        )


def arrays_of(state: State, matrices: bool = True) -> dict[str, NDArray[Any]]:
    """Return all arrays of a state by name; rows of matrices as they are, with zeros at the end."""
    arrays: dict[str, NDArray[Any]] = {name: getattr(state, name) for name in _ARRAYS}
    if matrices:
        for number, weights in enumerate(state.scales):
            arrays |= {f"{name}{number}": getattr(weights, name) for name in _MATRICES}
    return arrays


def counts_of(state: State) -> dict[str, Any]:
    """Return what JSON can hold of a state."""
    dimensions = [weights.dimensions for weights in state.scales]
    return {"dimensions": dimensions} | {name: getattr(state, name) for name in _COUNTS}


def read_state(
    archive: zipfile.ZipFile,
    counts: Mapping[str, Any],
    n_nodes: int,
    rows: StoredRows | None = None,
    new_weights: Callable[[int, int], Weights] = blank_weights,
) -> State:
    """Read a state of `n_nodes` nodes from a file of arrays; any exception if it does not fit.

    Compiled code relies on its sizes and types. If the `rows` of the matrices are in other files,
    these are what `new_weights` returns for a number of nodes and dimensions.
    """
    arrays = {name: array_files.read_array(archive, name) for name in _ARRAYS}
    known = {name: counts[name] for name in _COUNTS} | {"rates": tuple(counts["rates"])}
    _check(arrays, known, counts["dimensions"], n_nodes)
    scales = []
    for number, dimensions in enumerate(counts["dimensions"]):
        if rows is not None:
            scales.append(new_weights(n_nodes, dimensions))
            continue
        names = (f"{name}{number}" for name in _MATRICES)
        inputs, outputs = (_read_matrix(archive, name, n_nodes, dimensions) for name in names)
        scales.append(Weights(inputs, outputs, dimensions))
    return State(scales, **arrays, **known, rows=rows)


def _check(
    arrays: Mapping[str, NDArray[Any]], known: Mapping[str, Any], dimensions: Any, n_nodes: int
) -> None:
    """Raise ValueError or TypeError unless arrays and counts are those of a state."""
    points = (len(dimensions), POINTS)
    expected: dict[str, Any] = {
        "visits": ((n_nodes,), np.int64),
        "losses": (points, np.float64),
        "pairs": (points, np.int64),
    }
    counts = [known["walks"], known["tokens"], *(size - 1 for size in dimensions)]
    if not (
        all((arrays[name].shape, arrays[name].dtype) == expected[name] for name in _ARRAYS)
        and arrays["visits"].min(initial=0) >= 0
        and arrays["pairs"].min(initial=0) >= 0
        and all(type(count) is int and 0 <= count < 2**63 for count in counts)
        and all(0 <= number < np.inf for number in (known["seconds"], *known["rates"]))
        and len(known["rates"]) in (0, len(dimensions))
    ):
        raise ValueError(known)


def _read_matrix(archive: zipfile.ZipFile, name: str, n_nodes: int, dimensions: int) -> Matrix:
    """Read a matrix with aligned rows, without a second copy."""
    member = archive.getinfo(f"{name}.npy")
    with archive.open(member) as stream:
        header = array_files.read_header(stream, member.file_size, in_memory=not on_disk())
        shape, single = (n_nodes, row_size(dimensions)), np.dtype(np.float32)
        if header != array_files.ArrayHeader(shape, False, single):
            raise ValueError(header)
        matrix = zeros(n_nodes, dimensions)
        array_files.read_into(stream, matrix)
        return matrix


# -- rows in files of their own, one for each block ----------------------------------------------
# The workers of a cluster write them, each its own rows, to a folder that all of them share. The
# checkpoint itself names the files, with digests, and is written last; then older ones are removed.


def read_rows(stored: StoredRows, matrix: str, block: int, rows: Matrix) -> None:
    """Read the rows of a block; InputError if the file is missing or damaged."""
    path = stored.folder / _file_name(matrix, block)
    try:
        with path.open("rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            header = array_files.read_header(stream, size, in_memory=False)
            if header != array_files.ArrayHeader(rows.shape, False, rows.dtype):
                raise ValueError(header)
            array_files.read_into(stream, rows)
    except (OSError, ValueError) as error:
        reason = "is missing" if isinstance(error, FileNotFoundError) else "is damaged"
        raise InputError(f"{path}: this part of the checkpoint {reason}") from None
    if digest(rows) != stored.digests.get(path.name):
        raise InputError(f"{path}: this part of the checkpoint is damaged")


def write_rows(folder: Path, matrix: str, block: int, rows: Matrix) -> dict[str, str]:
    """Write the rows of a block; return the name of the file and the digest of the rows."""
    path = folder / _file_name(matrix, block)
    with whole(path) as stream:
        header = np.lib.format.header_data_from_array_1_0(rows := np.ascontiguousarray(rows))
        np.lib.format.write_array_header_1_0(stream, header)
        stream.write(rows.data)  # numpy would write past the stream, and its errors name no file
    return {path.name: digest(rows)}


def folder_of_rows(path: Path, name: str) -> Path:
    """Return the folder for the rows of a checkpoint, by its name in the checkpoint."""
    return path.with_name(path.name + _SUFFIX) / Path(name).name


def _remove_rows(path: Path, but: str | None = None) -> None:
    """Remove all rows of a checkpoint, except those in the folder of one name.

    What else is in their folder stays, and so does all that a link in its place leads to.
    """
    folder = path.with_name(path.name + _SUFFIX)
    if folder.is_symlink() or not folder.is_dir():
        return
    for path in folder.iterdir():
        if path.name != but and _OURS.fullmatch(path.name):
            shutil.rmtree(path, ignore_errors=True)
    if but is None:
        with suppress(OSError):  # there is something else in it
            folder.rmdir()


def _file_name(matrix: str, block: int) -> str:
    return f"{matrix}-{block}.npy"
